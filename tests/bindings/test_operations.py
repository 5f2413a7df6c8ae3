"""Operations as JSON: what they record, and what happens to a file that is wrong."""

import json
from datetime import UTC, datetime

import pytest

import recollex
from recollex.api.dsl import FIELDS, OperationParser
from recollex.cli import main
from recollex_engine.errors import (
    InputError,
    MergeCycleError,
    OperationError,
    UnknownIdError,
)

FACT = {"op": "UPSERT_EDGE", "subject": "Ann", "predicate": "likes", "object": "Oslo", "id": "f"}
GOOD = [
    {"op": "BEGIN", "by": "importer", "why": "the mail", "recorded_at": "2024-01-01"},
    {
        "op": "UPSERT_EDGE",
        "src": "Alice",
        "rel": "works_at",
        "dst": "Google",
        "valid": ["2023-11-06", None],
        "source": {"uri": "mail:7", "hash": "ab"},
        "mentions": [{"document": "mail:7", "span": [0, 5], "text": "Alice"}],
        "confidence": 0.9,
        "edge_id": "job",
    },
    {"op": "UPSERT_ENTITY", "canonical_name": "Alice", "aliases": ["Al"], "types": ["person"]},
    {
        "op": "UPSERT_EVENT",
        "summary": "Alice joined Google",
        "participants": ["Alice", {"name": "Google", "role": "employer"}],
        "includes_fact": ["job"],
        "time_span": "November 2023",
        "times": ["2023-11-06", "a Monday"],
        "id": "joined",
    },
    {"op": "UPSERT_EVENT", "summary": "Alice moved", "id": "moved"},
    {"op": "LINK", "source": "joined", "relation": "causal", "target": "moved"},
    {"op": "LINK", "source": "moved", "relation": "role", "target": "Alice", "role": "mover"},
    {"op": "UPSERT_EPISODE", "title": "A new life", "events": ["joined", "moved"], "id": "life"},
    {"op": "COMMIT"},
    {
        "op": "RETRO_CORRECT",
        "edge_id": "job",
        "valid_end": "2025-02-01",
        "why": "she left",
        "record_end": "2025-03-01",
    },
    {"op": "MERGE_ENTITY", "src_id": "Al", "dst_id": "Google", "recorded_at": "2025-04-01"},
    {"op": "ARCHIVE_EDGE", "edge_id": "job", "recorded_at": "2025-05-01"},
]


@pytest.fixture
def agent(tmp_path):
    with recollex.open(tmp_path / "store", embedder=recollex.GivenVectors(8)) as store:
        yield store.agent("a")


def write(folder, lines):
    path = folder / "operations.jsonl"
    said = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(said) + "\n")
    return path


def read(lines):
    return OperationParser(UTC, lambda: 0).parse_lines(
        [line if isinstance(line, str) else json.dumps(line) for line in lines]
    )


def test_every_operation_of_a_file_is_recorded_with_who_when_and_why(agent):
    for group in read(GOOD):
        agent.engine.transact(group.operations, group.notes, group.recorded_at, group.where)
    first, second = agent.facts.history("job")
    assert (first.by, first.why) == ("importer", "the mail")
    assert (first.closed_by, first.closed_why) == (None, "she left")
    assert first.recorded == (datetime(2024, 1, 1, tzinfo=UTC), datetime(2025, 3, 1, tzinfo=UTC))
    assert first.valid == (datetime(2023, 11, 6, tzinfo=UTC), None)
    assert second.valid[1] == datetime(2025, 2, 1, tzinfo=UTC)
    assert second.source == recollex.Source("mail:7", "ab")
    assert second.mentions == (recollex.Mention("mail:7", (0, 5), "Alice"),)
    assert second.confidence == 0.9
    then = {"as_recorded": datetime(2024, 6, 1, tzinfo=UTC)}
    joined, moved = agent.events.find(**then)
    assert joined.span == (datetime(2023, 11, 1, tzinfo=UTC), datetime(2023, 12, 1, tzinfo=UTC))
    assert joined.times == (datetime(2023, 11, 6, tzinfo=UTC), "a Monday")
    assert [(link.event, link.relation) for link in joined.links] == [("moved", "causes")]
    assert [(each.name, each.role) for each in moved.participants] == [("Alice", "mover")]
    assert agent.facts.entity("al", **then).types == ("person",)
    assert agent.events.get_episode("life", **then).events == ("joined", "moved")
    assert agent.events.get_episode("life").events == ("moved",)
    assert [event.id for event in agent.events.find()] == ["moved"]


