"""The pool of reader processes: they open the store for reading, and recall on the other cores.

Python runs one thread of a process at a time. So recalls are handed to separate processes, which
see what the writer has published and return bytes that go to the client unchanged.
"""

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from typing import Any, cast

import msgpack

from recollex.remote.server.calls import Call, Observer
from recollex.remote.server.framing import EncodedResult, ResultEncoder
from recollex.remote.server.reader_process import Frames, Opener, frame
from recollex.remote.server.workers import AgentQueue
from recollex.remote.wire.error_codec import decode_error
from recollex_engine.errors import DeadlineError, InternalError, OverloadedError, ServiceError
from recollex_engine.trace import Trace

DEPTH = 2
"""Calls that a process holds: a recall that runs, and the next, which then need not wait."""
SOON = 0.1
LATEST = 5.0
"""Seconds before a process that ended is restarted; the delay doubles with each early end."""
STEADY = 10.0
"""Seconds after which an end is not early."""
OVERDUE = 60.0
"""Seconds past its deadline after which a call is assumed endless, and its process is killed."""
LEAVING = 5.0
"""Seconds within which the processes must end by themselves when the server stops."""


class ReaderPool:
    """Reader processes, each with up to `DEPTH` calls; further calls wait for their turns.

    ``finished`` is called with each call that is done. ``elsewhere`` is called with each call that
    waits while no process is ready, and runs it without one. Threads: all on the event loop's.
    """

    def __init__(
        self,
        opener: Opener,
        open_agents: int,
        observer: Observer,
        finished: Callable[[Call], None],
        elsewhere: Callable[[Call], None],
    ) -> None:
        self._opener = opener
        self._first = frame([opener.function, opener.arguments, open_agents])
        self.observer = observer
        self.finished = finished
        self._elsewhere = elsewhere
        self._loop = asyncio.get_running_loop()
        self._turns = AgentQueue(max(1, DEPTH * (opener.count - 1)))
        self._readers: set[Reader] = set()
        self._ended: set[subprocess.Popen[bytes]] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._delay = SOON
        self._stopping = False
        if not opener.later:
            self.start()

    def start(self) -> None:
        """Start the processes; only if the opener says that they come later."""
        for _ in range(self._opener.count):
            self._start()

    def __len__(self) -> int:
        """How many processes are ready for calls."""
        return sum(reader.ready for reader in self._readers)

    @property
    def waiting(self) -> int:
        """How many calls no process has taken yet."""
        return len(self._turns)

    @property
    def processes(self) -> list[int]:
        """The ids of the processes."""
        return [reader.process.pid for reader in self._readers]

    def take(self, call: Call) -> bool:
        """Take a call, if a reader process may do it and one is ready."""
        if not (call.method.apart and isinstance(call.convert, ResultEncoder) and len(self)):
            return False
        self._turns.put(call)
        self.feed()
        return True

    def take_back(self, call: Call) -> bool:
        """Remove a call from the queue; returns False if it is not there."""
        return self._turns.remove(call)

    def late(self, call: Call) -> None:
        """Record that the deadline of a call has passed, which a process may still be doing."""
        self._loop.call_later(OVERDUE, self._end_if_at, call)

    def _end_if_at(self, call: Call) -> None:
        for reader in self._readers:
            if reader.in_flight and reader.in_flight[0] is call:
                reader.process.kill()

    def feed(self) -> None:
        """Give calls to processes that have room for them."""
        while self._turns:
            free = [reader for reader in self._readers if reader.has_room]
            if not free:
                return
            min(free, key=lambda reader: len(reader.in_flight)).send(self._turns.take())

    def done(self, call: Call) -> None:
        """Record that a process has answered a call."""
        self._turns.done(call)
        self.finished(call)

    def left(self, reader: "Reader", undone: deque[Call]) -> None:
        """Replace a process that ended; its calls are done elsewhere.

        The call that it was doing may have ended it, so that call is given to only one more
        process.
        """
        self._readers.discard(reader)
        self._ended.add(reader.process)
        self._loop.run_in_executor(None, reader.process.wait)
        if not self._stopping:
            lived = time.monotonic() - reader.since
            self._delay = SOON if lived > STEADY else min(2 * self._delay, LATEST)
            self._loop.call_later(self._delay, self._start)
            error = ServiceError(f"process {reader.process.pid}, which reads, has ended")
            self.observer.failed(undone[0] if undone else None, error)
        for place, call in enumerate(undone):
            self._turns.done(call)
            call.begun_at = 0.0
            if call.over:
                self.finished(call)
            elif self._stopping:
                self._refuse(call, OverloadedError("the server is stopping", 1.0))
            elif place == 0 and call.suspect:
                text = "the process that did it has ended; the server's log says more"
                self._refuse(call, InternalError(text))
            else:
                call.suspect = call.suspect or place == 0
                self._turns.put(call)
        if not len(self):
            self._run_elsewhere()
        self.feed()

    def _refuse(self, call: Call, error: ServiceError) -> None:
        call.error = error
        self.finished(call)

    def _run_elsewhere(self) -> None:
        """Hand the calls on while no process is ready, except suspects, which may end a process."""
        waiting = [self._turns.take() for _ in range(len(self._turns))]
        for call in waiting:
            self._turns.done(call)
            if call.suspect:
                self._turns.put(call)
            else:
                self._elsewhere(call)

    async def stop(self) -> None:
        """End the processes, and wait until they have ended."""
        self._stopping = True
        for task in list(self._tasks):
            task.cancel()
        readers = list(self._readers)
        for reader in readers:
            reader.hang_up()
            if not reader.ready:  # it is importing, and would see that a second later
                reader.process.kill()
        await self._loop.run_in_executor(None, _end, [each.process for each in readers])

    def _start(self) -> None:
        if self._stopping:
            return
        here, there = socket.socketpair()
        with there:
            command = [
                sys.executable,
                "-m",
                "recollex.remote.server.reader_process",
                str(there.fileno()),
            ]
            paths = os.pathsep.join(path for path in sys.path if path)
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                pass_fds=[there.fileno()],
                env=os.environ | {"PYTHONPATH": paths, "PYTHONSAFEPATH": "1"},
                process_group=0,  # a Ctrl-C is for the server, also while they are starting
            )
        here.setblocking(False)
        reader = Reader(self, process)
        self._readers.add(reader)
        task = self._loop.create_task(self._connect(reader, here))
        self._tasks.add(task)

        def done(task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            if task.cancelled():  # perhaps before it began, so that nothing else closes the socket
                here.close()

        task.add_done_callback(done)

    async def _connect(self, reader: "Reader", here: socket.socket) -> None:
        transport, _ = await self._loop.create_unix_connection(lambda: reader, sock=here)
        transport.write(self._first)


class Reader(asyncio.Protocol):
    """The server's end of one reader process, and the calls that it holds, in order."""

    def __init__(self, pool: ReaderPool, process: "subprocess.Popen[bytes]") -> None:
        self._pool = pool
        self.process = process
        self.in_flight: deque[Call] = deque()
        self.ready: bool = False
        self.since: float = time.monotonic()
        self._frames = Frames()
        self._number = 0
        self._transport: asyncio.Transport | None = None

    @property
    def has_room(self) -> bool:
        """Whether it can take a call that then waits for nothing slow."""
        if not self.in_flight:
            return self.ready
        quick = self.in_flight[0].method.name == "recall"
        return self.ready and len(self.in_flight) < DEPTH and quick

    def send(self, call: Call) -> None:
        """Have a call done, unless its deadline has passed."""
        call.begun_at = time.perf_counter()
        if call.begun_at > call.deadline:
            call.begun_at = 0.0
            call.error = DeadlineError(call.method.name, begun=False)
            self._pool.done(call)
            return
        self.in_flight.append(call)
        convert: Any = call.convert
        question = [
            self._number + len(self.in_flight),
            call.method.name,
            call.agent,
            call.arguments,
            call.options.at,
            convert.chunk_items,
            convert.deflate,
        ]
        assert self._transport is not None
        self._transport.write(frame(question))

    def hang_up(self) -> None:
        """Let the process end when it has done its present call."""
        self.ready = False
        if self._transport is not None:
            self._transport.close()
        else:
            self.process.kill()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start with the process, which reports when it has opened the store."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Take answers, and give the process its next calls."""
        for payload in self._frames.of(data):
            if not self.ready:
                self.ready = True
            else:
                self._take(msgpack.unpackb(payload))  # an answer holds no extension types
        self._pool.feed()

    def connection_lost(self, error: Exception | None) -> None:
        """Record that the process has ended, or was told to end."""
        self.ready = False
        undone = self.in_flight
        self.in_flight = deque()
        self._pool.left(self, undone)

    def _take(self, answer: list[Any]) -> None:
        number, failure, chunks, result, trace = answer
        call = self.in_flight.popleft()
        self._number += 1
        assert number == self._number
        if failure is None:
            call.result = EncodedResult(chunks, result)
            self._pool.observer.worked(call, trace and Trace(*trace))
        elif failure[0]:
            call.error = decode_error(failure)
        else:
            call.error = InternalError("the server failed; its log says how")
            self._pool.observer.failed(call, RuntimeError(failure[1]))
        self._pool.done(call)


def _end(processes: list["subprocess.Popen[bytes]"]) -> None:
    """Wait until processes that were told to end have ended; kill those that have not."""
    until = time.monotonic() + LEAVING
    for process in processes:
        try:
            process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
