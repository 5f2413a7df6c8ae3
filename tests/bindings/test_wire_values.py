"""Values, errors and methods on their way from one end to the other."""

import inspect
import pickle
import types
from dataclasses import fields
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollex
from recollex.api.events import Events
from recollex.api.facts import Facts
from recollex.api.jobs import Jobs
from recollex.api.opinions import AgentProfile, Opinions
from recollex.api.sessions import Sessions
from recollex.api.tools import Tools
from recollex.remote.wire.codec import Decoder, Undecoded, decode, encode
from recollex.remote.wire.error_codec import ERRORS, decode_error, encode_error
from recollex.remote.wire.messages import joined
from recollex.remote.wire.methods import JOINT, LOCAL, METHODS
from recollex.remote.wire.records import ALL, ARGUMENTS, record
from recollex_engine import errors
from recollex_engine.errors import InputError, ProtocolError

moments = st.datetimes(
    datetime(1, 1, 3), datetime(9999, 12, 29), timezones=st.sampled_from([UTC, timezone.max])
)
flat = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(allow_nan=False),
    st.text(max_size=20),
    st.binary(max_size=20),
    moments,
    st.timedeltas(timedelta(days=-9999), timedelta(days=9999)),
)
values = st.recursive(
    flat,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
)


@settings(deadline=None)
@given(values)
def test_a_value_arrives_as_it_was(value: object) -> None:
    assert decode(encode(value)) == value


