"""A reader process: it opens the store beside the owner's process, and answers read calls.

It has one connection, to the server that started it, and ends when that connection ends. Both ends
send frames::

    frame    = length payload
    length   = uint32, big-endian, of the payload
    payload  = a value of `recollex.remote.wire.codec`, the first from the server
    first    = [opener, arguments, open_agents]         opener: "module:function"
    question = [number, method, agent, arguments, at, items, deflate]
    answer   = [number, error, chunks, result, trace]

The answer to the first frame has number 0. The server has checked each question, because it has
decoded the client's message, and encodes the question anew. error: nil, or [name, message, data];
for an unexpected error the name is "" and the message is its traceback. trace: the arguments of a
recall's `Trace`, nil for any other method. The view is taken when the question is read, and holds
all that the writer had published by then. So a client that was told of a write finds it here.
"""

import gc
import os
import signal
import socket
import struct
import sys
import tempfile
import traceback
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

import recollex
from recollex.api.keys import given_key
from recollex.api.store import Store
from recollex.remote.server.agent_cache import AgentCache
from recollex.remote.server.calls import Observer
from recollex.remote.server.framing import EncodedResult, ResultEncoder
from recollex.remote.wire.codec import decode, encode
from recollex.remote.wire.error_codec import encode_error
from recollex.remote.wire.methods import METHODS
from recollex_engine.agents.readable_agent import unwarned
from recollex_engine.errors import ClosedError, RecollexError
from recollex_engine.recall.recall import Recall
from recollex_engine.trace import Trace

LENGTH = struct.Struct(">I")
CHUNK = 1 << 16
_EMPTY = EncodedResult((), b"\xc0")


def frame(value: object) -> bytes:
    """Return a value as a frame."""
    data = encode(value)
    return LENGTH.pack(len(data)) + data


class Frames:
    """Finds the payloads of frames in bytes as they arrive.

    >>> frames = Frames()
    >>> data = frame("tea") + frame([1])
    >>> [frames.of(data[:5]), [decode(each) for each in frames.of(data[5:])]]
    [[], ['tea', [1]]]
    """

    def __init__(self) -> None:
        self._kept = b""

    def of(self, data: bytes) -> list[bytes]:
        """Return the payloads that these bytes complete."""
        if self._kept:
            data = self._kept + data
        start = 0
        found = []
        while len(data) - start >= LENGTH.size:
            first = start + LENGTH.size
            end = first + LENGTH.unpack_from(data, start)[0]
            if len(data) < end:
                break
            found.append(data[first:end])
            start = end
        self._kept = data[start:]
        return found


@dataclass(frozen=True, slots=True)
class Opener:
    """How a reader process opens the store: the name of a function, and JSON arguments for it.

    function: "module:function", which returns a read-only `recollex.Store`. count: how many
    processes do so. later: only from `ReaderPool.start` on, when the kernels are compiled.
    """

    function: str
    arguments: dict[str, Any]
    count: int
    later: bool = False


def open_store(
    path: str,
    embedder: str | None,
    dimension: int | None,
    key_file: str | None = None,
    count_accesses: bool = False,
) -> Store:
    """Return the store at ``path``; `recollex serve` has its reader processes call this.

    embedder: the name or folder of a model, None for the default. dimension: of the vectors, if
    clients send them all; then there is no model. key_file: of encrypted agents. count_accesses: as
    of the server.
    """
    model: Any = (
        (recollex.load_encoder() if embedder is None else recollex.load_encoder(embedder))
        if dimension is None
        else recollex.GivenVectors(dimension)
    )
    if dimension is None:
        model.embed_query("warm")
    return recollex.open(
        path,
        read_only=True,
        embedder=model,
        key=given_key(key_file),
        count_accesses=count_accesses,
    )


def warm() -> None:
    """Load every kernel of a recall by one recall, so that no client waits for it."""
    vector = np.ones(8, np.float32)
    with (
        unwarned(),
        tempfile.TemporaryDirectory(prefix="recollex-") as folder,
        recollex.open(folder, embedder=recollex.GivenVectors(8), durability="off") as store,
    ):
        agent = store.agent("warm")
        texts = [f"Ines saw boat {n} in Lisbon in March." for n in range(20)]
        agent.retain_many(texts, embedding=np.tile(vector, (20, 1)), document_id="talk")
        for exact in (False, True):
            asked = agent.recall("What did Ines see in March?", query_embedding=vector, exact=exact)
            encode(asked)
        agent.checkpoint()
        encode(agent.recall("Which boats?", query_embedding=vector, explain=True))
        encode(agent.recall("Lissbon or Marchh?", query_embedding=vector))  # see `ranking.spelling`


class RequestHandler:
    """Answers questions about a store that was opened for reading, one after another."""

    def __init__(self, first: list[Any]) -> None:
        opener, arguments, most = first
        module, _, function = opener.partition(":")
        store: Store = getattr(import_module(module), function)(**arguments)
        self._agents = AgentCache(store, most, Observer())

    def handle(self, question: list[Any]) -> list[Any]:
        """Return the answer to a question; errors are part of the answer."""
        number = question[0]
        failure = None
        encoded = _EMPTY
        trace = None
        try:
            try:
                encoded, trace = self._answer(question)
            except ClosedError:  # the agent was deleted: there may be a new one of its name
                encoded, trace = self._answer(question)
        except RecollexError as error:
            failure = encode_error(error)
        except Exception:
            failure = ["", traceback.format_exc(), {}]
        return [number, failure, list(encoded.chunks), encoded.result, trace]

    def _answer(self, question: list[Any]) -> tuple[EncodedResult, list[Any] | None]:
        """Return a result, and the arguments of its trace if it is a recall."""
        _, name, agent, arguments, at, items, deflate = question
        with self._agents.using(agent) as opened:
            asked = opened if at is None else opened.at(at)
            result = METHODS[name].bound(asked)(**arguments)
            encoded = ResultEncoder(items, deflate)(result)
            return encoded, _trace_arguments(result.trace) if isinstance(result, Recall) else None


def _trace_arguments(trace: Trace) -> list[Any]:
    """Return the arguments of a trace; encoded as a record it would cost ten times as much."""
    return [trace.stages, trace.errors, trace.total, trace.activated]


def main() -> None:
    """Answer until the server hangs up; then end the process."""
    for number in (signal.SIGINT, signal.SIGTERM):  # a group gets them all: the server decides
        signal.signal(number, signal.SIG_IGN)
    connection = socket.socket(fileno=int(sys.argv[1]))
    frames = Frames()
    handler: RequestHandler | None = None
    try:
        while data := connection.recv(CHUNK):
            for payload in frames.of(data):
                if handler is not None:
                    connection.sendall(frame(handler.handle(decode(payload))))
                    continue
                handler = RequestHandler(decode(payload))
                warm()
                gc.collect()
                gc.freeze()
                connection.sendall(frame([0, None, [], b"\xc0", None]))
    except OSError:  # the server is gone
        pass
    os._exit(0)  # nothing is written here, and a model's threads need not finish


if __name__ == "__main__":
    main()
