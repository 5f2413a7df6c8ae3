"""What was forgotten, archived or erased is not brought back by reading its source again."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import recollex
from recollex.cli import main
from recollex.files.line_batches import AHEAD, GONE_HERE
from recollex_engine.domain.ids import ERASED_IDS
from tests.bindings.files.imports.samples import SAMPLES
from tests.bindings.files.imports.test_kills import Digests
from tests.bindings.serving import serving

COUNT = 24


def taken_away(agent: recollex.Agent) -> set[str]:
    """Forget, archive and erase a memory each, and archive a fact; return the ids that are left."""
    ids = [memory.id for memory in agent.list()]
    if ids:
        agent.forget(ids[1])
        agent.archive(ids[3])
        agent.erase(ids[5], by="eve", why="asked")
    if facts := agent.facts.find():
        agent.facts.archive(facts[0].id)
    return held(agent)


def held(agent: recollex.Agent) -> set[str]:
    """Return the ids of what an agent holds."""
    return {each.id for each in (*agent.list(limit=999), *agent.facts.find(), *agent.events.find())}


@pytest.mark.parametrize("sample", SAMPLES)
def test_what_is_gone_stays_gone(tmp_path: Path, sample: str) -> None:
    _, name, make = SAMPLES[sample]
    file, longer = tmp_path / name, tmp_path / "longer" / name
    longer.parent.mkdir()
    make(file, COUNT)
    make(longer, COUNT + 4)
    with recollex.open(tmp_path / "s", embedder=Digests(), durability="off") as store:
        agent = store.agent("a")
        recollex.ingest(agent, file)
        before = held(agent)
        left = taken_away(agent)
        gone = before - left
        done = recollex.ingest(agent, file)
        assert held(agent) == left
        assert (done.stored, done.facts, done.events) == (0, 0, 0)
        assert done.left_out[GONE_HERE] >= len(gone) > 0
        done = recollex.ingest(agent, longer)
        assert done.stored + done.facts > 0
        assert not gone & held(agent)
        assert agent.verify().ok


def test_an_import_leaves_out_what_is_gone_until_it_is_retained(tmp_path: Path) -> None:
    with recollex.open(tmp_path / "s", embedder=Digests()) as store:
        source, agent = store.agent("source"), store.agent("a")
        source.retain_many([f"Tea {n}." for n in range(9)], id=[f"m{n}" for n in range(9)])
        file = tmp_path / "f.jsonl"
        recollex.export_memories(source, file)
        assert recollex.import_memories(agent, file) == 9
        left = taken_away(agent)
        for recorded in (True, False):
            done = recollex.import_memories(agent, file, recorded=recorded)
            assert done == 0
            assert done.left_out == {GONE_HERE: 3}
            assert held(agent) == left
        agent.retain("Tea 5.", id="m5")
        agent.erase("m5", by="eve", why="asked again")
        agent.retain("Tea 1.", id="m1")  # a caller may
        done = recollex.import_memories(agent, file, recorded=False)
        assert done.left_out == {GONE_HERE: 2}
        assert held(agent) == left | {"m1"}
        keys = {entry.payload[ERASED_IDS]["key"] for entry in agent.log(op="erase")}
        assert len(keys) == 1
        agent.erase(everything=True, by="eve", why="all")
        assert recollex.import_memories(agent, file, recorded=False).left_out == {GONE_HERE: 9}
        assert held(agent) == set()


def test_an_erased_id_is_in_no_file(tmp_path: Path) -> None:
    with recollex.open(tmp_path / "s", embedder=Digests()) as store:
        agent = store.agent("a")
        agent.retain("Tea.", id="zymurgy-17")
        agent.erase("zymurgy-17", by="eve", why="asked")
    for path in (tmp_path / "s").rglob("*"):
        assert path.is_dir() or b"zymurgy" not in path.read_bytes()


@pytest.mark.parametrize(("count", "kept"), [(5, 3), (2, 0), (1, 0)])
def test_an_erased_message_stays_out_of_its_conversation(
    tmp_path: Path, count: int, kept: int
) -> None:
    messages = [{"role": "user", "content": f"I keep {n} bees."} for n in range(count)]
    with recollex.open(tmp_path / "s", embedder=Digests()) as store:
        agent = store.agent("a")
        with agent.conversation("chat") as talk:
            ids = talk.retain(messages)
        agent.erase(ids[kept:], by="eve", why="asked")
        with agent.conversation("chat") as talk:
            assert talk.retain(messages) == []
        assert [memory.id for memory in agent.list()] == ids[:kept]


def test_recorded_times_beyond_the_clock_become_metadata(tmp_path: Path) -> None:
    far, then = datetime(2126, 1, 1, tzinfo=UTC), datetime(2024, 5, 4, tzinfo=UTC)
    lines = [
        {"id": "far", "text": "Far.", "event_at": then.isoformat(), "recorded_at": far.isoformat()},
        {"id": "m", "text": "Tea.", "recorded_at": then.isoformat()},
        {"id": "t", "speaker": "Ann", "text": "Ink.", "at": then.isoformat(), "document_id": "d",
         "recorded_at": far.isoformat()},
    ]  # fmt: skip
    file = tmp_path / "f.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with recollex.open(tmp_path / "s", embedder=Digests()) as store:
        for name in ("imported", "ingested"):
            agent = store.agent(name)
            if name == "ingested":
                done = recollex.ingest(agent, file, recorded=True)
                assert (done.stored, done.left_out) == (3, {AHEAD: 2})
            for stored in (3, 0) if name == "imported" else ():
                imported = recollex.import_memories(agent, file)
                assert (imported, imported.left_out) == (stored, {AHEAD: 2})
            assert agent.get("m").recorded_at == then
            for id in ("far", "t"):
                memory = agent.get(id)
                assert abs(memory.recorded_at - datetime.now(UTC)) < timedelta(minutes=5)
                assert memory.metadata == {"recorded_at": far.isoformat()}
                assert memory.event_at == then
            assert len(agent.at(datetime.now(UTC)).list()) == 3


@pytest.mark.parametrize("command", ["import", "ingest"])
def test_the_command_line_says_what_was_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    file, store = tmp_path / "f.jsonl", tmp_path / "s"
    file.write_text('{"id": "m", "text": "Tea."}\n')
    assert main(["ingest", str(store), str(file)]) == 0
    assert main(["forget", str(store), "--id", "m", "--by", "eve"]) == 0
    capsys.readouterr()
    assert main([command, str(store), str(file)]) == 0
    said = capsys.readouterr()
    assert "0 memories stored for default" in said.out
    assert f"left out, or kept as a note: 1 x {GONE_HERE}" in said.err


def test_an_import_over_a_socket_follows_the_same_rule(tmp_path: Path) -> None:
    file = tmp_path / "f.jsonl"
    file.write_text("".join(json.dumps({"id": f"m{n}", "text": f"Tea {n}."}) + "\n" for n in "123"))
    with (
        recollex.open(tmp_path / "s", embedder=Digests()) as store,
        serving(store) as server,
        recollex.connect(server.addresses[0]) as client,
    ):
        agent = client.agent("a")
        assert recollex.import_memories(agent, file) == 3
        agent.forget("m1")
        agent.erase("m2", by="eve", why="asked")
        done = recollex.import_memories(agent, file)
        assert (done, done.left_out) == (0, {GONE_HERE: 2})
        assert [memory.id for memory in agent.list()] == ["m3"]
