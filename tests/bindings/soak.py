"""A server under mixed load, its clients killed again and again: `python -m tests.bindings.soak`.

Reader processes do the recalls, and are killed as well.

Every client keeps a journal of what it is about to write, and of what was acknowledged. A client is
a process that SIGKILL may end at any time. The next one reads the journal, finds out what became of
the last write, and goes on. Every answer is compared with the journal. At the end every
acknowledged write is looked up, through the server and in the store without it. The server's
memory, files, tasks and threads are compared with those after the first fifth, when every kind of
call has loaded what it needs.

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
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import recollex
from recollex_engine.errors import UnknownIdError
from tests.bindings.word_vectors import WordVectors

AGENTS = ("ann", "ben")
SETTLED = 1.0
"""Seconds after which the write of a killed client is done or will never be done."""
PER_OPERATION = 16_384
"""Bytes of memory that each stored operation may take in each of the server's processes."""
WARM = 100
"""Operations after which every kind of call has been made."""
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
from recollex.server.reader_process import Opener
from recollex.server.server import Server, run, freeze_heap
from tests.bindings.word_vectors import WordVectors

async def main(stopping):
    store = recollex.open(sys.argv[1], embedder=WordVectors())
    opener = Opener("tests.bindings.server.reader_openers:words", {"path": sys.argv[1]}, 2)
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


class WrongAnswerError(AssertionError):
    pass


