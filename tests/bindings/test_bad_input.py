"""Every public entry, called wrongly: a named error that says the bound and the value, no trace."""

import re
from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest

import recollex
from recollex_engine.errors import (
    ClosedError,
    CorruptError,
    FormatError,
    InputError,
    ModelError,
    ReadOnlyError,
    RecollexError,
    UnknownIdError,
)

D = 32
V = np.ones(D)
AT = datetime(2024, 5, 4, 10, tzinfo=UTC)
FIRST = datetime.min.replace(tzinfo=UTC)
NAIVE = datetime(2024, 5, 4, 10)
LONE = "tea \ud800 ink"
HUGE = "x" * 1_000_001
DEEP: list = []
for _ in range(300):
    DEEP = [DEEP]


class Odd:
    """An object that nothing expects."""

    def __repr__(self):
        return "<odd>"


def bad(name, message, *args, error=InputError, **options):
    return pytest.param(args, options, error, message, id=name)


def refuses(call, error, message):
    with pytest.raises(RecollexError) as caught:
        call()
    assert type(caught.value) is error, caught.value
    assert re.search(message, str(caught.value)), str(caught.value)
    return caught.value


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("bad") / "store"


@pytest.fixture(scope="module")
def store(path):
    with recollex.open(path, embedder=recollex.GivenVectors(D), durability="off") as store:
        yield store


@pytest.fixture(scope="module")
def agent(store):
    agent = store.agent("a")
    agent.retain(
        ["Bob drinks tea.", "Ann plays the cello."],
        id=["m1", "m2"],
        event_at=AT,
        recorded_at=AT,
        embedding=np.eye(2, D),
        document_id="d",
    )
    agent.retain("Forgotten.", id="gone", embedding=V)
    agent.forget("gone")
    return agent


@pytest.fixture(autouse=True)
def nothing_changes(agent):
    before = agent.stats(), agent.list()
    yield
    assert (agent.stats(), agent.list()) == before


NAMES = {
    "a str": ("tags", r"tags must be a list of str, got a str: tags=\['x'\]", "x"),
    "bytes": ("tags", "tags must be a list of str, got bytes", b"x"),
    "an int": ("entities", "entities must be a list of str, got int", 5),
    "a dict": ("tags", "tags must be a list of str, got dict", {"x": 1}),
    "a set": ("tags", "tags must be a list of str, got set", {"x"}),
    "of ints": ("tags", "tags must be a (list of )?str, got int", [5]),
    "of ints too": ("tags", "tags must be a str, got int", ["x", 5]),
    "of empty": ("entities", "entities is empty", [""]),
    "of spaces": ("tags", "tags is empty", [" \n"]),
    "of a lone surrogate": ("tags", "tags has a lone surrogate at character 4", [LONE]),
    "of long ones": (
        "entities",
        "entities may have up to 1,000 characters, got 1,001",
        ["x" * 1001],
    ),
    "too many": ("tags", "tags may have up to 256 items, got 257", ["x"] * 257),
}

METADATA = {
    "a str": ("metadata must be a dict", "x"),
    "an empty str": ("metadata must be a dict", ""),
    "zero": ("metadata must be a dict", 0),
    "a set": ("metadata must be a dict", {1}),
    "key of int": ("metadata is not JSON: Dict key must be str", {1: 2}),
    "key of surrogate": ("metadata is not JSON: .*surrogates", {LONE: 2}),
    "value of surrogate": ("metadata is not JSON: .*surrogates", {"a": {"b": [LONE]}}),
    "object": ("metadata is not JSON: .*Odd", {"a": Odd()}),
    "bytes": ("metadata is not JSON: .*bytes", {"a": b"x"}),
    "datetime": ("metadata is not JSON: .*datetime", {"a": AT}),
    "naive datetime": ("metadata is not JSON: .*datetime", {"a": NAIVE}),
    "nan": ("metadata holds a NaN or an infinity", {"a": [1, {"b": float("nan")}]}),
    "infinity": ("metadata holds a NaN or an infinity", {"a": (1, float("-inf"))}),
    "beyond int64": ("metadata is not JSON: Integer exceeds 64-bit", {"a": 2**64}),
    "deep": ("metadata is not JSON: Recursion limit", {"a": DEEP}),
    "large": (
        "metadata may take up to 100,000 bytes as JSON, got 100,00[89]",
        {"a": "x" * 100_001},
    ),
    "many keys": ("metadata may have up to 256 keys, got 257", {str(n): n for n in range(257)}),
}

