"""A client of the soak test, which SIGKILL may end at any time: it goes on from its journal.

A client notes in its journal what it is about to write, and what was acknowledged. The next process
reads the journal, finds out what became of the last write, and goes on. Every answer is compared
with the journal.
"""

import contextlib
import json
import os
import random
import signal
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import recollex
from recollex_engine.errors import UnknownIdError

AGENTS = ("ann", "ben")
SETTLED = 1.0
"""Seconds after which the write of a killed client is done or will never be done."""


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
            self._write(new, lambda: [self.agent.retain(text, tags=["soak"])])
        elif kind == "own id":
            self._write(new, lambda: self.agent.retain_many([text], id=[f"own-{word}"]))
        elif kind == "forget" and alive:
            id = self.random.choice(alive)
            told = {"op": kind, "texts": [], "words": [], "gone": [id]}
            self._write(told, lambda: self.agent.forget(id) and [])
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