class Client:
    """One client: it knows only what its journal says."""

    def __init__(self, number: int, folder: Path, address: str) -> None:
        self.number = number
        self.journal = folder / f"client-{number}.jsonl"
        self.texts: dict[str, str | None] = {}  # id -> what it says now, None once forgotten
        self.words: dict[str, str] = {}  # id -> a word that no other has
        self.past: list[tuple[int, str, str | None]] = []  # at, id, what it said
        self.facts: dict[str, str] = {}  # subject -> object
        self.checks = self.count = 0
        self.pending: dict[str, Any] | None = None
        if self.journal.exists():
            for line in self.journal.read_bytes().splitlines():
                with contextlib.suppress(json.JSONDecodeError):  # a line that a kill cut short
                    self._read(json.loads(line))
        self.file = os.open(self.journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(self.file, b"\n")
        self.random = random.Random(f"{number}-{self.count}")
        self.store = recollex.connect(address, connections=2)
        self.agent = self.store.agent(AGENTS[number % len(AGENTS)])

    # -- the journal -----------------------------------------------------------------------------

    def _read(self, line: dict[str, Any]) -> None:
        if "op" in line:
            self.pending = line
            self.count = line["n"]
        elif self.pending is not None:
            self._apply(self.pending, line)
            self.pending = None

    def _apply(self, told: dict[str, Any], done: dict[str, Any]) -> None:
        if not done["ok"]:
            return
        if told["op"] == "fact":
            self.facts[told["subject"]] = told["object"]
            return
        for id, text, word in zip(done["ids"], told["texts"], told["words"], strict=True):
            self.texts[id] = text
            self.words[id] = word
            if done.get("at"):
                self.past.append((done["at"], id, text))
        for id in told.get("gone", ()):
            self.texts[id] = None

    def _note(self, line: dict[str, Any]) -> None:
        os.write(self.file, json.dumps(line).encode() + b"\n")
        self._read(line)

    def _write(self, told: dict[str, Any], work: Any) -> None:
        self._note(told | {"n": self.count + 1})
        ids = work()
        self._note({"ok": True, "ids": ids, "at": self._recorded(ids)})

    def _recorded(self, ids: list[str]) -> int | None:
        if not ids:
            return None
        moment = self.agent.get(ids[0]).recorded_at
        return int((moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1))

    def recover(self) -> None:
        """Find out what became of the write during which the last process was killed."""
        told = self.pending
        if told is None:
            return
        time.sleep(SETTLED)
        if told["op"] == "fact":
            found = self.agent.facts.find(subject=told["subject"])
            self._note({"ok": bool(found), "ids": []})
            return
        gone = [self._text(id) is None for id in told.get("gone", ())]
        states = [
            self._holding(word, text)
            for word, text in zip(told["words"], told["texts"], strict=True)
        ]
        happened = [bool(state) for state in states] + gone
        if any(happened) != all(happened):
            raise WrongAnswerError(f"a transaction is there in parts: {told}, {states}, {gone}")
        ids = [state[0] for state in states if state]
        self._note({"ok": all(happened), "ids": ids, "at": self._recorded(ids)})

    def _text(self, id: str) -> str | None:
        try:
            return str(self.agent.get(id).text)
        except UnknownIdError:
            return None

    def _holding(self, word: str, text: str) -> list[str]:
        """Return the ids of the memories with a word whose text is ``text``."""
        found = [memory for memory in self.agent.recall(f'"{word}"') if memory.text == text]
        if len(found) > 1:
            raise WrongAnswerError(f"{word!r} was stored {len(found)} times")
        return [memory.id for memory in found]

    # -- what it does ----------------------------------------------------------------------------

    def step(self) -> None:
        alive = [id for id, text in self.texts.items() if text is not None]
        n = self.count + 1
        word = f"zq{self.number}x{n}"
        text = f"Client {self.number} notes {word} about town {n % 7} and person {n % 5}."
        kind = self.random.choices(
            ("retain", "own id", "forget", "correct", "transaction", "fact", "checkpoint", "look"),
            (6, 6, 4, 4, 2, 2, 0.3, 40),
        )[0]
        new = {"op": kind, "texts": [text], "words": [word]}
        if kind == "retain":
            self._write(new, lambda: self.agent.retain(text, tags=["soak"]))
        elif kind == "own id":
            self._write(new, lambda: self.agent.retain([text], id=[f"own-{word}"]))
        elif kind == "forget" and alive:
            id = self.random.choice(alive)
            told = {"op": kind, "texts": [], "words": [], "gone": [id]}
            self._write(told, lambda: self.agent.forget(id) or [])
        elif kind == "correct" and alive:
            id = self.random.choice(alive)
            self._write(new, lambda: self.agent.correct(id, text) or [id])
        elif kind == "transaction" and alive:
            id = self.random.choice(alive)
            self._write(new | {"gone": [id]}, lambda: self._transaction(text, id))
        elif kind == "fact":
            told = {"op": "fact", "subject": f"S{word}", "object": f"O{n % 3}"}
            self._write(
                told, lambda: self.agent.facts.add(told["subject"], "is", told["object"]) and []
            )
        elif kind == "checkpoint":
            self.agent.checkpoint()
        else:
            self.look()

    def _transaction(self, text: str, id: str) -> list[str]:
        with self.agent.transaction(by="soak") as tx:
            made = tx.retain(text)
            tx.forget(id)
        return [made]

    def look(self) -> None:
        """Ask a question whose answer is known."""
        self.checks += 1
        way = self.random.random()
        if self.past and way < 0.25:
            at, id, text = self.random.choice(self.past[-400:])
            moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at)
            self._expect(text, self.agent.at(moment).get(id).text, f"{id} as of {moment}")
        elif self.facts and way < 0.35:
            subject = self.random.choice(list(self.facts))
            found = [fact.object for fact in self.agent.facts.find(subject=subject)]
            self._expect([self.facts[subject]], found, subject)
        elif self.texts:
            id = self.random.choice(list(self.texts))
            self._expect(self.texts[id], self._text(id), id)
            if way > 0.6:
                word, text = self.words[id], self.texts[id]
                found = [m.id for m in self.agent.recall(f'"{word}"') if word in m.text.split()]
                self._expect([] if text is None or word not in text.split() else [id], found, word)

    def look_at_all(self) -> None:
        for id, text in self.texts.items():
            self._expect(text, self._text(id), id)

    def _expect(self, expected: Any, found: Any, what: str) -> None:
        if expected != found:
            raise WrongAnswerError(
                f"client {self.number}, {what}: expected {expected!r}, found {found!r}"
            )


def be_client(number: int, folder: Path, address: str, pause: float) -> None:
    """Act as a client until SIGTERM, then end this process."""
    stopping = False

    def stop(*_: object) -> None:
        nonlocal stopping
        stopping = True

    signal.signal(signal.SIGTERM, stop)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    status = 3
    try:
        client = Client(number, folder, address)
        client.recover()
        while not stopping:
            client.step()
            time.sleep(client.random.uniform(0, 2 * pause))
            if client.checks % 50 == 0:
                (folder / f"checks-{number}-{os.getpid()}").write_text(str(client.checks))
        client.look_at_all()
        (folder / f"checks-{number}-{os.getpid()}").write_text(
            str(client.checks + len(client.texts))
        )
        status = 0
    except BaseException as error:
        (folder / f"wrong-{number}-{os.getpid()}").write_text(f"{type(error).__name__}: {error}")
    finally:
        os._exit(status)


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
                whole = now["operations"] >= WARM and len(now["readers"]) == READERS
                before = now if whole else None
        for number in self.processes:
            self._end(number)
        time.sleep(SETTLED)
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