def test_the_log_has_one_record_an_operation(agent):
    for group in read(GOOD):
        agent.engine.transact(group.operations, group.notes, group.recorded_at, group.where)
    lines = (agent.engine.folder / "log" / "00000001.jsonl").read_text().splitlines()[2:]
    records = [json.loads(line) for line in lines]
    words = [line["op"] for line in GOOD if line["op"] not in ("BEGIN", "COMMIT")]
    assert [record["kind"] for record in records] == [word.lower() for word in words]
    assert [record["payload"].get("why") for record in records[:8]] == ["the mail"] * 7 + [
        "she left"
    ]
    assert len({record["at"] for record in records[:7]}) == 1


def test_saying_it_again_records_nothing(agent):
    operations = [line for line in GOOD[1:8] if line["op"] != "BEGIN"]
    assert agent.apply(operations) == 7
    assert agent.apply(operations) == 0
    assert agent.apply([FACT | {"object": {"text": "tea"}}]) == 1
    assert agent.apply([FACT | {"object": {"text": "tea"}}]) == 0
    assert agent.apply([{key: FACT[key] for key in ("op", "subject", "predicate", "object")}]) == 1
    assert agent.apply([{key: FACT[key] for key in ("op", "subject", "predicate", "object")}]) == 0


def test_ids_are_made_of_content_alone(tmp_path):
    ids = []
    for name in ("one", "two"):
        with recollex.open(tmp_path / name, embedder=recollex.GivenVectors(8)) as store:
            agent = store.agent("a")
            if name == "two":
                agent.facts.add("Zoe", "likes", "Rome")
            fact = agent.facts.add("Ann", "likes", "Oslo")
            event = agent.events.add("Ann went", facts=[fact])
            ids.append((fact, event, agent.events.add_episode("spring", [event])))
    assert ids[0] == ids[1]