VECTORS = {
    "nan": ("embedding holds a NaN", np.where(np.arange(D) == 3, np.nan, 1)),
    "infinity": ("embedding holds a NaN or an infinity", [np.inf] * D),
    "beyond float32": ("embedding holds a NaN or an infinity", [1e300] * D),
    "zero": ("embedding is all zeros", [0.0] * D),
    "short": (r"embedding must have shape \(1, 32\), got \(1, 31\)", np.ones(31)),
    "long": (r"embedding must have shape \(1, 32\), got \(1, 33\)", np.ones(33)),
    "a matrix": (r"embedding must have shape \(1, 32\), got \(1, 1, 32\)", np.ones((1, D))),
    "a number": (r"embedding must have shape \(1, 32\), got \(1,\)", 1.0),
    "a str": ("embedding must be numbers", "x" * D),
    "numbers as str": ("embedding must be numbers", ["1"] * D),
    "complex": ("embedding must be numbers", [1j] * D),
    "bools": ("embedding must be numbers", [True] * D),
    "ragged": ("embedding must be numbers", [[1], [1, 2]] * 16),
    "a dict": ("embedding must be numbers", {"x": 1}),
    "objects": ("embedding must be numbers", [Odd()] * D),
    "huge ints": ("embedding must be numbers|embedding holds", [10**400] * D),
}

LATER = AT + timedelta(days=365 * 90)

RETAIN = [
    *(bad(f"text {type(x).__name__}", "text must be a str or a list of str, got", x, embedding=V)
      for x in (None, b"x", 5, {"x": 1}, {"x"}, Odd(), 1.5, np.array("x"))),
    *(bad(f"texts of {type(x).__name__}", "text must be a str, got", [x], embedding=[V])
      for x in (None, b"x", 5, {"x": 1}, ["x"], Odd())),
    bad("empty text", "text is empty", "", embedding=V),
    bad("spaces", "text is empty", " \t\n\u2003", embedding=V),
    bad("huge text", "text may have up to 1,000,000 characters, got 1,000,001", HUGE, embedding=V),
    bad("lone surrogate", "text has a lone surrogate at character 4", LONE, embedding=V),
    bad("second is bad", "text is empty", ["good", ""], embedding=np.ones((2, D))),
    bad("too many", "up to 100,000 memories, got 100,001", ["x"] * 100_001),
    bad("no vector", "texts came without vectors", "x", error=ModelError),
    *(bad(f"vector {name}", message, "x", embedding=value)
      for name, (message, value) in VECTORS.items()),
    bad("nan in row 1", "in row 1", ["x", "y"], embedding=[V, [np.nan] * D]),
    bad("one vector for two", r"shape \(2, 32\), got \(1, 32\)", ["x", "y"], embedding=[V]),
    bad("vectors for none", r"shape \(0, 32\), got \(1, 32\)", [], embedding=[V]),
    *(bad(f"event_at {name}", message, "x", embedding=V, event_at=value)
      for name, message, value in (
        ("naive", "event_at has no time zone: 2024-05-04T10:00:00", NAIVE),
        ("date", "event_at must be a datetime", date(2024, 5, 4)),
        ("str", "event_at must be a datetime", "2024-05-04T10:00:00Z"),
        ("number", "event_at must be a datetime", 1714816800),
        ("list of naive", "event_at has no time zone", [NAIVE]),
        ("list of str", "event_at must be a datetime", ["2024"]),
        ("list of two", "event_at must have one item a text: 1 texts, got 2", [AT, AT]),
    )),
    *(bad(f"recorded_at {name}", message, "x", embedding=V, recorded_at=value)
      for name, message, value in (
        ("naive", "recorded_at has no time zone", NAIVE),
        ("text", "recorded_at must be a datetime", "2024-05-04"),
        ("equal", r"recorded_at must be later than the last .* 20\d\d-.*, got 2024-05-04", AT),
        ("year 1", "recorded_at must be later than .*, got 0001-01-01", FIRST),
    )),
    *(bad(f"id {name}", message, "x", embedding=V, id=value) for name, message, value in (
        ("empty", "id is empty", ""),
        ("int", "id must be a str or a list", 5),
        ("bytes", "id must be a str or a list", b"x"),
        ("of int", "id must be a str, got int", [5]),
        ("long", "id may have up to 1,000 characters, got 1,001", "x" * 1001),
        ("surrogate", "id has a lone surrogate", LONE),
        ("two for one", "id must have one item a text: 1 texts, got 2", ["x", "y"]),
    )),
    *(bad(f"network {value!r:.20}", "network must (be one of|be a str|have one item)", "x",
          embedding=V, network=value)
      for value in ("World", "", 0, None, b"world", [0], np.array(["world", "agent"]), ["x", "y"])),
    *(bad(f"{name} {kind}", f"{name} {message}", "x", embedding=V, **{name: value})
      for name in ("context", "document_id") for kind, message, value in (
        ("empty", "is empty", ""),
        ("int", "must be a str or a list", 7),
        ("of int", "must be a str, got int", [7]),
        ("surrogate", "has a lone surrogate", LONE),
        ("long", "may have up to 1,000", "x" * 1001),
    )),
    *(bad(f"names {name}", message, "x", embedding=V, **{option: value})
      for name, (option, message, value) in NAMES.items()),
    bad("tags of each", "tags must have one list a text: 2 texts, got 1", ["x", "y"], tags=[["x"]]),
    *(bad(f"metadata {name}", message, "x", embedding=V, metadata=value)
      for name, (message, value) in METADATA.items()),
    *(bad(f"metadata [{name}]", message, ["x"], embedding=[V], metadata=[value])
      for name, (message, value) in METADATA.items()),
]  # fmt: skip


