"""A client of a socket and a MessagePack library alone, written after bindings/PROTOCOL.md."""

import json
import re
import struct
import time
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest

from recollex.api.conditions import CONDITIONS
from recollex.remote.wire.messages import CAPABILITIES
from recollex.remote.wire.methods import METHODS
from recollex.remote.wire.records import ARGUMENTS, RESULTS
from recollex_engine import errors
from recollex_engine.storage.formats import VERSION
from tests.bindings.serving import VECTOR, Raw, Told, given, serving

PAGE = (Path(__file__).parents[2] / "bindings" / "PROTOCOL.md").read_text("utf-8")
MOMENT, ARRAY, DEFLATED, RECORD = 1, 3, 4, 5


def moment(micros: int) -> msgpack.ExtType:
    return msgpack.ExtType(MOMENT, struct.pack(">q", micros))


def array(values: Any) -> msgpack.ExtType:
    data = np.asarray(values, "<f4")
    head = b"4" + bytes([data.ndim]) + struct.pack(f">{data.ndim}I", *data.shape)
    return msgpack.ExtType(ARRAY, head + data.tobytes())


def record(value: msgpack.ExtType) -> tuple[str, dict[str, Any]]:
    assert value.code == RECORD
    unpacker = msgpack.Unpacker()
    unpacker.feed(value.data)
    return unpacker.unpack(), unpacker.unpack()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("store") / "memory") as server:
        yield server.addresses[0]


@pytest.fixture
def client(address: str) -> Iterator[Raw]:
    with Raw(address) as client:
        yield client


def retain(client: Raw, agent: str, texts: list[str]) -> list[str]:
    vectors = array(np.tile(VECTOR, (len(texts), 1)))
    arguments = {"texts": texts, "embedding": vectors, "event_at": moment(1_700_000_000_000_000)}
    ids: list[str] = client.call("retain_many", agent, arguments)
    return ids


def test_the_greeting(client: Raw) -> None:
    assert client.greeting["protocol"] == 1
    assert client.greeting["server"].startswith("recollex/")
    assert client.greeting["capabilities"] == list(CAPABILITIES)
    assert client.greeting["limits"]["in_flight"] == 64
    assert client.call("ping", None, {}) is None


def test_a_recall_comes_as_columns(client: Raw) -> None:
    ids = retain(client, "columns", ["Alice joined Google.", "Bob likes tea."])
    name, recall = record(
        client.call("recall", "columns", {"query": "tea", "query_embedding": array(VECTOR)})
    )
    assert (name, recall["query"], recall["count"]) == ("Recall", "tea", 2)
    memories = msgpack.unpackb(recall["memories"])
    ends = [0, *struct.unpack("<4q", memories["ends"])]
    strings = [memories["strings"][start:end].decode() for start, end in pairwise(ends)]
    assert strings == [ids[1], ids[0], "Bob likes tea.", "Alice joined Google."]
    numbers = struct.unpack("<12q", memories["numbers"])
    said, began, ended, recorded, network, tokens = (numbers[i : i + 2] for i in range(0, 12, 2))
    assert said == began == (1_700_000_000_000_000,) * 2
    assert ended == (said[0] + 1,) * 2 and min(recorded) > said[0]
    assert network == (0, 0) and 0 < sum(tokens) < recall["tokens"]
    first, second = struct.unpack("<2d", memories["score"])
    assert first > second > 0
    assert struct.unpack("<2I", memories["ranks"]["keyword"]) == (1, 0)
    assert record(recall["trace"])[0] == "Trace"


def test_a_record_is_a_name_and_its_fields(client: Raw) -> None:
    retain(client, "records", ["Alice joined Google."])
    name, memory = record(client.call("list", "records", {})[0])
    assert name == "Memory" and memory["text"] == "Alice joined Google."
    assert memory["event_at"] == moment(1_700_000_000_000_000)
    text = msgpack.ExtType(RECORD, msgpack.packb("Text") + msgpack.packb({"value": "blue"}))
    arguments = {"subject": "Alice", "predicate": "likes", "object": text, "id": "f1"}
    assert client.call("facts.add", "records", arguments) == "f1"
    _, fact = record(client.call("facts.get", "records", {"id": "f1"}))
    assert (fact["kind"], fact["object"], fact["conflicts"]) == ("text", "blue", [])


def test_a_deflated_array_is_the_same_one(client: Raw) -> None:
    plain = array(VECTOR)
    deflated = msgpack.ExtType(
        DEFLATED, struct.pack(">I", len(plain.data)) + zlib.compress(plain.data)
    )
    id = client.call("retain", "deflated", {"text": "Tea.", "embedding": deflated, "id": "t"})
    assert id == "t"