WRONG = {
    "not JSON": ('{"op": "UPSERT_EDGE"', InputError, "not JSON"),
    "no object": ("[1]", InputError, "must be an object, got list"),
    "no such word": ({"op": "UPSERT"}, InputError, "op must be one of RETAIN"),
    "an unknown field": (FACT | {"subjekt": 1}, InputError, "did you mean 'subject'"),
    "a field twice": (FACT | {"src": "Ann"}, InputError, "says 'subject' twice"),
    "a field is missing": ({"op": "UPSERT_EDGE"}, InputError, "has no 'subject'"),
    "an end before its start": (
        FACT | {"valid": ["2024-01-02", "2024-01-01"]},
        InputError,
        "valid must end after it starts",
    ),
    "words that are no time": (FACT | {"valid": "purple"}, InputError, "names no time"),
    "a time that is none": (FACT | {"valid": ["soon", None]}, InputError, "valid must be written"),
    "an unknown evidence id": (
        FACT | {"evidence": ["nowhere"]},
        UnknownIdError,
        "no memory with id 'nowhere'",
    ),
    "evidence that is an event": (FACT | {"evidence": ["e"]}, InputError, "an event or an episode"),
    "a merge into itself": (
        {"op": "MERGE_ENTITY", "source": "Bob", "target": "bob"},
        MergeCycleError,
        "cannot be merged",
    ),
    "a merge cycle": (
        {"op": "MERGE_ENTITY", "source": "Bob", "target": "Robert"},
        MergeCycleError,
        "'Robert' was merged into 'Bob' already",
    ),
    "an alias cycle": (
        FACT | {"subject": "Bob", "predicate": "alias_of", "object": "Robert"},
        MergeCycleError,
        "cannot be merged",
    ),
    "an unknown entity": (
        {"op": "MERGE_ENTITY", "source": "Bob", "target": "Nobody"},
        UnknownIdError,
        "no entity with id 'Nobody'",
    ),
    "a name that is taken": (
        {"op": "UPSERT_ENTITY", "name": "Carol", "aliases": ["Bob"]},
        InputError,
        "MERGE_ENTITY",
    ),
    "an unknown fact": ({"op": "ARCHIVE_EDGE", "id": "x"}, UnknownIdError, "no fact with id 'x'"),
    "a correction of nothing": ({"op": "RETRO_CORRECT", "id": "b"}, InputError, "must change one"),
    "a correction that ends too early": (
        {"op": "RETRO_CORRECT", "id": "b", "valid_end": "1999-01-01"},
        InputError,
        "valid must end after it starts",
    ),
    "an event of an unknown fact": (
        {"op": "UPSERT_EVENT", "summary": "s", "includes_fact": ["x"]},
        UnknownIdError,
        "no fact with id 'x'",
    ),
    "a link to nothing": (
        {"op": "LINK", "source": "e", "relation": "causes", "target": "x"},
        UnknownIdError,
        "no event with id 'x'",
    ),
    "a link to itself": (
        {"op": "LINK", "source": "e", "relation": "causes", "target": "e"},
        InputError,
        "linked to itself",
    ),
    "an unknown relation": (
        {"op": "LINK", "source": "e", "relation": "likes", "target": "e2"},
        InputError,
        "relation must be one of has_participant",
    ),
    "an episode as a fact's event": (
        {"op": "UPSERT_EPISODE", "title": "t", "events": ["p"]},
        InputError,
        "'p' is an episode",
    ),
    "an id of another kind": (
        {"op": "UPSERT_EVENT", "summary": "s", "id": "p"},
        InputError,
        "the id of an episode already",
    ),
    "a literal attribute of the wrong kind": (
        FACT | {"predicate": "has_attr", "object": "Oslo"},
        InputError,
        "the object of has_attr must be of kind text",
    ),
    "a confidence beyond 1": (FACT | {"confidence": 1.5}, InputError, r"confidence must lie in \["),
    "two recorded times": (
        FACT | {"recorded_at": "2030-01-01"},
        InputError,
        "one recorded_at, got two",
    ),
    "a record that ends": (FACT | {"record": ["2030", "2031"]}, InputError, "record must be"),
    "an unknown memory": ({"op": "FORGET", "id": "x"}, UnknownIdError, "no memory with id 'x'"),
    "an empty text": ({"op": "RETAIN", "text": " "}, InputError, "text is empty"),
    "a BEGIN inside": ({"op": "BEGIN"}, InputError, "a transaction is open since line 3"),
}
BEFORE = [
    {"op": "UPSERT_EDGE", "subject": "Robert", "predicate": "is", "object": 1, "id": "b"}
    | {"valid": ["2000-01-01", None]},
    {"op": "UPSERT_ENTITY", "name": "Bob"},
]
SETUP = [
    {"op": "MERGE_ENTITY", "source": "Robert", "target": "Bob"},
    {"op": "UPSERT_EVENT", "summary": "s", "id": "e"},
    {"op": "UPSERT_EVENT", "summary": "s2", "id": "e2"},
    {"op": "UPSERT_EPISODE", "title": "t", "events": ["e"], "id": "p"},
]


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_line_is_named_and_nothing_of_its_transaction_is_applied(name, tmp_path, capsys):
    wrong, kind, message = WRONG[name]
    store = tmp_path / "store"
    with recollex.open(store, embedder=recollex.GivenVectors(8)) as opened:
        agent = opened.agent("default")
        agent.apply([*BEFORE, *SETUP], recorded_at=datetime(2024, 1, 1, tzinfo=UTC))
        before = agent.stats().operations
        lines = [
            {"op": "UPSERT_EDGE", "subject": "Zoe", "predicate": "likes", "object": "Rome"}
            | {"recorded_at": "2024-06-01"},
            "",
            {"op": "BEGIN", "recorded_at": "2025-01-01"},
            {"op": "UPSERT_EDGE", "subject": "Yan", "predicate": "likes", "object": "Rome"},
            wrong,
            {"op": "COMMIT"},
        ]
        text = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        with pytest.raises(OperationError, match="^line 5.*" + message) as refused:
            for group in OperationParser(UTC, agent.engine.clock).parse_lines(text):
                agent.engine.transact(group.operations, group.notes, group.recorded_at, group.where)
        assert isinstance(refused.value.__cause__, kind)
        assert "nothing of its transaction was applied" in str(refused.value)
        assert agent.facts.view().entity("Yan") is None
        assert agent.stats().operations in (before, before + 1)  # the line before it, if reached
        assert agent.verify().ok