@settings(deadline=None)
@given(
    st.sampled_from(["f2", "f4", "f8", ">f4"]),
    st.lists(st.integers(0, 5), max_size=3),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_an_array_arrives_to_the_bit(kind: str, shape: list[int], deflate: bool, seed: int) -> None:
    array = np.random.default_rng(seed).normal(size=[each * 7 for each in shape]).astype(kind)
    arrived = decode(encode(array, deflate))
    assert arrived.dtype == array.dtype.newbyteorder("<") and arrived.shape == array.shape
    assert arrived.tobytes() == array.astype(arrived.dtype).tobytes()


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_timestamp_of_messagepack_is_a_moment(moment: datetime) -> None:
    assert decode(msgpack.packb({"at": [moment]}, datetime=True)) == {"at": [moment]}
    text = msgpack.packb("Text") + msgpack.packb({"value": moment}, datetime=True)
    decoder = Decoder(ARGUMENTS)
    assert decoder.decode(msgpack.packb(msgpack.ExtType(5, text))) is None
    assert "str" in str(decoder.refused)


@pytest.mark.parametrize("seconds", [-62_135_596_801, 253_402_300_800, 2**62])
def test_a_timestamp_beyond_the_calendar_refuses_its_request_alone(seconds: int) -> None:
    stamp = msgpack.packb(msgpack.Timestamp(seconds))
    record = msgpack.packb(msgpack.ExtType(5, msgpack.packb("Text") + b"\x81\xa5value" + stamp))
    decoder = Decoder(ARGUMENTS)
    for beyond in (stamp, record):
        assert decoder.decode(b"\x92" + beyond + b"\x07")[1] == 7
        assert str(decoder.refused) == "a timestamp must lie in the years 1 to 9999"
        assert decoder.decode(b"\x07") == 7 and decoder.refused is None


def test_a_timestamp_that_is_none_is_no_message() -> None:
    for wrong in (b"\xd4\xff\x00", b"\xd7\xff" + b"\xff" * 8):
        with pytest.raises(ProtocolError, match="not a message"):
            decode(wrong)


def test_what_travels_with_numbers_of_numpy() -> None:
    assert decode(encode({"k": np.int64(3), "x": np.float32(0.5), "l": np.arange(3)})) == {
        "k": 3,
        "x": 0.5,
        "l": [0, 1, 2],
    }


@pytest.mark.parametrize(
    "value", [{1, 2}, object(), 2**64, "\ud800", [datetime(2024, 1, 1)], lambda: None, 1j, int]
)
def test_what_cannot_travel_is_told_where_it_would_begin(value: object) -> None:
    with pytest.raises(InputError):
        encode(value)


def test_everything_that_an_agent_returns_arrives_equal(tmp_path: Path) -> None:
    vectors = recollex.GivenVectors(8)
    with recollex.open(tmp_path, embedder=vectors, durability="off") as store:
        agent = store.agent("alice")
        one = np.ones(8) / 8**0.5
        begun = datetime.now(UTC)
        long = " ".join(f"Sentence number {number} tells of Oslo." for number in range(90))
        ids = agent.retain_many(
            ["Ann moved to Oslo.", "Bob likes tea.", "Bob left."],
            tags=[["x"], [], []],
            metadata=[{"a": [1, {"b": None}]}, {}, {}],
            context=[None, "call", None],
            valid_until=[None, begun + timedelta(days=1), None],
            embedding=np.tile(one, (3, 1)),
        )
        agent.archive(ids[2], by="ann", why="done")
        fact = agent.facts.add(
            "Ann", "lives_in", "Oslo", evidence=ids[0], source=recollex.Source("u", "h"), by="me"
        )
        agent.facts.add("Ann", "lives_in", "Rome", valid=(begun, None))
        agent.facts.add(
            "Ann", "said", recollex.Text("tea"), mentions=[recollex.Mention("d", (0, 3), "tea")]
        )
        event = agent.events.add(
            "Moved.", participants={"Ann": "host"}, facts=[fact], span="in 2023"
        )
        episode = agent.events.add_episode("A year", [event])
        recall = agent.recall("Oslo", query_embedding=one, explain=True, pack="subgraph")
        assert long and len(recall) == 2
        now = datetime.now(UTC)
        results: list[Any] = [
            agent.list(),
            agent.history(ids[2]),
            agent.get(ids[0]),
            agent.facts.get(fact),
            agent.facts.entities(),
            agent.facts.entity("Ann"),
            agent.facts.conflicts()[0][0],
            agent.events.get(event),
            agent.events.find(),
            agent.events.get_episode(episode),
            agent.log(),
            agent.diff(begun),
            agent.stats(),
            agent.verify(),
            recall.subgraph,
            recall.signs,
            recall.trace,
        ]
        for result in results:
            arrived = decode(encode(result))
            assert arrived == result
            if hasattr(result, "to_dict"):
                assert arrived.to_dict() == result.to_dict()
        arrived = decode(encode(recall))
        assert isinstance(arrived, recollex.Recall) and list(arrived) == list(recall)
        assert arrived.to_dict() == recall.to_dict() and arrived.to_prompt() == recall.to_prompt()
        assert (arrived.ids, arrived.op, len(arrived)) == (recall.ids, recall.op, len(recall))
        arrived = Decoder(later=True).decode(encode(recall))
        assert arrived.to_dict() == recall.to_dict() and arrived.trace == recall.trace
        assert (arrived.signs, arrived.subgraph) == (recall.signs, recall.subgraph)
        again = decode(encode(arrived), ARGUMENTS)  # as `backfill` sends it back
        assert list(again) == list(recall)
        facts = agent.facts.find(subject="Ann")
        arrived = decode(encode(facts))
        assert list(arrived) == list(facts) and arrived.entities == facts.entities
        assert (arrived.ids, list(arrived[1:])) == (facts.ids, list(facts[1:]))
        for there, here in zip(arrived, facts, strict=True):
            assert hash(there) == hash(here) and there.active_at(now) == here.active_at(now)
            for name in ("source", "mentions", "by", "why", "conflicts", "uncertainty"):
                assert getattr(there, name) == getattr(here, name)
        there, here = decode(encode(agent.events.get(event))), agent.events.get(event)
        assert there.active_fact_count(now) == here.active_fact_count(now) == 1


def test_a_policy_and_a_packing_arrive_as_they_were() -> None:
    policy = recollex.WritePolicy(keep=0.5, session_gap=timedelta(minutes=5), events=("decision",))
    for value in (policy, recollex.Packing(depth=1, fan_out={"subject": 3}), recollex.Text("x")):
        assert decode(encode(value), ARGUMENTS) == value
    stats = recollex.Stats(**dict.fromkeys((field.name for field in fields(recollex.Stats)), 0))
    with pytest.raises(ProtocolError, match="a record must be one of"):
        decode(encode(stats), ARGUMENTS)


def test_every_record_is_a_class_of_its_name() -> None:
    for name in ALL:
        assert record(name).name == name


@pytest.mark.parametrize(
    "error",
    [
        errors.UnknownIdError("x", "a", "fact"),
        errors.OverloadedError("too many calls wait", 0.5),
        errors.MovedError("agent 'a' is another node's", "tcp://10.0.0.5:7077"),
        errors.DeadlineError("recall", True),
        errors.StoreFullError(28, "the disk is full"),
        errors.StoreFullError(28, "the disk is full", "/x/log"),
        errors.AccessError(13, "no permission", "/x/log"),
        errors.AccessError(18, "another disk", "/x/log", None, "/y/log"),
        errors.TooManyFilesError(24, "cannot open another file", "/x/log"),
        errors.LockedError("/x/y", "process 7"),
        errors.StoreMovedError("/x/y", "no such file"),
        errors.ClosedError("closed"),
        errors.OperationError("operation 2", ValueError("what")),
        errors.FormatError("version 9"),
        errors.EncryptionError("no key"),
        errors.ModelError("none"),
        errors.ServiceError("no"),
        errors.CancelledError("before it began"),
        errors.UnauthorizedError("no token"),
        errors.ProtocolError("nil"),
        errors.DisconnectedError("gone"),
        errors.InternalError("see the log"),
        errors.RecollexError("no"),
        errors.CorruptError("/x", "a", "b"),
        errors.MergeCycleError("a", "b"),
        errors.ForbiddenError("no"),
        errors.ModelMismatchError("a", "m@1", "n@2"),
        errors.RerankError("r", "what"),
        errors.LanguageModelError("it refused", "refused"),
        errors.InputError("k must be 1"),
        errors.ReadOnlyError("no"),
    ],
)
def test_an_error_arrives_as_it_was(error: errors.RecollexError) -> None:
    arrived = decode_error(decode(encode(encode_error(error))))
    assert type(arrived) is type(error) and str(arrived) == str(error)
    assert told(arrived) == told(error)
    copied = pickle.loads(pickle.dumps(error))
    assert type(copied) is type(error) and str(copied) == str(error)
    assert told(copied) == told(error) and copied.args == error.args


def told(error: errors.RecollexError) -> dict[str, object]:
    """Return all that a caller can read from an error."""
    system = ("errno", "strerror", "filename", "filename2") if isinstance(error, OSError) else ()
    return vars(error) | {name: getattr(error, name) for name in system}


def test_each_public_error_is_sent_above() -> None:
    (marks,) = test_an_error_arrives_as_it_was.pytestmark
    assert {type(error) for error in marks.args[1]} == set(ERRORS.values())


def test_a_path_arrives_as_its_text() -> None:
    for error, field in (
        (errors.CorruptError(Path("/x/log"), 1, 2), "path"),
        (errors.AccessError(13, "no permission", Path("/x/log")), "filename"),
        (errors.StoreFullError(28, "full", b"/x/log"), "filename"),
    ):
        arrived = decode_error(decode(encode(encode_error(error))))
        assert getattr(arrived, field) == "/x/log"


@pytest.mark.parametrize(
    "data",
    [
        {"errno": "x", "filename": [1]},
        {"errno": 28, "strerror": None, "filename2": "/y"},
        {"args": "x", "filename": "/x"},
        {"errno": True, "strerror": {}},
    ],
)
def test_damaged_fields_of_an_error_harm_nothing(data: dict[str, object]) -> None:
    assert isinstance(decode_error(["StoreFullError", "full", data]), errors.StoreFullError)


def test_an_error_arrives_with_its_cause() -> None:
    error = errors.OperationError("operation 2", errors.UnknownIdError("x", "a"))
    error.__cause__ = errors.UnknownIdError("x", "a")
    arrived = decode_error(decode(encode(encode_error(error))))
    assert isinstance(arrived.__cause__, errors.UnknownIdError)


def test_an_unforeseen_error_is_told_without_its_words() -> None:
    told = encode_error(RuntimeError("a secret"))
    assert told[0] == "InternalError" and "secret" not in str(told)
    assert isinstance(decode_error(["NewError", "words", {}]), errors.InternalError)
    assert set(ERRORS) >= {"InputError", "OverloadedError"}


def public(home: type) -> set[str]:
    return {
        name
        for name, member in inspect.getmembers(home)
        if not name.startswith("_") and isinstance(member, types.FunctionType)
    }


def test_every_public_method_is_in_the_table_or_local_for_a_reason() -> None:
    homes = {
        "": recollex.Agent,
        "facts": Facts,
        "events": Events,
        "sessions": Sessions,
        "profile": AgentProfile,
        "opinions": Opinions,
        "jobs": Jobs,
        "tools": Tools,
    }
    there = {
        f"{group}.{name}".lstrip(".") for group, home in homes.items() for name in public(home)
    } | public(recollex.Store)
    assert there | {"transact", JOINT} == METHODS.keys() | LOCAL.keys()
    assert not METHODS.keys() & LOCAL.keys()
    for name, method in METHODS.items():
        if name not in ("transact", "delete_agent"):
            home = recollex.Store if method.store else homes[method.group]
            assert method.function is getattr(home, name.rpartition(".")[2]), name


def test_parts_are_joined_to_what_was_whole() -> None:
    assert joined([], "whole") == "whole"
    assert joined([[1], [2]], [3]) == [1, 2, 3]


def test_what_is_read_later_is_checked_later() -> None:
    told = {"query": "tea", "tokens": 0, "token_counter": "none", "count": 0, "op": 0}
    assert Undecoded(encode("Trace") + encode({"total": 1.5})).read().total == 1.5
    for trace in (
        Undecoded(encode("Signs") + encode({})),
        Undecoded(b""),
        Undecoded(encode("Trace") * 2),
    ):
        recall = record("Recall").build(told | {"memories": encode({}), "trace": trace})
        with pytest.raises(ProtocolError):
            _ = recall.trace