@pytest.mark.parametrize("args, options, error, message", RETAIN)
def test_retain(agent, args, options, error, message):
    refuses(lambda: agent.retain(*args, **options), error, message)


@pytest.mark.parametrize("args, options, error, message", RETAIN)
def test_retain_of_an_agent_that_is_new_leaves_no_file(store, path, args, options, error, message):
    if "later" in message:
        return
    before = sorted(path.rglob("*"))
    refuses(lambda: store.agent("new").retain(*args, **options), error, message)
    assert sorted(path.rglob("*")) == before
    assert store.agents() == ["a"]


GOOD = {"speaker": "Ann", "text": "Hello.", "at": "2024-05-04T10:00:00Z"}
DIALOGUE = [
    *(bad(f"turns {type(x).__name__}", "turns must be a list of dicts, got", x)
      for x in (None, 5, "x", b"x", GOOD, {"x"}, Odd())),
    *(bad(f"turn {type(x).__name__}", r"turns\[1\] must be a dict, got", [GOOD, x])
      for x in (None, 5, "x", b"x", ["x"], Odd())),
    *(bad(name, message, [GOOD, {**GOOD, **change}]) for name, message, change in (
        ("field", r"turns\[1\] has the field 'txt'; known are speaker, text", {"txt": "x"}),
        ("field int", r"turns\[1\] has the field 5", {5: "x"}),
        ("no text", r"turns\[1\] has neither text nor caption", {"text": None}),
        ("empty", r"turns\[1\]\['text'\] is empty", {"text": ""}),
        ("text int", r"turns\[1\]\['text'\] must be a str, got int", {"text": 5}),
        ("text long", r"turns\[1\]\['text'\] may have up to 1,000,000", {"text": HUGE}),
        ("text and speaker long", r"1,000,000 characters, got 1,000,005", {"text": "x" * 10**6}),
        ("text surrogate", r"turns\[1\]\['text'\] has a lone surrogate", {"text": LONE}),
        ("speaker int", r"turns\[1\]\['speaker'\] must be a str", {"speaker": 5}),
        ("speaker empty", r"turns\[1\]\['speaker'\] is empty", {"speaker": ""}),
        ("caption int", r"turns\[1\]\['caption'\] must be a str", {"caption": 5}),
        ("caption surrogate", r"turns\[1\]\['caption'\] has a lone", {"caption": LONE}),
        ("id int", r"turns\[1\]\['id'\] must be a str", {"id": 5}),
        ("id empty", r"turns\[1\]\['id'\] is empty", {"id": ""}),
        ("id surrogate", r"turns\[1\]\['id'\] has a lone", {"id": LONE}),
        ("at naive str", r"turns\[1\]\['at'\] has no time zone", {"at": "2024-05-04T10:00:00"}),
        ("at naive", r"turns\[1\]\['at'\] has no time zone", {"at": NAIVE}),
        ("at date", r"turns\[1\]\['at'\] must be a datetime", {"at": date(2024, 5, 4)}),
        ("at words", r"turns\[1\]\['at'\] is not ISO 8601: 'noon'", {"at": "noon"}),
        ("at impossible", r"turns\[1\]\['at'\] is not ISO 8601", {"at": "2023-02-29T00:00:00Z"}),
        ("at int", r"turns\[1\]\['at'\] must be a datetime or ISO 8601, got int", {"at": 5}),
        ("metadata list", r"turns\[1\]\['metadata'\] must be a dict", {"metadata": []}),
        ("metadata zero", r"turns\[1\]\['metadata'\] must be a dict", {"metadata": 0}),
        ("metadata nan", r"turns\[1\]\['metadata'\] holds a NaN", {"metadata": {"a": np.nan}}),
    )),
    *(bad(name, message, [GOOD], **options) for name, message, options in (
        ("document int", "document_id must be a str, got int", {"document_id": 5}),
        ("document none", "document_id must be a str, got NoneType", {"document_id": None}),
        ("document empty", "document_id is empty", {"document_id": " "}),
        ("document surrogate", "document_id has a lone surrogate", {"document_id": LONE}),
        ("context int", "context must be a str", {"context": 5}),
        ("network", "network must be one of world, agent, opinion, got 'x'", {"network": "x"}),
        ("tags str", "tags must be a list of str, got a str", {"tags": "x"}),
        ("tags int", "tags must be a list", {"tags": 5}),
        ("replace", "replace must be True or False, got 'yes'", {"replace": "yes"}),
        ("recorded", "recorded_at has no time zone", {"recorded_at": NAIVE}),
        ("recorded early", "recorded_at must be later", {"recorded_at": AT}),
    )),
    bad("nothing in a bad document", "document_id must be a str", [], document_id=5, replace=True),
    bad("no model", "came without vectors", [GOOD], error=ModelError),
]  # fmt: skip