def test_answers_come_in_any_order_and_all_of_them(client: Raw) -> None:
    retain(client, "pipeline", ["Tea."])
    ids = {client.send("list", "pipeline", {}) for _ in range(200)}
    assert {client.receive()[1] for _ in ids} == ids


def test_a_list_in_parts(client: Raw) -> None:
    retain(client, "parts", [f"Number {number}." for number in range(7)])
    id = client.send("list", "parts", {}, {"parts": 3})
    messages = [client.receive() for _ in range(4)]
    assert [message[:2] for message in messages[:3]] == [[2, "part"]] * 3
    assert [message[2][0] for message in messages[:3]] == [id] * 3
    texts = [record(item)[1]["text"] for message in messages[:3] for item in message[2][1]]
    assert texts == [f"Number {number}." for number in range(7)]
    assert messages[3] == [1, id, None, []]


def test_asking_the_past(client: Raw) -> None:
    retain(client, "past", ["Tea."])
    then = time.time_ns() // 1000
    client.call("forget", "past", {"id": client_ids(client, "past")[0]})
    assert client_ids(client, "past") == []
    (memory,) = client.call("list", "past", {}, {"at": moment(then)})
    assert record(memory)[1]["text"] == "Tea."


def test_messagepacks_own_timestamp_is_a_time(client: Raw) -> None:
    said = datetime(2024, 5, 1, 9, 30, tzinfo=UTC)

    def stamp(at: datetime) -> msgpack.Timestamp:
        return msgpack.Timestamp.from_datetime(at)

    arguments = {"text": "Tea.", "embedding": array(VECTOR), "event_at": stamp(said), "id": "t"}
    assert client.call("retain", "stamps", arguments) == "t"
    _, memory = record(client.call("get", "stamps", {"id": "t"}))
    assert memory["event_at"] == moment(int(said.timestamp()) * 1_000_000)
    then = stamp(datetime.now(UTC))
    client.call("forget", "stamps", {"id": "t"})
    assert len(client.call("list", "stamps", {}, {"at": then})) == 1
    assert client.call("count", "stamps", {"until": stamp(said)}, {"at": then}) == 0
    late = arguments | {"event_at": msgpack.Timestamp(253_402_300_800)}
    with pytest.raises(Told, match="years 1 to 9999") as told:
        client.call("retain", "stamps", late)
    assert told.value.name == "InputError"
    assert client.call("ping", None, {}) is None


# What pynvim 0.6.0 sends over `socket_session`, and with `request("hello", None, {...}, {})` after.
PYNVIM_BEGINS = (
    b"\x93\x02\xc4\x14nvim_set_client_info\x95\xaepython3-client\x84\xa5major\x00\xa5minor\x06\xa5patch"
    b"\x00\xaaprerelease\xa0\xa6remote\x80\x82\xa7license\xa9Apache v2\xa7website\xb8github.com/"
    b"neovim/pynvim\x94\x00\x01\xa5hello\x93\xc0\x81\xa8protocol\x01\x80"
)


def test_a_session_of_pynvim_works_as_it_is(address: str) -> None:
    with Raw(address, hello={}) as client:
        client.write(PYNVIM_BEGINS)
        kind, id, error, greeting = client.receive()
        assert (kind, id, error, greeting["protocol"]) == (1, 1, None, 1)
        assert client.call("ping", None, {}) is None


def test_what_is_no_request_of_this_version_is_ignored(address: str) -> None:
    with Raw(address, hello={}) as client:
        for method in ("later", b"later", b"\xff", "cancel", b"cancel"):
            client.write(msgpack.packb([2, method, []]))
        assert client.call("hello", None, {"protocol": 1})["protocol"] == 1


def client_ids(client: Raw, agent: str) -> list[str]:
    return [record(memory)[1]["id"] for memory in client.call("list", agent, {})]


def test_a_keyed_write_is_done_once(client: Raw) -> None:
    arguments = {"text": "Said once.", "embedding": array(VECTOR)}
    first = client.call("retain", "keyed", arguments, {"key": "a"})
    assert client.call("retain", "keyed", arguments, {"key": "a"}) == first
    assert client.call("retain", "keyed", arguments, {"key": "b"}) != first
    assert len(client_ids(client, "keyed")) == 2


