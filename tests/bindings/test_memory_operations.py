"""RETAIN, CORRECT, ARCHIVE and FORGET in transactions, beside facts."""

import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import recollex
from recollex.cli import main
from recollex_engine.errors import InputError, OperationError, UnknownIdError
from recollex_engine.models.description import PAPER_THRESHOLDS
from recollex_engine.writing import recording

START = datetime(2024, 5, 1, tzinfo=UTC)


class LetterVectors:
    """An embedder without a model: how often each of eight letters occurs."""

    dimension = 8
    fingerprint = "letters-1"
    thresholds = PAPER_THRESHOLDS

    def embed(self, texts, threads=1, progress=None):
        return np.array([self.embed_query(text) for text in texts], np.float32)

    def embed_query(self, text):
        counts = np.array([1 + text.count(letter) for letter in "etaoinsh"], np.float32)
        return counts / np.linalg.norm(counts)

    def count_tokens(self, text):
        return len(text.split())


@pytest.fixture
def agent(tmp_path):
    with recollex.open(tmp_path, embedder=LetterVectors(), clock=lambda: START) as store:
        yield store.agent("a")


def closures(agent, id):
    return [
        (memory.text, memory.closed and (memory.closed.how, memory.closed.by, memory.closed.why))
        for memory in agent.history(id)
    ]


def test_operations_on_memories_land_in_their_history(agent):
    done = agent.apply(
        [
            {"op": "RETAIN", "id": "m", "text": "Ann likes tea.", "valid_until": "2025-01-01"},
            {"op": "RETAIN", "id": "n", "text": "Ben likes ale."},
            {"op": "RETAIN", "id": "o", "text": "It rained."},
        ],
        by="importer",
    )
    assert done == 3
    assert agent.get("m").valid_until == datetime(2025, 1, 1, tzinfo=UTC)
    done = agent.apply(
        [
            {"op": "CORRECT", "id": "m", "text": "Ann likes milk.", "tags": ["drink"], "by": "ann"},
            {"op": "ARCHIVE", "id": "n", "why": "stale"},
            {"op": "FORGET", "id": ["o"]},
            {"op": "UPSERT_EDGE", "subject": "Ann", "predicate": "likes", "object": "Milk"}
            | {"evidence": ["m"], "id": "f"},
        ],
        why="a letter",
    )
    assert done == 4
    assert closures(agent, "m") == [
        ("Ann likes tea.", ("corrected", "ann", "a letter")),
        ("Ann likes milk.", None),
    ]
    assert agent.get("m").tags == ("drink",)
    assert agent.get("m").valid_until == datetime(2025, 1, 1, tzinfo=UTC)
    assert closures(agent, "n") == [("Ben likes ale.", ("archived", None, "stale"))]
    with pytest.raises(UnknownIdError):
        agent.get("o")
    assert agent.facts.find(evidence="m").ids == ["f"]
    assert len({entry.recorded_at for entry in agent.log()[-4:]}) == 1
    assert agent.apply([{"op": "FORGET", "id": "n"}]) == 1  # what is archived can be forgotten
    with pytest.raises(UnknownIdError):
        agent.history("n")
    assert agent.verify().ok


def test_a_correction_that_changes_nothing_records_nothing(agent):
    agent.retain("Ann likes tea.", id="m")
    correction = {"op": "CORRECT", "id": "m", "text": "Ann likes milk."}
    assert [agent.apply([correction]) for _ in range(2)] == [1, 0]
    assert len(agent.history("m")) == 2


def test_a_transaction_block_corrects_archives_and_forgets(agent):
    agent.retain_many(["Ann likes tea.", "Ben likes ale.", "It rained."], id=["m", "n", "o"])
    with agent.transaction(by="ann", why="a letter") as tx:
        tx.correct("m", "Ann likes milk.", metadata={"k": 1}, network="agent")
        tx.archive("n")
        tx.forget(["o"])
        new = tx.retain("Ann lives in Oslo.", tags=["home"], valid_until=START + timedelta(days=9))
        tx.facts.add("Ann", "lives_in", "Oslo", evidence=[new, "m"], id="f")
    assert (agent.get("m").metadata, agent.get("m").network) == ({"k": 1}, "agent")
    assert agent.get("n").closed.by == "ann"
    assert agent.facts.get("f").evidence == (new, "m")
    assert agent.recall("Where does Ann live?")[0].id in {"m", new}


def test_evidence_is_the_version_that_the_transaction_leaves(agent):
    agent.retain("Ann likes tea.", id="m")
    agent.apply(
        [
            {"op": "CORRECT", "id": "m", "text": "Ann likes milk."},
            {"op": "UPSERT_EDGE", "subject": "Ann", "predicate": "likes", "object": "Milk"}
            | {"evidence": ["m"], "id": "f"},
        ]
    )
    version = agent.facts.view().version("f")
    assert agent.facts.view().numbers("fact_evidence", "fact_evidence_end", version) == [1]


RETAIN = {"op": "RETAIN", "id": "x", "text": "New."}


