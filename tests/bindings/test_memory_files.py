"""Memories go to a file, as JSON lines or Parquet, and come back as they were."""

import dataclasses
import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

import recollex
from recollex.files import parquet
from recollex_engine.errors import InputError
from tests.bindings.command_line import Shell
from tests.bindings.test_cli_history import store
from tests.bindings.word_vectors import WordVectors

__all__ = ["store"]

KINDS = ["jsonl", "parquet"]
NOT_MEMORY = {"score", "tokens", "ranks", "scores", "parts"}


def day(number: int) -> datetime:
    return datetime(2024, 5, number, 12, 30, 15, 123456, tzinfo=UTC)


def fields(memory: recollex.Memory) -> dict[str, object]:
    found = {each.name: getattr(memory, each.name) for each in dataclasses.fields(memory)}
    return {name: value for name, value in found.items() if name not in NOT_MEMORY}


def told(agent: recollex.Agent) -> None:
    agent.retain_many(
        ["Ann lives in Oslo.", "Tea: \N{TEACUP WITHOUT HANDLE} at four\nor five."],
        id=["home", "tea"],
        event_at=[day(1), day(2)],
        recorded_at=day(3),
        network=["world", "opinion"],
        entities=[["Ann Lee"], []],
        tags=[["a", "b"], []],
        metadata=[{"n": 1, "deep": {"list": [1, None]}}, {}],
        context=["call", None],
        valid_until=[day(20), None],
        source=["user", "shop"],
        trust=["tool", None],
    )
    turns = [
        {"speaker": "Bob", "text": "How is the job?", "at": day(4).isoformat(), "id": "t1"},
        {"role": "assistant", "name": "Ann", "content": "Busy!", "at": day(4).isoformat()},
    ]
    agent.retain_dialogue(turns, document_id="call-7", recorded_at=day(5), source="web")
    agent.retain("Long. " + "word and another one, " * 150, id="long", recorded_at=day(6))
    agent.retain("Gone.", id="gone", recorded_at=day(7))
    agent.forget("gone", by="ann", recorded_at=day(8))


@pytest.mark.parametrize("kind", KINDS)
def test_memories_come_back_as_they_were(tmp_path: Path, kind: str) -> None:
    file = tmp_path / f"memories.{kind}"
    with recollex.open(tmp_path / "a", embedder=WordVectors()) as store:
        agent = store.agent("a")
        told(agent)
        assert recollex.export_memories(agent, file) == 5
        with recollex.open(tmp_path / "b", embedder=WordVectors()) as copies:
            copy = copies.agent("b")
            assert recollex.import_memories(copy, file) == 5
            assert list(map(fields, copy.list())) == list(map(fields, agent.list()))
            assert recollex.import_memories(copy, file) == 0  # nothing twice
            again = tmp_path / f"again.{kind}"
            recollex.export_memories(copy, again)
            if kind == "jsonl":
                assert again.read_bytes() == file.read_bytes()
            unstamped = copies.agent("c")
            recollex.import_memories(unstamped, file, recorded=False, stamped=False)
            assert {memory.source for memory in unstamped.list()} == {None}
            assert all(memory.recorded_at.year > 2024 for memory in unstamped.list())
        then = agent.at(day(4))
        assert recollex.export_memories(then, tmp_path / f"then.{kind}") == 2
    assert {each.name for each in tmp_path.iterdir() if each.is_file()} == {
        f"memories.{kind}", f"again.{kind}", f"then.{kind}",
    }  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_given_vectors_travel(tmp_path: Path, kind: str) -> None:
    vectors = np.random.default_rng(1).normal(size=(40, 16))
    given = {"embedder": recollex.GivenVectors(16)}
    file = tmp_path / f"x.{kind}"
    with (
        recollex.open(tmp_path / "a", **given) as store,
        recollex.open(tmp_path / "b", **given) as b,
    ):
        agent, copy = store.agent("a"), b.agent("a")
        agent.retain_many([f"Text {n}." for n in range(40)], embedding=vectors)
        assert recollex.export_memories(agent, file) == 40
        assert recollex.import_memories(copy, file) == 40
        asked = [
            [(m.id, round(m.score, 3)) for m in each.recall("Text", query_embedding=vectors[3])]
            for each in (agent, copy)
        ]
        assert asked[0] == asked[1]


