"""A store with every kind of file, its answers, and a process that flips bits in a copy of it.

As a program it reads lines [store, folder of its own, mode, places] in JSON. ``mode`` is "ro" or
"rw", a place [file, byte, bit]. It prints "begin N", and then what became of place N, as JSON.
"""

import json
import os
import shutil
import sys
import traceback
import warnings
from datetime import UTC, datetime
from pathlib import Path

import recollex
from recollex_engine.errors import RecollexError
from recollex_engine.state import integrity
from recollex_engine.writing import checkpoint
from recollex_engine.writing import graph_building as graphs
from tests.engine.faults.small_store import WORDS, D, text, vectors

MEMORIES, TAIL = 1_100, 12
"""Memories in the checkpoint: enough for the dictionaries to have index files; and after it."""


def use_small_parts():
    """Several segments, graphs and log files of a few hundred memories."""
    checkpoint.SEGMENT_ROWS = 512
    checkpoint.LOG_BYTES = 100_000
    graphs.GRAPH_ROWS = 256
    graphs.GRAPH_STEP = 128


def make(path):
    """Make the store at ``path``; its agent "a" has a checkpoint and a tail, "b" a tail alone."""
    use_small_parts()
    with opened(path, durability="interval") as store:  # what a flush covered is never cut off
        agent = store.agent("a")
        for first in range(0, MEMORIES, 220):
            retain(agent, first, 220)
            if first == 440:
                agent.checkpoint()
        agent.forget(["m203", "m700"], by="me", why="wrong")
        agent.archive("m209")
        retain(agent, 100, 1, " And more.")
        for number in range(40):
            evidence = [f"m{number}", f"m{number + 50}"]
            agent.facts.add(f"Name{number % 7}", "likes", WORDS[number % 16], evidence=evidence)
            agent.facts.add(f"Name{number % 7}", "knows", f"Name{number % 5}", id=f"f{number}")
        agent.facts.archive("f3")
        agent.facts.merge("Name6", "Name5")
        agent.facts.add_entity("Name1", types=["person"], aliases=["One"])
        for number in range(5):
            agent.events.add(f"Event {number}", participants=["Name1"], facts=[f"f{number}"])
        agent.erase(["m300", "m301"], by="me", why="asked")
        agent.checkpoint()
        agent.checkpoint()
        retain(agent, MEMORIES, TAIL)
        agent.forget("m220")
        agent.facts.add("Name2", "likes", "soup", id="soup")
        retain(store.agent("b"), 0, 60)
    for name in ("a", "b"):
        assert len(list((path / "agents" / name).iterdir())) >= 4


def retain(agent, first, count, more=""):
    numbers = range(first, first + count)
    agent.retain(
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
        path, embedder=recollex.GivenVectors(D), **{"durability": "off", **options}
    )


def answers(store):
    """Everything that the store answers, as JSON values."""
    found = []
    for name in ("a", "b"):
        agent = store.agent(name)
        for query, vector in zip(QUESTIONS, ASKED, strict=True):
            for options in ({}, {"exact": True}, {"tags": ["t1"], "max_tokens": 300}):
                recall = agent.recall(query, query_embedding=vector, now=NOW, **options)
                found.append([[m.id, m.text, m.scores] for m in recall])
        found.append([vars_of(memory) for memory in agent.list(limit=10_000)])
        found += [vars_of(agent.get(f"m{n}")) for n in (0, 7, 30)]
        facts = agent.facts
        found.append([str(each) for each in facts.snapshot()])
        found.append([str(each) for each in facts.find(subject="Name2")])
        found.append([str(each) for each in facts.entities()])
        found.append([str(each) for each in agent.events.find()])
        found.append([str(each) for each in agent.events.episodes()])
        found.append([str(each) for each in agent.history("m100" if name == "a" else "m5")])
    return found


QUESTIONS = ("tea ink", "What did Name3 say of w49?", "Memory 7 of owl", "two days ago")
ASKED = vectors(999, len(QUESTIONS))
NOW = datetime(2030, 1, 1, tzinfo=UTC)


def vars_of(memory):
    return [str(memory), memory.to_dict() if hasattr(memory, "to_dict") else repr(memory)]


def outcome(path, mode, expected):
    """Open the store; return "same" or "wrong" for its answers, or an error; and warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with opened(path, read_only=mode == "ro") as store:
                found = digest(answers(store))
            result = "same" if found == expected else "wrong"
        except RecollexError as error:
            result = f"{type(error).__name__}: {error}"
        except Exception as error:
            result = f"foreign {type(error).__name__}: {error}" + traceback.format_exc()[-1500:]
    return result, [str(each.message) for each in caught]


def digest(values):
    return json.dumps(values, sort_keys=True, default=str)


def is_named_by_verify(path):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with opened(path, read_only=True) as store:
                return not all(store.agent(name).verify().ok for name in ("a", "b"))
    except RecollexError:
        return True


def flip(path, at, bit):
    with path.open("r+b", buffering=0) as file:
        file.seek(at)
        (byte,) = file.read(1)
        file.seek(at)
        file.write(bytes([byte ^ 1 << bit]))


def tried(store, own, mode, place, expected):
    """Flip a bit of a copy of ``store``; return what its answers were, and after writing."""
    name, at, bit = place
    if mode == "rw" or not own.exists():
        shutil.rmtree(own, ignore_errors=True)
        shutil.copytree(store, own)
    flip(own / name, at, bit)
    result, said = outcome(own, mode, expected)
    found = {"place": place, "mode": mode, "result": result, "warnings": said}
    if result == "wrong" and not said:
        found["verify"] = is_named_by_verify(own)
    if mode == "rw" and result == "same":
        found["again"] = outcome(own, "ro", expected)
    if mode == "ro":
        flip(own / name, at, bit)
    return found


def main():
    use_small_parts()
    integrity.EAGER = int(os.environ["EAGER"])
    expected = {}
    for line in sys.stdin:
        store, own, mode, places = json.loads(line)
        if store not in expected:
            with opened(store, read_only=True) as whole:
                expected[store] = digest(answers(whole))
        for number, place in enumerate(places):
            print("begin", number, flush=True)
            print(
                json.dumps(tried(Path(store), Path(own), mode, place, expected[store])), flush=True
            )
        shutil.rmtree(own, ignore_errors=True)
        print("done", flush=True)


if __name__ == "__main__":
    main()