@pytest.mark.parametrize("args, options, error, message", DIALOGUE)
@pytest.mark.parametrize("replace", [False, True])
def test_retain_dialogue(agent, args, options, error, message, replace):
    options = {"document_id": "d", "replace": replace, **options}
    refuses(lambda: agent.retain_dialogue(*args, **options), error, message)


RECALL = [
    *(bad(f"query {type(x).__name__}", "query must be a str, got", x)
      for x in (None, b"x", 5, ["x"], {"x": 1}, Odd())),
    bad("empty", "query is empty", " "),
    bad("long", "query may have up to 20,000 characters, got 20,001", "x" * 20_001),
    bad("surrogate", "query has a lone surrogate at character 4", LONE),
    *(bad(f"{name} {value!r}", rf"{name} must {message}", "x", **{name: value})
      for name, most in (("thinking_budget", 100_000), ("max_tokens", 2**31))
      for value, message in (
        (0, rf"lie in \[1, {most}\], got 0"),
        (-1, rf"lie in \[1, {most}\], got -1"),
        (most + 1, rf"lie in \[1, {most}\], got {most + 1}"),
        (2**64, rf"lie in \[1, {most}\], got {2**64}"),
        (True, "be an int, got bool"),
        (1.5, "be an int, got float"),
        ("5", "be an int, got str"),
        (None, "be an int, got NoneType"),
        (float("nan"), "be an int, got float"),
    )),
    *(bad(f"networks {value!r}", message, "x", networks=value) for value, message in (
        ("none", "network must be one of world, agent, opinion, got 'none'"),
        (["world", "x"], "network must be one of"),
        ([0], "network must be one of"),
        (0, "networks must be a str or a list of str, got"),
        ([], "networks is empty"),
        ({"world": 1}, "networks must be a str or a list of str, got"),
    )),
    *(bad(f"{name} {value!r:.12}", f"{name} {message}", "x", **{name: value})
      for name in ("since", "until", "now")
      for value, message in (
        (NAIVE, "has no time zone"),
        (date(2024, 1, 1), "must be a datetime"),
        ("2024-01-01T00:00:00Z", "must be a datetime"),
        (0, "must be a datetime"),
    )),
    bad("interval empty", "since must be earlier than until, got since 2024-05-04 .*swap", "x",
        since=AT, until=AT),
    bad("interval backwards", "since must be earlier than until", "x", since=LATER, until=AT),
    *(bad(f"names {name}", message, "x", **{option: value})
      for name, (option, message, value) in NAMES.items() if "too" not in name),
    *(bad(f"where {name}", message.replace("metadata", "where"), "x", where=value)
      for name, (message, value) in METADATA.items()),
    bad("where list", "where must be a dict, got list", "x", where=[]),
    bad("document int", "document_id must be a str", "x", document_id=5),
    bad("document list", "document_id must be a str", "x", document_id=["x"]),
    bad("document empty", "document_id is empty", "x", document_id=""),
    bad("document surrogate", "document_id has a lone", "x", document_id=LONE),
    bad("exact", "exact must be True or False, got 1", "x", exact=1),
    bad("explain", "explain must be True or False, got 'yes'", "x", explain="yes"),
    *(bad(f"vector {name}",
          message.replace("embedding", "query_embedding")
          .replace("(1, 32\\)", "(32,\\)").replace("(1, 1, 32\\)", "(1, 32\\)")
          .replace("(1, 31", "(31,").replace("(1, 33", "(33,")
          .replace("got \\(1,\\)", "got \\(\\)"),
          "x", query_embedding=value)
      for name, (message, value) in VECTORS.items()),
]  # fmt: skip