def test_an_interrupted_import_is_completed(tmp_path: Path) -> None:
    with recollex.open(tmp_path / "a", embedder=WordVectors()) as store:
        told(store.agent("a"))
        recollex.export_memories(store.agent("a"), tmp_path / "x.jsonl")
        whole = (tmp_path / "x.jsonl").read_text("utf-8")
        (tmp_path / "x.jsonl").write_text("".join([*whole.splitlines(True)[:2], "{}\n"]), "utf-8")
        with pytest.raises(InputError, match=r"x.jsonl: line 3 has no 'text'"):
            recollex.import_memories(store.agent("b"), tmp_path / "x.jsonl")
        kept = len(store.agent("b").list())
        (tmp_path / "x.jsonl").write_text(whole, "utf-8")
        assert recollex.import_memories(store.agent("b"), tmp_path / "x.jsonl") == 5 - kept
        assert list(map(fields, store.agent("b").list())) == list(
            map(fields, store.agent("a").list())
        )


def test_a_large_transaction_is_one_again(tmp_path: Path) -> None:
    with recollex.open(tmp_path / "a", embedder=WordVectors()) as store:
        store.agent("a").retain_many([f"Text {n}." for n in range(300)], recorded_at=day(3))
        recollex.export_memories(store.agent("a"), tmp_path / "x.jsonl")
        assert recollex.import_memories(store.agent("b"), tmp_path / "x.jsonl") == 300
        assert {memory.recorded_at for memory in store.agent("b").list(limit=300)} == {day(3)}


def test_what_is_no_such_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with recollex.open(tmp_path / "a", embedder=WordVectors()) as store:
        agent = store.agent("a")
        agent.retain("Tea.")
        with pytest.raises(InputError, match=r"ends with none of .jsonl, .ndjson, .parquet"):
            recollex.export_memories(agent, tmp_path / "x.csv")
        with pytest.raises(InputError, match="format must be"):
            recollex.export_memories(agent, tmp_path / "x.csv", format="csv")
        with pytest.raises(InputError, match="there is no such folder"):
            recollex.export_memories(agent, tmp_path / "none/x.jsonl")
        with pytest.raises(InputError, match="there is no file"):
            recollex.import_memories(agent, tmp_path / "x.jsonl")
        with pytest.raises(InputError, match=r"must be an agent of recollex.open, got str"):
            recollex.export_memories("a", tmp_path / "x.jsonl")  # type: ignore[arg-type]
        (tmp_path / "x.parquet").write_bytes(b"PAR1, not")
        with pytest.raises(InputError, match="is not a Parquet file"):
            recollex.import_memories(agent, tmp_path / "x.parquet")
        (tmp_path / "x.jsonl").write_bytes(b"\xff\xfe")
        with pytest.raises(InputError, match="not a file of JSON lines in UTF-8"):
            recollex.import_memories(agent, tmp_path / "x.jsonl")
        import pyarrow
        from pyarrow import parquet as files

        files.write_table(pyarrow.table({"text": ["a"], "txt": ["b"]}), tmp_path / "x.parquet")
        with pytest.raises(InputError, match="has a column 'txt'; known are context"):
            recollex.import_memories(agent, tmp_path / "x.parquet")
        monkeypatch.setattr(parquet, "find_spec", lambda name: None)
        with pytest.raises(InputError, match=r"pip install 'recollex\[parquet\]'"):
            recollex.export_memories(agent, tmp_path / "y.parquet")


def test_recollex_does_not_import_pyarrow_before_it_is_needed() -> None:
    import subprocess

    code = "import sys, recollex.files.memory_files; print('pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_on_the_command_line(shell: Shell, store: str) -> None:
    for name in ("x.parquet", "x.jsonl"):
        code, _, err = shell("export", store, "--output", name)
        assert code == 0 and f"1 memory written to {name}" in err
        code, out, _ = shell("import", name[2:], name)
        assert (code, out) == (0, "1 memory stored for default\n")
        assert shell("export", name[2:])[1] == shell("export", store)[1]
    (line,) = shell("export", store)[1].splitlines()
    assert json.loads(line)["id"] == "home"
    code, _, err = shell("export", store, "--format", "parquet")
    assert code == 2 and "needs --output" in err
    assert shell("import", "jsonl", "nowhere.jsonl")[0] == 2