def test_a_key_is_of_one_write_with_its_values(client: Raw) -> None:
    agent = "values"
    said = {"text": "Said once.", "id": "m", "embedding": array(VECTOR)}
    first = client.call("retain", agent, said, {"key": "a"})
    others: list[tuple[str, dict[str, Any]]] = [
        ("retain", said | {"text": "Said twice."}),
        ("retain", said | {"embedding": array(-VECTOR)}),
        ("retain", said | {"event_at": msgpack.Timestamp(1)}),
        ("forget", {"id": "m"}),
        ("erase", {"everything": True, "by": "Ann", "why": "It is hers."}),
        ("delete_agent", {}),
    ]
    for method, arguments in others:
        with pytest.raises(Told, match="key 'a' was given to another call before") as told:
            client.call(method, agent, arguments, {"key": "a"})
        assert told.value.name == "InputError"
    assert client.call("retain", agent, dict(reversed(said.items())), {"key": "a"}) == first
    assert client_ids(client, agent) == ["m"]


def test_errors_are_told_by_name(client: Raw) -> None:
    with pytest.raises(Told) as told:
        client.call("get", "nobody", {"id": "x"})
    name, message, data = told.value.args
    assert name == "UnknownIdError" and "nobody" in message
    assert data == {"kind": "memory", "id": "x", "agent": "nobody"}
    for method, agent, arguments, words in [
        ("nothing", "a", {}, "there is no method 'nothing'"),
        ("get", "a", {"name": "x"}, "get takes default, id, got name"),
        ("get", None, {"id": "x"}, "needs an agent's id"),
        ("agents", "a", {}, "names no agent"),
        ("retain", "a" * 81, {"text": "Tea."}, "80 characters"),
    ]:
        with pytest.raises(Told, match=re.escape(words)) as told:
            client.call(method, agent, arguments)
        assert told.value.name == "InputError"
    assert client.call("ping", None, {}) is None  # none of them ended the connection


def test_no_time_left_is_told_before_anything_is_done(client: Raw) -> None:
    with pytest.raises(Told) as told:
        client.call(
            "retain", "late", {"text": "Tea.", "embedding": array(VECTOR)}, {"deadline_ms": 0}
        )
    assert told.value.args[0] == "DeadlineError" and told.value.args[2] == {"begun": False}
    assert client_ids(client, "late") == []


def test_what_is_cancelled_before_it_begins_is_not_done(client: Raw) -> None:
    retain(client, "cancel", ["Tea."])
    ids = [client.send("list", "cancel", {}) for _ in range(64)]
    client.write(b"".join(msgpack.packb([2, "cancel", [id]]) for id in [*ids, 99_999]))
    answers = {message[1]: message[2] for message in (client.receive() for _ in ids)}
    told = [error for error in answers.values() if error is not None]
    assert set(answers) == set(ids) and told
    assert {error[0] for error in told} == {"CancelledError"}


@pytest.mark.parametrize("agent", ["../../etc", "..", ".", "a/b", "a\\b", "a\x00b", "%2e%2e", "é"])
def test_an_agent_cannot_leave_the_store(client: Raw, address: str, agent: str) -> None:
    folder = Path(address.removeprefix("unix://")).parent
    client.call("retain", agent, {"text": "Tea.", "embedding": array(VECTOR)})
    assert agent in client.call("agents", None, {})
    assert {path.name for path in folder.iterdir()} == {"memory", "socket"}
    assert {path.name for path in (folder / "memory").iterdir()} == {"agents", "store.json"}


def test_the_page_names_what_there_is() -> None:
    rows = re.findall(r"^\| `([a-z_.]+)` \| (read|write) \| (.*) \|$", PAGE, re.M)
    assert {name: scope for name, scope, _ in rows} == {
        name: method.scope for name, method in METHODS.items()
    }
    (of_filter,) = re.findall(r"^The arguments of a filter: (.*?)\n\n", PAGE, re.M | re.S)
    prose = {"and", "the", "former", "names", "of", "two"}
    assert set(CONDITIONS) == set(re.findall(r"\w+", of_filter)) - prose
    for name, _, arguments in rows:
        own = set(re.findall(r"\w+", re.split("(, and )?those of", arguments)[0]))
        assert own <= METHODS[name].arguments, name
        if "those of a filter" in arguments:
            own |= set(CONDITIONS)
        assert own == METHODS[name].arguments or "those of `recall`" in arguments, name
    for name in [*ARGUMENTS, *RESULTS]:
        assert re.search(rf"`{name}[`(]", PAGE), name
    for name in re.findall(r"`(\w+Error)`", PAGE):
        assert hasattr(errors, name)


def test_the_store_is_as_the_embedded_one_would_be(tmp_path: Path) -> None:
    with serving(tmp_path / "memory") as server, Raw(server.addresses[0]) as client:
        retain(client, "alice", ["Alice joined Google."])
    with given(tmp_path / "memory") as store:
        assert [memory.text for memory in store.agent("alice").list()] == ["Alice joined Google."]
    assert not (tmp_path / "socket").exists()
    said = json.loads((tmp_path / "memory" / "store.json").read_text())
    assert said == {"recollex_store": 1, "written_by": VERSION}
