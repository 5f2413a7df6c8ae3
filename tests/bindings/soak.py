"""A server under mixed load, its clients killed again and again: `python -m tests.bindings.soak`.

Reader processes do the recalls, and are killed as well. Every client is a process that compares
each answer with its journal (`soak_client.py`). At the end every acknowledged write is looked up,
through the server and in the store without it. First every kind of call is made, so that all has
been loaded; the server's memory, files, tasks and threads are compared with those after the first
fifth.

Prints a report as JSON; exits with 1 if anything was wrong.
"""

import argparse
import contextlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import recollex
from recollex_engine.errors import UnknownIdError
from tests.bindings.soak_client import AGENTS, SETTLED, Client, be_client
from tests.bindings.word_vectors import WordVectors
from tests.waiting import until

PER_OPERATION = 16_384
"""Bytes of memory that each stored operation may take in each of the server's processes."""
WARMING, WARM_STEPS = 4, 60
"""Clients at once, and the steps of each, after which every process has done every kind of call."""
SLACK = 48 << 20
"""Further bytes that the allocator of each process may keep."""
READERS = 2
KILLED = 0.02
"""The share of steps in which a reader process is killed."""
SERVER = (
    f"READERS = {READERS}"
    + """
import asyncio, gc, json, os, sys, threading
import recollex
from recollex.remote.server.reader_process import Opener
from recollex.remote.server.server import Server, run, freeze_heap
from tests.bindings.word_vectors import WordVectors

async def main(stopping):
    store = recollex.open(sys.argv[1], embedder=WordVectors())
    opener = Opener("tests.bindings.remote.server.reader_openers:words", {"path": sys.argv[1]}, 2)
    async with Server(store, opener=opener) as server:
        await server.listen(f"unix://{sys.argv[2]}")
        freeze_heap()
        loop = asyncio.get_running_loop()

        def look():
            gc.collect()
            readers = server.service.reader_pool.processes
            pages = {
                pid: int(open(f"/proc/{pid}/statm").read().split()[1])
                for pid in [os.getpid(), *readers]
            }
            status = server.service.status()
            print(json.dumps({
                # the largest reader: another may have started a moment ago
                "memory": (pages.pop(os.getpid()) + READERS * max(pages.values(), default=0))
                * os.sysconf("SC_PAGE_SIZE"),
                "readers": readers,
                "files": len(os.listdir("/proc/self/fd")),
                "threads": threading.active_count(),
                "tasks": len(asyncio.all_tasks()),
                "connections": len(server.listener),
                "waiting": status.waiting,
                "running": status.running,
            }), flush=True)

        def asked():
            for _ in sys.stdin:
                loop.call_soon_threadsafe(look)

        threading.Thread(target=asked, daemon=True).start()
        print("{}", flush=True)
        await stopping.wait()

run(main)
"""
)