def test_a_recorded_time_before_the_logs_end_is_refused_with_its_line(agent):
    agent.apply([FACT], recorded_at=datetime(2024, 1, 1, tzinfo=UTC))
    [group] = read([FACT | {"object": "Rome", "recorded_at": "2023-12-31"}])
    with pytest.raises(OperationError, match=r"line 1 .*later than the last recorded time"):
        agent.engine.transact(group.operations, group.notes, group.recorded_at, group.where)
    assert agent.facts.get("f").object == "Oslo"


def test_a_refused_first_transaction_makes_no_folder(tmp_path):
    with recollex.open(tmp_path / "store", embedder=recollex.GivenVectors(8)) as store:
        with pytest.raises(OperationError, match=r"operation 2 \(ARCHIVE_EDGE\)"):
            store.agent("a").apply([FACT, {"op": "ARCHIVE_EDGE", "id": "x"}])
        assert not (tmp_path / "store").exists()
        store.agent("a").apply([FACT])


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([{"op": "COMMIT"}], "line 1: COMMIT without a BEGIN"),
        ([FACT, {"op": "BEGIN"}, FACT], "line 2: the transaction that begins here has no COMMIT"),
    ],
)
def test_a_transaction_begins_and_ends(lines, message):
    with pytest.raises(OperationError, match=message):
        read(lines)


def test_every_word_has_a_method():
    words = set(FIELDS) - {"BEGIN", "COMMIT"}
    assert all(callable(getattr(OperationParser, f"_{word.lower()}")) for word in words)


# -- the command line ----------------------------------------------------------------------------


def test_the_command_line_records_reads_and_searches(tmp_path, capsys, monkeypatch):
    store, file = str(tmp_path / "store"), write(tmp_path, GOOD)
    embed = recollex.GivenVectors(8)
    monkeypatch.setattr("recollex.api.store.read_embedder", lambda given: lambda: embed)
    assert main(["apply", store, str(file), "--by", "somebody"]) == 0
    out = capsys.readouterr().out
    assert out == "10 operations in 4 transactions for default: 10 new records\n"
    assert main(["memoread", store, "job", "--history", "--json"]) == 0
    versions = json.loads(capsys.readouterr().out)["facts"]
    assert [version["by"] for version in versions] == ["importer", "somebody"]
    assert versions[1]["closed_by"] == "somebody"
    for name in ("Alice", "joined", "life", "job"):
        assert main(["memoread", store, name, "--as-recorded", "2024-06-01"]) == 0
    shown = capsys.readouterr().out
    assert "entity Alice | person | Al" in shown
    assert "episode A new life" in shown
    assert "Alice works_at Google | valid 2023-11-06T00:00:00+00:00 to ..." in shown
    assert main(["memoread", store, "job"]) == 1
    assert "nothing that is called 'job'" in capsys.readouterr().err
    question = "Where did Al work?"
    assert main(["memosearch", store, question, "--as-recorded", "2024-06-01", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [fact["id"] for fact in found["facts"]] == ["job"]
    assert {event["id"] for event in found["events"]} == {"joined", "moved"}
    assert main(["memosearch", store, question, "--as-recorded", "2023-01-01"]) == 0
    assert "has no facts, events or memories for" in capsys.readouterr().err
    assert main(["memosearch", store, question, "--as-recorded", "2999-01-01"]) == 2
    assert "as_recorded must not be in the future" in capsys.readouterr().err


def test_the_command_line_names_the_line_and_keeps_what_was_before(tmp_path, capsys, monkeypatch):
    store = tmp_path / "store"
    embed = recollex.GivenVectors(8)
    monkeypatch.setattr("recollex.api.store.read_embedder", lambda given: lambda: embed)
    bad = write(tmp_path, [FACT, "{"])
    assert main(["memowrite", str(store), str(bad)]) == 2
    assert "operations.jsonl: line 2: not JSON" in capsys.readouterr().err
    assert not store.exists()
    bad = write(tmp_path, [FACT, {"op": "ARCHIVE_EDGE", "id": "x"}])
    assert main(["memowrite", str(store), str(bad)]) == 2
    error = capsys.readouterr().err
    assert "line 2 (ARCHIVE_EDGE): agent 'default' has no fact with id 'x'" in error
    assert "recorded before it: 1 transaction" in error
    assert main(["memoread", str(store), "f"]) == 0
    assert main(["apply", str(store), str(write(tmp_path, [""]))]) == 1