@pytest.mark.parametrize("args, options, error, message", RECALL)
def test_recall(agent, args, options, error, message):
    refuses(lambda: agent.recall(*args, **{"query_embedding": V, **options}), error, message)


@pytest.mark.parametrize("args, options, error, message", RECALL)
def test_recall_of_an_agent_that_is_new(store, args, options, error, message):
    options = {"query_embedding": V, **options}
    refuses(lambda: store.agent("new").recall(*args, **options), error, message)


RECALL_MANY = [
    *(bad(f"queries {type(x).__name__}", "queries must be a list of str, got", x)
      for x in (None, 5, "x", b"x", {"x": 1}, Odd())),
    bad("a query", "query is empty", ["x", ""]),
    bad("an option", "thinking_budget must be an int", ["x"], thinking_budget="5"),
    bad("vectors", "query_embedding must have one row a query: 2 queries, got 1 row", ["x", "y"],
        query_embedding=[V]),
    bad("vectors int", "query_embedding must be a list", ["x"], query_embedding=5),
    bad("vectors flat", r"query_embedding must have shape \(32,\), got \(\)", ["x"] * D,
        query_embedding=V),
    bad("vector nan", "query_embedding holds a NaN", ["x"], query_embedding=[[np.nan] * D]),
]  # fmt: skip


@pytest.mark.parametrize("args, options, error, message", RECALL_MANY)
def test_recall_many(agent, args, options, error, message):
    queries = args[0] if isinstance(args[0], list) else ["x"]
    options = {"query_embedding": [V] * len(queries), **options}
    refuses(lambda: agent.recall_many(*args, **options), error, message)


IDS = [
    *(bad(f"{type(x).__name__}", "id must be a", x) for x in (None, 5, b"x", {"x": 1}, Odd(), 1.5)),
    bad("empty", "id is empty", ""),
    bad("surrogate", "id has a lone surrogate", LONE),
    bad("long", "id may have up to 1,000 characters", "x" * 1001),
    bad("unknown", "agent 'a' has no memory with id 'nobody'", "nobody", error=UnknownIdError),
    bad("NUL", r"has no memory with id 'm1\\x00'", "m1\0", error=UnknownIdError),
]  # fmt: skip
GONE = bad("forgotten", "agent 'a' has no memory with id 'gone'", "gone", error=UnknownIdError)


