"""Makes encrypted agents, and looks for traces of what they hold."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

import recollex
from recollex_engine.log.format import decode_record
from tests.engine.erasure.traces import files_of, unit
from tests.engine.faults.small_store import D, contents, opened, vectors

KEY, OTHER = bytes(range(32)), bytes(range(1, 33))
WORD = "zyxqvw"
"""In everything that a caller gives."""
BY = {"by": f"{WORD}by", "why": f"{WORD}why"}


def clock():
    clock.now += timedelta(seconds=1)
    return clock.now


def tell(agent, first, count):
    """Retain memories with the word, or a vector of their own, in each field."""
    numbers = range(first, first + count)
    agent.retain_many(
        [f"Mr {WORD}son{n % 9} of {WORD}ville likes {WORD}tea {WORD}{n}." for n in numbers],
        id=[f"{WORD}id{n}" for n in numbers],
        embedding=vectors(first, count),
        entities=[[f"{WORD}name{n % 7}"] for n in numbers],
        tags=[[f"{WORD}tag{n % 3}"] for n in numbers],
        document_id=[f"{WORD}doc{n // 50}" for n in numbers],
        context=[f"{WORD}context"] * count,
        metadata=[{f"{WORD}key": f"{WORD}value{n}"} for n in numbers],
        source=f"{WORD}source",
        trust="user",
    )


def make(path, key, **options):
    """Make a store whose agent has every kind of file; return it, open."""
    clock.now = datetime(2024, 5, 1, tzinfo=UTC)
    store = recollex.open(path, embedder=recollex.GivenVectors(D), clock=clock, key=key, **options)
    agent = store.agent("a")
    for first in range(0, 1200, 400):
        tell(agent, first, 400)
        if first:
            agent.checkpoint()
    agent.facts.add(f"{WORD}Ann", f"{WORD}likes", f"{WORD}tea", id=f"{WORD}fact", **BY)
    agent.events.add(f"{WORD}event", participants=[f"{WORD}Ann"], facts=[f"{WORD}fact"])
    agent.facts.add_entity(f"{WORD}Ann", types=[f"{WORD}person"], aliases=[f"{WORD}Annie"])
    agent.forget(f"{WORD}id7", **BY)
    agent.correct(f"{WORD}id8", f"Corrected {WORD}.", embedding=vectors(9001, 1)[0], **BY)
    agent.set_retention([recollex.Retention(age=timedelta(days=9999))], **BY)
    agent.checkpoint()
    tell(agent, 1200, 20)
    agent.erase([f"{WORD}id30", f"{WORD}id31"], **BY)
    agent.checkpoint()
    agent.checkpoint()
    tell(agent, 1220, 5)
    agent.archive(f"{WORD}id9", **BY)
    return store


READABLE = {"KEY", "LOCK", "COMMIT", "HEAD", "REEMBED"}
"""Files of an encrypted agent that hold nothing of its memories."""


def assert_sealed(folder):
    """Every file of an agent is encrypted, also those that hold numbers alone."""
    for name, data in files_of(folder):
        where = Path(name.removesuffix(" decompressed"))
        if where.name in READABLE or (where.suffix == ".gz" and where == Path(name)):
            continue
        if where.parent.name == "log":
            header, *lines = data.splitlines()
            assert header.startswith(b'{"recollex_log":2,'), name
            payloads = (decode_record(line).payload for line in lines)
            assert all(p is None or p.startswith(b'{"sealed":"') for p in payloads), name
        elif where.name.startswith("vectors"):
            assert data[8:12] == b"\2\0\0\0", name
        else:
            assert data.startswith(b"rcxseal1"), name


def traces_in(path):
    """Return the names of the files that hold the word, or bytes of the first vectors."""
    rows = [unit(each).astype(np.float16).tobytes() for each in vectors(0, 50)]
    found = set()
    for name, data in files_of(path):
        lowered = data.lower()
        if WORD.encode() in lowered or any(row in data for row in rows):
            found.add(name)
    return found


def all_answers(agent):
    found = [
        [(m.id, m.text, m.scores, m.tags, m.metadata, m.entities, m.source) for m in recall]
        for recall in (
            agent.recall(f"{WORD}tea of {WORD}son3", query_embedding=vectors(n, 1)[0], **options)
            for n in (3, 500)
            for options in ({}, {"exact": True}, {"tags": [f"{WORD}tag1"]})
        )
    ]
    found.append(contents(agent))
    found.append([str(each) for each in agent.facts.find(subject=f"{WORD}Ann")])
    found.append([str(each) for each in agent.events.find()])
    found.append([(e.op, e.kind, e.by, e.why, e.ids) for e in agent.log()])
    found.append([m.text for m in agent.history(f"{WORD}id8")])
    return found


def refused(error, said, path, key, **options):
    """Open the agent, which raises; return the message."""
    with pytest.raises(error, match=said) as told, opened(path, key=key, **options) as agent:
        agent.stats()
    return str(told.value)
