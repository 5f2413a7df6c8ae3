"""Ids of memories and of agents that are refused."""

import pytest

import recollex
from recollex_engine.errors import InputError, UnknownIdError
from tests.bindings.bad_input.bad_values import LONE, D, Odd, V, bad, refuses

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
    said = "say what to forget: an id or a filter" if args == (None,) else message
    refuses(lambda: agent.forget(*args), error, said)
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
