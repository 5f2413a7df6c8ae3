"""Retain calls that are refused: a named error says the bound and the value."""

from datetime import date

import numpy as np
import pytest

from recollex_engine.errors import InputError, ModelError
from tests.bindings.bad_input.bad_values import (
    AT,
    FIRST,
    GOOD,
    HUGE,
    LONE,
    METADATA,
    NAIVE,
    NAMES,
    VECTORS,
    D,
    Odd,
    V,
    bad,
    refuses,
)

RETAIN = [
    *(bad(f"text {type(x).__name__}", "texts must be a list of str, got", x, embedding=V)
      for x in (None, b"x", 5, {"x": 1}, {"x"}, Odd(), 1.5, np.array("x"))),
    *(bad(f"texts of {type(x).__name__}", "text must be a str, got", [x], embedding=[V])
      for x in (None, b"x", 5, {"x": 1}, ["x"], Odd())),
    bad("empty text", "text is empty", "", embedding=V),
    bad("spaces", "text is empty", " \t\n\u2003", embedding=V),
    bad("huge text", "text may have up to 1,000,000 characters, got 1,000,001", HUGE, embedding=V),
    bad("lone surrogate", "text has a lone surrogate at character 4", LONE, embedding=V),
    bad("second is bad", "text is empty", ["good", ""], embedding=np.ones((2, D))),
    bad("too many", "up to 100,000 memories, got 100,001", ["x"] * 100_001),
    bad("no vector", "^1 text came without vectors", "x", error=ModelError),
    *(bad(f"vector {name}", message, "x", embedding=value)
      for name, (message, value) in VECTORS.items()),
    bad("nan in row 1", "in row 1", ["x", "y"], embedding=[V, [np.nan] * D]),
    bad("one vector for two", r"shape \(2, 32\), got \(1, 32\)", ["x", "y"], embedding=[V]),
    bad("vectors for none", r"shape \(0, 32\), got \(1, 32\)", [], embedding=[V]),
    *(bad(f"event_at {name}", message, "x", embedding=V, event_at=value)
      for name, message, value in (
        ("naive", "event_at has no time zone: 2024-05-04T10:00:00", NAIVE),
        ("date", "event_at must be a datetime", date(2024, 5, 4)),
        ("words", "event_at is not ISO 8601: 'noon'; 2024-05-04T10:00:00Z is", "noon"),
        ("naive str", "event_at has no time zone: .*.*write 2024-05-04T10:00:00Z", "2024-05-04T10"),
        ("number", "event_at must be a datetime", 1714816800),
        ("list of naive", "event_at has no time zone", [NAIVE]),
        ("list of a year", "event_at is not ISO 8601", ["2024"]),
        ("list of two", "event_at must have one item a text: 1 texts, got 2", [AT, AT]),
    )),
    *(bad(f"recorded_at {name}", message, "x", embedding=V, recorded_at=value)
      for name, message, value in (
        ("naive", "recorded_at has no time zone", NAIVE),
        ("text", "recorded_at has no time zone", "2024-05-04"),
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


def retaining(agent, args):
    return agent.retain if isinstance(args[0], str) else agent.retain_many


def test_one_text_is_a_str(agent):
    for text in (None, b"x", 5, {"x": 1}, {"x"}, 1.5):
        refuses(lambda text=text: agent.retain(text), InputError, "text must be a str, got")
    for text in (["x"], ("x", "y"), []):
        refuses(lambda text=text: agent.retain(text), InputError, "retain_many takes several texts")
    refuses(lambda: agent.retain_many("x"), InputError, "texts must be a list of str, got str")


@pytest.mark.parametrize("args, options, error, message", RETAIN)
def test_retain(agent, args, options, error, message):
    refuses(lambda: retaining(agent, args)(*args, **options), error, message)


@pytest.mark.parametrize("args, options, error, message", RETAIN)
def test_retain_of_an_agent_that_is_new_leaves_no_file(store, path, args, options, error, message):
    if "later" in message:
        return
    before = sorted(path.rglob("*"))
    refuses(lambda: retaining(store.agent("new"), args)(*args, **options), error, message)
    assert sorted(path.rglob("*")) == before
    assert store.agents() == ["a"]


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
        ("speaker int", r"turns\[1\]\['speaker'\] must be a str", {"speaker": 5}),
        ("speaker empty", r"turns\[1\]\['speaker'\] is empty", {"speaker": ""}),
        ("caption int", r"turns\[1\]\['caption'\] must be a str", {"caption": 5}),
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