@pytest.mark.parametrize("args, options, error, message", [*IDS, GONE])
def test_get_and_forget(agent, args, options, error, message):
    refuses(lambda: agent.get(*args), error, message)
    refuses(lambda: agent.forget(*args), error, message)
    refuses(lambda: agent.forget(["m1", *args]), error, message)  # and m1 stays


def test_an_unknown_id_is_a_key_error_and_a_value_error(store, agent):
    for call in (lambda: agent.get("x"), lambda: agent.forget("x"), lambda: agent.list(after="x")):
        error = refuses(call, UnknownIdError, "no memory with id 'x'")
        assert isinstance(error, KeyError) and isinstance(error, ValueError)
        assert (error.id, error.agent) == ("x", "a")
        assert str(error) == "agent 'a' has no memory with id 'x'"
    for call in (
        lambda: store.agent("new").get("x"),
        lambda: store.agent("new").forget("x"),
        lambda: store.agent("new").list(after="x"),
    ):
        refuses(call, UnknownIdError, "agent 'new' has no memory with id 'x'")
    assert store.agents() == ["a"]


@pytest.mark.parametrize(
    "args, options, error, message", [each for each in IDS if each.id != "NoneType"]
)
def test_list_after(agent, args, options, error, message):
    refuses(lambda: agent.list(after=args[0]), error, message)


@pytest.mark.parametrize("limit", [0, -1, 1_000_001, 2**70, True, 1.5, "5", None])
def test_list_limit(agent, limit):
    refuses(
        lambda: agent.list(limit=limit),
        InputError,
        r"limit must (lie in \[1, 1000000\]|be an int), got",
    )


@pytest.mark.parametrize("name, message", [
    ("", "agent_id is empty"),
    (" ", "agent_id is empty"),
    (None, "agent_id must be a str, got NoneType"),
    (5, "agent_id must be a str, got int"),
    (b"a", "agent_id must be a str, got bytes"),
    (["a"], "agent_id must be a str, got list"),
    (LONE, "agent_id has a lone surrogate"),
    ("x" * 81, "agent_id may have up to 80 characters, got 81"),
    ("\u6f22" * 40, "agent_id takes 360 bytes as a folder's name, at most 255"),
])  # fmt: skip
def test_agent_ids(store, path, name, message):
    before = sorted(path.rglob("*"))
    refuses(lambda: store.agent(name), InputError, message)
    assert sorted(path.rglob("*")) == before


@pytest.mark.parametrize(
    "name",
    [
        "..",
        ".",
        "../x",
        "a/b",
        "/etc/x",
        "a\0b",
        "\\..\\x",
        "%2E%2E",
        "CON",
        "~",
        "a b",
        "Ä",
        "x" * 80,
    ],
)
def test_no_agent_id_leaves_the_store(tmp_path, name):
    path = tmp_path / "in" / "store"
    with recollex.open(path, embedder=recollex.GivenVectors(D)) as store:
        store.agent(name).retain("Some text.", id="1", embedding=V)
        assert store.agents() == [name]
        assert len(store.agent("other").list()) == 0
        (folder,) = (path / "agents").iterdir()
        assert folder.parent.resolve() == (path / "agents").resolve() and folder.is_dir()
        assert [each.name for each in tmp_path.iterdir()] == ["in"]
        assert [each.name for each in (tmp_path / "in").iterdir()] == ["store"]
    with recollex.open(path, embedder=recollex.GivenVectors(D), read_only=True) as store:
        assert store.agent(name).get("1").text == "Some text."


