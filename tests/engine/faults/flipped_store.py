"""A store with every kind of file, its answers, and a process that flips bits in a copy of it.

As a program it reads lines [store, folder of its own, mode, places] in JSON. ``mode`` is "ro" or
"rw", a place [file, byte, bit]. It prints "begin N", and then what became of place N, as JSON.
"""

import json
import os
import shutil
import sys
import time
import traceback
import warnings
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

import recollex
from recollex_engine.errors import RecollexError
from recollex_engine.state import integrity
from recollex_engine.storage import column, dictionary
from recollex_engine.writing import checkpoint
from recollex_engine.writing import checkpoint as graphs
from tests.engine.faults.small_store import WORDS, D, text, vectors

AGENTS = ("a", "b")
KEY = bytes.fromhex(os.environ.get("KEY", "")) or None
"""The key of the store, in hexadecimal digits, if its agents are encrypted."""
MEMORIES, TAIL = 108, 8
"""Memories in the checkpoint, and after it."""
SMALL = {
    (checkpoint, "SEGMENT_ROWS"): 32,
    (checkpoint, "LOG_BYTES"): 15_000,
    (graphs, "GRAPH_ROWS"): 32,
    (graphs, "GRAPH_STEP"): 16,
    (column, "MAPPED_FROM"): 4096,
    (dictionary, "INDEX_FROM"): 64,
}
"""Small limits: a store of 100 files and 0.4 MB has several segments and log files, a graph, mapped
columns and indexed dictionaries, and answers everything in 30 ms."""
MEMORY = 8 << 30
"""Bytes that a process may ask for; a damaged length asks for more."""


@contextmanager
def small_parts():
    """Set `SMALL`."""
    with pytest.MonkeyPatch.context() as patch:
        for (module, name), value in SMALL.items():
            patch.setattr(module, name, value)
        yield


def make(path, key=KEY):
    """Make the store at ``path``, under `small_parts`.

    Its agent "a" has a checkpoint and a tail, "b" a tail alone.
    """
    # what a flush covered is never cut off
    with opened(path, durability="interval", key=key) as store:
        agent = store.agent("a")
        for first in range(0, MEMORIES, 36):
            retain(agent, first, 36)
            if first == 36:
                agent.checkpoint()
        agent.forget(["m93", "m103"], by="me", why="wrong")
        agent.archive("m99")
        retain(agent, 16, 1, " And more.")
        for number in range(40):
            evidence = [f"m{number}", f"m{number + 50}"]
            agent.facts.add(f"Name{number % 7}", "likes", WORDS[number % 16], evidence=evidence)
            agent.facts.add(f"Name{number % 7}", "knows", f"Name{number % 5}", id=f"f{number}")
        agent.facts.archive("f3")
        agent.facts.merge("Name6", "Name5")
        agent.facts.add_entity("Name1", types=["person"], aliases=["One"])
        for number in range(5):
            agent.events.add(f"Event {number}", participants=["Name1"], facts=[f"f{number}"])
        agent.erase(["m100", "m101"], by="me", why="asked")
        agent.checkpoint()
        agent.checkpoint()
        retain(agent, MEMORIES, TAIL)
        agent.forget("m94")
        agent.facts.add("Name2", "likes", "soup", id="soup")
        retain(store.agent("b"), 0, 40)
    for name in AGENTS:
        assert len(list((path / "agents" / name).iterdir())) >= 4


def retain(agent, first, count, more=""):
    numbers = range(first, first + count)
    agent.retain_many(
        [f"{text(n)} Name{n % 7} spoke of w{n * n % 997} and w{n}.{more}" for n in numbers],
        id=[f"m{n}" for n in numbers],
        embedding=vectors(first, count),
        entities=[[f"Name{n % 7}", f"Name{n % 11}"] for n in numbers],
        tags=[[f"t{n % 3}"] for n in numbers],
        document_id=[f"d{n // 50}" for n in numbers],
        context=["said at work"] * count,
        metadata=[{"n": n} if n % 5 == 0 else {} for n in numbers],
    )


def opened(path, **options):
    return recollex.open(
        path, embedder=recollex.GivenVectors(D), **{"durability": "off", "key": KEY, **options}
    )


def answers(store, names=AGENTS):
    """Everything that agents answer, by their names."""
    return {name: answers_of(store.agent(name)) for name in names}


