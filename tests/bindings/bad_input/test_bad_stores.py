"""Stores that cannot be opened as asked, that are closed or read-only."""

import pytest

import recollex
from recollex_engine.errors import (
    ClosedError,
    CorruptError,
    FormatError,
    InputError,
    ModelError,
    ReadOnlyError,
)
from tests.bindings.bad_input.bad_values import AT, GOOD, NAIVE, D, Odd, V, refuses


@pytest.mark.parametrize("options, message", [
    ({"durability": "sometimes"}, "durability must be one of always, interval, off, got 'some"),
    ({"durability": None}, "durability must be one of"),
    ({"durability": []}, "durability must be one of"),
    ({"threads": 0}, r"threads must be an int in \[1, 256\], got 0"),
    ({"threads": 1.5}, "threads must be an int"),
    ({"threads": True}, "threads must be an int"),
    ({"threads": 2**40}, r"in \[1, 256\]"),
    ({"language": "klingon"}, "language must be one of .*english.*, got 'klingon'|klingon"),
    ({"language": "chinese"}, "got 'chinese': 'none' is for all others, also for Chinese"),
    ({"language": None}, "language must be one of"),
    ({"language": ["english"]}, "language must be one of"),
    ({"locale": "american"}, 'locale must be a language tag .*"en-US".*, got \'american\''),
    ({"locale": "en-us"}, "locale must be a language tag"),
    ({"locale": None}, "locale must be a language tag .* got None"),
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


def test_an_unknown_option_names_the_nearest(tmp_path):
    for wrong, meant in (
        ("langauge", "language"),
        ("entity_rules", "entity_rule"),
        ("read_onyl", "read_only"),
        ("model", "embedder"),
    ):
        with pytest.raises(TypeError, match=rf"open\(\) got .* '{wrong}'. Did you mean '{meant}'"):
            recollex.open(tmp_path / "new", **{wrong: "x"})
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
        (
            b'{"recollex_store":2}',
            FormatError,
            "has format 2, this recollex .* reads format 1: pip install",
        ),
        (b'{"recollex_store":"1"}', FormatError, "has format 1, this recollex"),
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
            lambda a=agent: a.retain_many([]),
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
                lambda a=reader: a.retain_many([]),
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