@pytest.mark.parametrize("options, message", [
    ({"durability": "sometimes"}, "durability must be one of always, interval, off, got 'some"),
    ({"durability": None}, "durability must be one of"),
    ({"durability": []}, "durability must be one of"),
    ({"threads": 0}, r"threads must be an int in \[1, 256\], got 0"),
    ({"threads": 1.5}, "threads must be an int"),
    ({"threads": True}, "threads must be an int"),
    ({"threads": 2**40}, r"in \[1, 256\]"),
    ({"language": "klingon"}, "language must be one of .*english.*, got 'klingon'|klingon"),
    ({"language": None}, "language must be one of"),
    ({"language": ["english"]}, "language must be one of"),
    ({"clock": 5}, "clock must be a function that returns a datetime, got int"),
    ({"clock": AT}, "clock must be a function"),
    ({"embedder": 5}, "embedder must be .* got int"),
    ({"embedder": Odd()}, "embedder must be .* got Odd"),
    ({"embedder": b"x"}, "embedder must be .* got bytes"),
    ({"read_only": "yes"}, "read_only must be True or False, got 'yes'"),
])  # fmt: skip
def test_open_options(tmp_path, options, message):
    refuses(lambda: recollex.open(tmp_path / "new", **options), InputError, message)
    assert not (tmp_path / "new").exists()


def test_open_paths(tmp_path):
    (tmp_path / "file").write_text("x")
    for path, message in (
        (tmp_path / "file", "file is a file: a store is a folder"),
        (tmp_path / "file" / "x", "^path .*file/x. cannot be a folder"),
        (str(tmp_path / "a\0b"), "path .* cannot be a folder: .*null"),
        (str(tmp_path / ("x" * 300)), "path .* cannot be a folder: .*too long"),
        ("", "path is empty"),
        (None, "path must be a folder's name, got NoneType"),
        (5, "path must be a folder's name, got int"),
        (b"/tmp/x", "path must be a folder's name, got bytes"),
    ):
        refuses(lambda path=path: recollex.open(path).agent("a"), InputError, message)
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_stores_of_other_versions_and_damaged_ones(tmp_path):
    for content, error, message in (
        (b'{"recollex_store":2}', FormatError, "store of format 2, this recollex reads format 1"),
        (b'{"recollex_store":"1"}', FormatError, "store of format 1"),
        (b"", CorruptError, "store.json: expected"),
        (b"[]", CorruptError, "store.json: expected"),
        (b"{}", CorruptError, "store.json: expected"),
        (b"\xff", CorruptError, "store.json: expected"),
    ):
        (tmp_path / "store.json").write_bytes(content)
        for read_only in (False, True):
            refuses(lambda r=read_only: recollex.open(tmp_path, read_only=r), error, message)
        assert (tmp_path / "store.json").read_bytes() == content
    (tmp_path / "store.json").unlink()
    (tmp_path / "store.json").mkdir()
    refuses(lambda: recollex.open(tmp_path), CorruptError, "store.json: expected .* found a folder")


def test_an_unknown_model_is_named(tmp_path):
    with recollex.open(tmp_path / "s", embedder="no-such-model-anywhere") as store:
        refuses(lambda: store.agent("a").retain("x"), ModelError, "no-such-model-anywhere")
        assert store.agents() == []
        assert store.agent("a").stats().memories == 0


def test_a_closed_store_says_so(tmp_path):
    store = recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(D))
    held, new = store.agent("held"), store.agent("new")
    held.retain("Some text.", id="1", embedding=V)
    recall = held.recall("text", query_embedding=V)
    store.close()
    store.close()
    for agent in (held, new):
        for call in (
            lambda a=agent: a.retain("x", embedding=V),
            lambda a=agent: a.retain([]),
            lambda a=agent: a.retain_dialogue([], document_id="d"),
            lambda a=agent: a.recall("x", query_embedding=V),
            lambda a=agent: a.recall_many(["x"], query_embedding=[V]),
            lambda a=agent: a.get("1"),
            lambda a=agent: a.list(),
            lambda a=agent: a.forget("1"),
            lambda a=agent: a.forget([]),
            lambda a=agent: a.stats(),
            lambda a=agent: a.checkpoint(),
            lambda a=agent: a.verify(),
        ):
            refuses(call, ClosedError, "was closed: open the store again")
    refuses(lambda: store.agent("held"), ClosedError, "was closed: open it again")
    refuses(store.agents, ClosedError, "was closed: open it again")
    assert recall[0].text == "Some text."  # what was recalled stays