def answers_of(agent):
    """Everything that an agent answers."""
    found = []
    for (query, options), vector in zip(QUESTIONS, ASKED, strict=True):
        recall = agent.recall(query, query_embedding=vector, now=NOW, **options)
        found.append([[m.id, m.text, m.score] for m in recall])
        if "tags" not in options:  # to explain a recall takes longer than the recall
            found.append([m.scores for m in recall])
    found.append([memory.to_dict() for memory in agent.list(limit=10_000)])  # has every field
    found += [[str(agent.get(f"m{n}")), agent.get(f"m{n}").to_dict()] for n in (0, 7, 30)]
    facts = agent.facts
    found.append([str(each) for each in facts.snapshot()])
    found.append([str(each) for each in facts.find(subject="Name2")])
    found.append([str(each) for each in facts.entities()])
    found.append([str(each) for each in agent.events.find()])
    found.append([str(each) for each in agent.events.episodes()])
    found.append([str(each) for each in agent.history("m16")])
    return found


QUESTIONS = (
    ("tea ink", {"exact": True}),
    ("What did Name3 say of w49?", {}),
    ("What did Name3 say of w49?", {"tags": ["t1"], "max_tokens": 300}),
    ("Memory 7 of owl", {"exact": True, "tags": ["t2"]}),
    ("two days ago", {}),
)
ASKED = vectors(999, len(QUESTIONS))
NOW = datetime(2030, 1, 1, tzinfo=UTC)


def compare_files(store, names):
    """Return once all files of the agents were compared with their checksums, and said so."""
    for name in names:
        agent = store.agent(name)
        compared = agent.engine.files.replica().integrity
        until = time.monotonic() + 60
        while not compared.is_done and time.monotonic() < until:
            time.sleep(0.002)
        agent.stats()


def outcome(path, mode, expected, names=AGENTS):
    """Open the store; return "same" or "wrong" for its answers, or an error; and warnings.

    "wrong at first" are answers from before the files were compared with their checksums.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with opened(path, read_only=mode == "ro") as store:
                result = "same" if is_expected(store, names, expected) else "wrong"
                compare_files(store, names)
                if result == "wrong" and caught and is_expected(store, names, expected):
                    result = "wrong at first"
        except RecollexError as error:
            result = f"{type(error).__name__}: {error}"
        except Exception as error:
            result = f"foreign {type(error).__name__}: {error}" + traceback.format_exc()[-1500:]
    return result, [str(each.message) for each in caught]


def is_expected(store, names, expected):
    found = answers(store, names)
    return all(found[name] == expected[name] for name in names)


def is_named_by_verify(path):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with opened(path, read_only=True) as store:
                return not all(store.agent(name).verify().ok for name in AGENTS)
    except RecollexError:
        return True


def flip(path, at, bit):
    with path.open("r+b", buffering=0) as file:
        file.seek(at)
        (byte,) = file.read(1)
        file.seek(at)
        file.write(bytes([byte ^ 1 << bit]))


class Copy:
    """A copy of a store that becomes as the store was again, with few writes."""

    def __init__(self, store, path):
        self.path = path
        self._files = {
            file.relative_to(store): None if file.is_dir() else file.read_bytes()
            for file in sorted(store.rglob("*"))
        }
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(store, path)

    def restore(self):
        """Write again what differs, and remove what is new."""
        for file in sorted(self.path.rglob("*"), reverse=True):
            if file.relative_to(self.path) not in self._files:
                file.rmdir() if file.is_dir() else file.unlink()
        for name, data in self._files.items():
            file = self.path / name
            if data is None:
                file.mkdir(exist_ok=True)
            elif not file.exists() or file.read_bytes() != data:
                file.unlink(missing_ok=True)
                file.write_bytes(data)


def tried(copy, mode, place, expected):
    """Flip a bit of a copy; return what its answers were, and after writing; flip it back.

    Only the agent that it is of is asked: agents share no file.
    """
    name, at, bit = place
    path = copy.path
    flip(path / name, at, bit)
    names = [agent for agent in AGENTS if f"/{agent}/" in name] or AGENTS
    result, said = outcome(path, mode, expected, names)
    found = {"place": place, "mode": mode, "result": result, "warnings": said}
    if result == "wrong" and not said:
        found["verify"] = is_named_by_verify(path)
    if mode == "rw" and result == "same":
        found["again"] = outcome(path, "ro", expected, names)
    copy.restore()
    return found


def limit_memory():
    """Let this process ask for `MEMORY` bytes at most."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def main():
    limit_memory()
    integrity.EAGER = int(os.environ["EAGER"])
    integrity.PAUSE = 0.01
    copies = {}
    for line in sys.stdin:
        store, own, mode, places = json.loads(line)
        if own not in copies:
            copy = Copy(Path(store), Path(own))
            with opened(own, read_only=True) as whole:
                copies[own] = copy, answers(whole)
        for place in places:
            print(json.dumps(tried(copies[own][0], mode, place, copies[own][1])), flush=True)
        print("done", flush=True)


if __name__ == "__main__":
    with small_parts():
        main()