class Soak:
    def __init__(self, folder: Path, seconds: float, clients: int, pause: float, seed: int) -> None:
        self.folder = folder
        self.seconds = seconds
        self.pause = pause
        self.random = random.Random(seed)
        self.path = folder / "socket"
        self.address = f"unix://{self.path}"
        self.processes: dict[int, int] = dict.fromkeys(range(clients), 0)
        self.kills = self.killed_readers = 0
        self.wrong: list[str] = []
        self.server = subprocess.Popen(
            [sys.executable, "-c", SERVER, folder / "store", self.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._answer()

    def run(self) -> dict[str, Any]:
        self._warm_up()
        end = time.monotonic() + self.seconds
        warm_at = time.monotonic() + self.seconds / 5
        before: dict[str, Any] | None = None
        for number in self.processes:
            self._start(number)
        while (time.monotonic() < end or before is None) and not self.wrong:
            time.sleep(self.random.uniform(0.2, 1.0))
            number = self.random.choice(list(self.processes))
            self._kill(number)
            self._start(number)
            if self.random.random() < KILLED:
                self._kill_reader()
            if before is None and time.monotonic() > warm_at:
                now = self._look() | {"operations": self._operations()}
                before = now if len(now["readers"]) == READERS else None
        for number in self.processes:
            self._end(number)
        time.sleep(SETTLED)
        with contextlib.suppress(AssertionError):  # what is left of clients is told below
            until(lambda: not any(map(self._look().get, ("connections", "waiting", "running"))))
        after = self._look() | {"operations": self._operations()}
        with recollex.connect(self.path) as store:
            for name in AGENTS:
                if problems := store.agent(name).verify().problems:
                    self.wrong += problems
        self.server.send_signal(signal.SIGTERM)
        if self.server.wait(60):
            self.wrong.append(f"the server left with {self.server.returncode}")
        lost = self._lost()
        if before is not None:  # otherwise it failed early
            self._compare(before, after)
        return {
            "seconds": self.seconds,
            "clients": len(self.processes),
            "killed": self.kills,
            "killed_readers": self.killed_readers,
            "acknowledged_writes": sum(lost[1:]),
            "lost": lost[0],
            "answers_checked": sum(int(each.read_text()) for each in self.folder.glob("checks-*")),
            "before": before,
            "after": after,
            "wrong": self.wrong[:20],
        }

    def _warm_up(self) -> None:
        """Make every kind of call, however long that takes."""

        def work(number: int) -> None:
            client = Client(number, self.folder, self.address)
            for _ in range(WARM_STEPS):
                client.step()
            client.agent.checkpoint()
            client.store.close()

        first = len(self.processes)  # their numbers are no client's
        with ThreadPoolExecutor(WARMING) as threads:
            list(threads.map(work, range(first, first + WARMING)))

    def _compare(self, before: dict[str, Any], after: dict[str, Any]) -> None:
        allowed = (
            before["memory"]
            + SLACK * (1 + READERS)
            + PER_OPERATION * (1 + READERS) * (after["operations"] - before["operations"])
        )
        if after["memory"] > allowed:
            self.wrong.append(f"memory grew from {before['memory']:,} to {after['memory']:,}")
        if after["connections"] or after["waiting"] or after["running"]:
            self.wrong.append(f"something is left of clients that have gone: {after}")
        # The clients' connections are closed by now; a log that grew has at most one more file.
        # The pool that waits for processes that were killed has threads of its own.
        for name, more in (("files", 4), ("tasks", 0), ("threads", 6)):
            if after[name] > before[name] + more:
                self.wrong.append(f"{name} grew from {before[name]} to {after[name]}")

    def _operations(self) -> int:
        with recollex.connect(self.path) as store:
            return sum(store.agent(name).stats().operations for name in AGENTS)

    def _lost(self) -> tuple[int, int]:
        """Return how many acknowledged writes the store lacks, and how many it has."""
        lost = kept = 0
        with recollex.open(self.folder / "store", embedder=WordVectors(), read_only=True) as store:
            for number in self.processes:
                agent = store.agent(AGENTS[number % len(AGENTS)])
                history = {entry_id for entry in agent.log() for entry_id in entry.ids}
                client = Client.__new__(Client)
                client.texts, client.words, client.past, client.facts = {}, {}, [], {}
                client.pending, client.count = None, 0
                for line in (self.folder / f"client-{number}.jsonl").read_bytes().splitlines():
                    with contextlib.suppress(json.JSONDecodeError):
                        client._read(json.loads(line))
                for id, text in client.texts.items():
                    there = next((m.text for m in [self._got(agent, id)] if m), None)
                    right = there == text and id in history
                    lost += not right
                    kept += right
                for subject, value in client.facts.items():
                    right = [fact.object for fact in agent.facts.find(subject=subject)] == [value]
                    lost += not right
                    kept += right
        if lost:
            self.wrong.append(f"{lost} acknowledged writes are lost")
        return lost, kept

    @staticmethod
    def _got(agent: recollex.Agent, id: str) -> recollex.Memory | None:
        try:
            return agent.get(id)
        except UnknownIdError:
            return None

    # -- processes -------------------------------------------------------------------------------

    def _start(self, number: int) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # until the child has a handler
        child = os.fork()
        if child == 0:
            be_client(number, self.folder, self.address, self.pause)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        self.processes[number] = child

    def _kill(self, number: int) -> None:
        os.kill(self.processes[number], signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(self.processes[number], 0)[1])
        self.kills += 1
        self._judge(number, code, -signal.SIGKILL)

    def _kill_reader(self) -> None:
        readers = self._look()["readers"]
        if len(readers) == READERS:  # the others are being started
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.random.choice(readers), signal.SIGKILL)
                self.killed_readers += 1

    def _end(self, number: int) -> None:
        os.kill(self.processes[number], signal.SIGTERM)
        code = os.waitstatus_to_exitcode(os.waitpid(self.processes[number], 0)[1])
        self._judge(number, code, 0)

    def _judge(self, number: int, code: int, expected: int) -> None:
        if code != expected:
            told = self.folder / f"wrong-{number}-{self.processes[number]}"
            why = told.read_text() if told.exists() else "it said nothing"
            self.wrong.append(f"client {number} left with {code}: {why}")

    def _look(self) -> dict[str, Any]:
        assert self.server.stdin is not None
        self.server.stdin.write(b"\n")
        self.server.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self.server.stdout is not None
        found: dict[str, Any] = json.loads(self.server.stdout.readline())
        return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--clients", type=int, default=6)
    parser.add_argument("--pause", type=float, default=0.02, help="seconds between two steps")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(
            Path(folder), arguments.seconds, arguments.clients, arguments.pause, arguments.seed
        )
        try:
            report = soak.run()
        finally:
            soak.server.kill()
            soak.server.wait()
    print(json.dumps(report, indent=1))
    return 1 if report["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