def test_a_read_only_store_refuses_writes(path, agent):
    with recollex.open(path, embedder=recollex.GivenVectors(D), read_only=True) as store:
        before = sorted(path.rglob("*"))
        for name in ("a", "new"):
            reader = store.agent(name)
            for call in (
                lambda a=reader: a.retain("x", embedding=V),
                lambda a=reader: a.retain([]),
                lambda a=reader: a.retain_dialogue([GOOD], document_id="d"),
                lambda a=reader: a.forget("m1"),
                lambda a=reader: a.forget([]),
                lambda a=reader: a.checkpoint(),
            ):
                refuses(call, ReadOnlyError, f"agent '{name}' was opened with read_only=True")
        assert len(store.agent("a").list()) == 2
        assert store.agent("new").list() == []
        assert sorted(path.rglob("*")) == before


@pytest.mark.parametrize("value, message", [
    (NAIVE, r"clock\(\) has no time zone"),
    (5, r"clock\(\) must be a datetime"),
    (None, r"clock\(\) must be a datetime"),
])  # fmt: skip
def test_a_clock_that_is_wrong(tmp_path, value, message):
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(D), clock=lambda: value) as store:
        refuses(lambda: store.agent("a").retain("x", embedding=V), InputError, message)
        assert store.agents() == []


@pytest.mark.parametrize(
    "text", ["Last Friday.", "Next year we met in May, two weeks ago.", "In 9999, in 1."]
)
@pytest.mark.parametrize(
    "zone", [UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))]
)
@pytest.mark.parametrize("moment", [datetime.min, datetime.max])
def test_the_ends_of_time_are_times(tmp_path, moment, zone, text):
    moment = moment.replace(tzinfo=zone)
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(D), durability="off") as store:
        agent = store.agent("a")
        agent.retain(text, event_at=moment, id="1", embedding=V)
        agent.retain_dialogue(
            [{"text": text, "at": moment.isoformat(), "id": "2"}], document_id="d"
        ) if 0 else None
        found = agent.recall(text, query_embedding=V, now=moment)
        assert [each.id for each in found] == ["1"] and not found.trace.errors
        assert found[0].event_at.year in (1, 9999)
        assert found.to_prompt()
        assert found.to_dict()["memories"][0]["event_at"]
        after = agent.recall("text", query_embedding=V, since=AT)
        assert len(after) == (moment.year == 9999)
        assert agent.verify().ok


@pytest.mark.parametrize("moment", [datetime.min, datetime.max])
def test_recorded_at_the_ends_of_time(tmp_path, moment):
    moment = moment.replace(tzinfo=UTC)
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(D), durability="off") as store:
        agent = store.agent("a")
        agent.retain("Said.", recorded_at=moment, id="1", embedding=V)
        assert agent.get("1").recorded_at == moment
        if moment.year == 9999:
            refuses(lambda: agent.retain("x", recorded_at=moment, embedding=V), InputError, "later")
        agent.retain("Said after.", id="2", embedding=V)
        assert [each.id for each in agent.list()] == ["1", "2"]
        assert agent.verify().ok
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(D)) as store:
        assert len(store.agent("a").list()) == 2


def test_what_looks_odd_and_is_allowed(tmp_path):
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(D), durability="off") as store:
        agent = store.agent("a")
        for text in (
            "\0",
            "\u202e",
            "e\u0301" * 1000,
            "\U0001f600",
            "<|endoftext|>",
            '"' * 99,
            "x" * 10**6,
        ):
            (id,) = agent.retain(text, embedding=V.astype(int))
            assert agent.get(id).text == text
            agent.recall(text[:20_000], query_embedding=V.tolist())
        agent.retain("x", metadata={"a": [2**63, -(2**63), None, True, {"": ""}]}, embedding=V)
        agent.retain("x", tags=None, entities=None, metadata=None, id=[None], embedding=V)
        agent.retain(
            iter(["x", "y"]), embedding=(V, V), tags=("a", "b"), network=["world", "agent"]
        )
        assert agent.recall("x", where={"b": 1}, query_embedding=V).ids == []
        agent.recall("x", thinking_budget=np.int64(5), max_tokens=2**31, query_embedding=V)
        assert agent.verify().ok