@pytest.mark.parametrize(
    ("operations", "kind", "message"),
    [
        ([{"op": "CORRECT", "id": "m"}], InputError, "say what to correct"),
        ([{"op": "CORRECT", "id": "m", "text": " "}], InputError, "text is empty"),
        ([{"op": "CORRECT", "id": "q", "text": "No."}], UnknownIdError, "no memory with id 'q'"),
        (
            [{"op": "CORRECT", "id": "m", "text": "No.", "event_at": 7}],
            InputError,
            "event_at must be a time",
        ),
        ([{"op": "ARCHIVE", "id": "q"}], UnknownIdError, "no memory with id 'q'"),
        ([{"op": "ARCHIVE", "id": "old"}], UnknownIdError, "no memory with id 'old'"),
        ([{"op": "ARCHIVE", "id": []}], InputError, "at least one memory to archive"),
        (
            [RETAIN, {"op": "CORRECT", "id": "x", "text": "No."}],
            InputError,
            "'x' is changed in this transaction already",
        ),
        (
            [{"op": "ARCHIVE", "id": "m"}, {"op": "CORRECT", "id": "m", "text": "No."}],
            InputError,
            "'m' is changed in this transaction already",
        ),
        (
            [{"op": "CORRECT", "id": "m", "text": "No."}, {"op": "ARCHIVE", "id": "m"}],
            InputError,
            "'m' is changed in this transaction already",
        ),
        (
            [{"op": "FORGET", "id": "m"}, RETAIN | {"id": "m"}],
            InputError,
            "'m' is closed in this transaction already",
        ),
    ],
)
def test_what_is_refused_leaves_nothing(agent, operations, kind, message):
    agent.retain_many(["Ann likes tea.", "It rained."], id=["m", "old"])
    agent.archive("old")
    before = agent.log()
    place = len(operations)
    with pytest.raises(OperationError, match=rf"^operation {place}\b.*{message}") as refused:
        agent.apply(operations)
    assert isinstance(refused.value.__cause__, kind)
    assert agent.log() == before


def test_a_correction_of_an_agent_that_holds_nothing_makes_no_folder(tmp_path):
    with recollex.open(tmp_path / "s", embedder=LetterVectors()) as store:
        with pytest.raises(OperationError, match=r"operation 2 \(CORRECT\): agent 'a' has no mem"):
            store.agent("a").apply([RETAIN, {"op": "CORRECT", "id": "m", "text": "No."}])
        assert not (tmp_path / "s").exists()


def test_a_correction_that_was_overtaken_is_read_again(agent, monkeypatch):
    agent.retain("Ann likes tea.", id="m", tags=["old"])
    embed, overtaken = recording.embed, []

    def embed_late(*args):
        if not overtaken:
            overtaken.append(True)
            agent.correct("m", "Ann likes ale.", tags=["new"])
        return embed(*args)

    monkeypatch.setattr(recording, "embed", embed_late)
    assert agent.apply([{"op": "CORRECT", "id": "m", "text": "Ann likes milk."}]) == 1
    assert [memory.text for memory in agent.history("m")] == [
        "Ann likes tea.",
        "Ann likes ale.",
        "Ann likes milk.",
    ]
    assert agent.get("m").tags == ("new",)


def test_the_command_line_searches_memories_under_a_cut(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("recollex.api.store.read_embedder", lambda given: LetterVectors)
    store, file = str(tmp_path / "s"), tmp_path / "operations.jsonl"
    lines = [
        {"op": "RETAIN", "id": "m", "text": "Ann likes tea.", "valid_until": "2024-09-01"}
        | {"event_at": "2024-05-01", "recorded_at": "2024-05-01"},
        {"op": "UPSERT_EDGE", "subject": "Ann", "predicate": "likes", "object": "Tea", "id": "f"}
        | {"evidence": "m", "recorded_at": "2024-05-02"},
        {"op": "UPSERT_EVENT", "summary": "Ann drank.", "includes_fact": ["f"], "id": "e"}
        | {"recorded_at": "2024-05-03"},
        {"op": "CORRECT", "id": "m", "text": "Ann likes milk.", "recorded_at": "2024-05-04"},
        {"op": "RETRO_CORRECT", "id": "f", "object": "Milk", "recorded_at": "2024-05-05"}
        | {"by": "ben", "why": "He saw it."},
        {"op": "LINK", "source": "e", "relation": "has_participant", "target": "Ann"}
        | {"recorded_at": "2024-05-06"},
    ]
    file.write_text("\n".join(map(json.dumps, lines)))
    assert main(["apply", store, str(file)]) == 0

    def found(*words):
        capsys.readouterr()
        code = main([*words, "--json"])
        return None if code else json.loads(capsys.readouterr().out)

    def searched(*cut):
        said = found("memosearch", store, "What does Ann like?", *cut)
        return said and [each["text"] for each in said["memories"]]

    assert searched() == ["Ann likes milk."]
    assert searched("--as-recorded", "2024-05-03") == ["Ann likes tea."]
    assert searched("--as-world", "2024-10-01") == []
    assert searched("--as-recorded", "2024-04-30") == []
    read = found("memoread", store, "m", "--as-recorded", "2024-05-01T12:00")
    assert read["memory"]["text"] == "Ann likes tea."
    assert found("memoread", store, "m", "--as-world", "2024-10-01") is None

    capsys.readouterr()
    assert main(["diff", store, "2024-05-03T12:00"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert [line for line in out if " fact " in line] == [
        "- 2024-05-05T00:00:00+00:00  fact f  Ann likes Tea  by ben  (He saw it.)",
        "+ 2024-05-05T00:00:00+00:00  fact f  Ann likes Milk  by ben  (He saw it.)",
    ]
    assert main(["diff", store, "2024-05-02T12:00", "2024-05-03T12:00"]) == 0
    assert capsys.readouterr().out == "+ 2024-05-03T00:00:00+00:00  event e  Ann drank.\n"
    assert main(["log", store, "--op", "UPSERT_EDGE", "--op", "retro_correct", "--op", "link"]) == 0
    assert [line.split(None, 2)[2] for line in capsys.readouterr().out.splitlines()] == [
        'upsert_edge  f  "Ann likes Tea"',
        'retro_correct  f  "Ann likes Milk"  by ben  (He saw it.)',
        'link      e  "has_participant Ann"',
    ]
