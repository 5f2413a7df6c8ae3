"""What hostile clients send: strategies for requests, records, bombs and lines of HTTP."""

import struct
from typing import Any

import msgpack
from hypothesis import strategies as st

from recollex.remote.wire.methods import METHODS

NAMES = st.sampled_from(
    ["victim", "other", "../../up", "..", ".", "/etc/passwd", "a\0b", "\ud800", "", " ", "x" * 3000]
) | st.text(max_size=20)


def packed(value: Any) -> bytes:
    return bytes(msgpack.packb(value, unicode_errors="surrogatepass", strict_types=False))


def recorded(name: str, told: Any) -> msgpack.ExtType:
    return msgpack.ExtType(5, packed(name) + packed(told))


def recall_of(memories: Any, more: dict[str, Any]) -> msgpack.ExtType:
    """Return a recall as a client may send it, with made-up memories."""
    trace = recorded("Trace", {"stages": {}, "errors": {}, "total": 1.0, "activated": None})
    told = {"query": "a", "tokens": 1, "token_counter": "x", "time_range": None, "trace": trace}
    return recorded("Recall", told | {"op": 1, "count": 1, "memories": memories} | more)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | NAMES
    | st.binary(max_size=50)
    | st.builds(
        msgpack.ExtType,
        st.sampled_from([1, 2, 3, 4, 5, 6, 127]),
        st.binary(max_size=40) | st.sampled_from([b"\xa6Recall\x80", b"\xa6Memory\x81\xa2id\x01"]),
    ),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=8,
)
MEMORY = {
    "numbers": struct.pack("<6q", 0, 0, 1, 2, 0, 1),
    "strings": b"mtea",
    "ends": struct.pack("<2q", 1, 4),
    "score": struct.pack("<d", 0.5),
    "ranks": {"keyword": struct.pack("<I", 1)},
}
"""The columns of one memory."""
COLUMNS = st.dictionaries(
    st.sampled_from(
        [*MEMORY, "passage", "entities", "metadata", "valid_until", "closed", "scores"]
    ),
    VALUES
    | VALUES.map(lambda value: [value])
    | st.sampled_from([bytes(8), bytes(16), b"\xff" * 48, {"keyword": b"\xff" * 4}]),
).map(lambda changed: packed(MEMORY | changed))
RECALLS = st.builds(
    recall_of,
    VALUES | COLUMNS,
    st.dictionaries(st.sampled_from(["query", "tokens", "trace", "signs", "count"]), VALUES),
)
ARGUMENTS = st.dictionaries(
    st.sampled_from(sorted({name for method in METHODS.values() for name in method.arguments}))
    | NAMES,
    VALUES,
    max_size=5,
)
OPTIONS = st.dictionaries(
    st.sampled_from(["deadline_ms", "key", "at", "parts", "other"]), VALUES, max_size=3
)
ASKED = sorted(METHODS.keys() - {"delete_agent"})
"""The methods that are called. Without tokens anybody may delete an agent, the victim's too."""
REQUESTS = st.builds(
    lambda id, method, agent, arguments, options: packed(
        [0, id, method, [agent, arguments, options]]
    ),
    st.integers(1, 2**32 - 1) | VALUES,
    st.sampled_from([*ASKED, "ping", "hello", "__init__", "engine.close"]) | NAMES,
    NAMES | VALUES,
    ARGUMENTS | VALUES,
    st.just({}) | OPTIONS | VALUES,
)
BACKFILLS = st.builds(
    lambda recall: packed(
        [0, 9, "sessions.backfill", ["victim", {"recall": recall, "document_id": "d"}, {}]]
    ),
    RECALLS,
)
NOTIFICATIONS = st.builds(lambda name, told: packed([2, name, told]), NAMES, VALUES)
BOMBS = st.sampled_from(
    [
        b"\x91" * 100_000,
        b"\x81\xa1a" * 100_000,
        b"\xdd\xff\xff\xff\xff",
        b"\xdf\xff\xff\xff\xff",
        b"\xdb\xff\xff\xff\xff" + b"x" * 1000,
        b"\xc6\x7f\xff\xff\xff",
        b"\xc9\xff\xff\xff\xff\x05",
        b"\x94\x00\x01\xa6recall\x93\xa6victim\x81\xa5query\xdd\x00\xff\xff\xff",
        b"\xdc\xff\xff" + b"\xc0" * 65_535,
        b"\xc1",
        packed([0, 1, "recall", ["victim", {"query": "x" * 900_000}, {}]]),
        packed([0, 1, "retain_many", ["other", {"texts": ["x"] * 100_001}, {}]]),
        packed([0, 1, "recall", ["victim", {"where": {"a": [[]] * 50_000}}, {}]]),
    ]
)


def nested(depth: int) -> bytes:
    """Return a record that holds a record that holds a record."""
    inner = b"\xc0"
    for _ in range(depth):
        body = b"\xa6Source" + b"\x81\xa3uri" + inner
        inner = b"\xc9" + struct.pack(">I", len(body)) + b"\x05" + body
    return b"\x94\x00\x01\xa9facts.add\x93\xa6victim\x81\xa6source" + inner + b"\x80"


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Return a request with some of its bytes changed, removed or doubled."""
    data = bytearray(draw(REQUESTS))
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, max(0, len(data) - 1)))
        change = draw(st.sampled_from(["set", "cut", "double", "end"]))
        if change == "set" and data:
            data[place] = draw(st.integers(0, 255))
        elif change == "cut":
            del data[place : place + draw(st.integers(1, 8))]
        elif change == "double":
            data[place:place] = data[place : place + 8]
        else:
            del data[place:]
    return bytes(data)


MESSAGES = (
    REQUESTS
    | NOTIFICATIONS
    | BACKFILLS
    | mutated()
    | st.binary(max_size=200)
    | BOMBS
    | st.integers(1, 300).map(nested)
)
HTTP_LINES = st.sampled_from(
    [
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET " + b"/a" * 40_000 + b" HTTP/1.1\r\n\r\n",
        b"POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n",
        b"POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\n\r\nffffffff\r\n",
        b"POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b'Content-Length: 36\r\n\r\n{"agent_id": "../../x", "query": "y"}',
        b"GET /api/agents/%2e%2e%2f%2e%2e%2fetc/memories HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /api/agents/a%00b/stats HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nX: " + b"y" * 100_000,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ]
) | st.binary(max_size=200)
