"""A log with a whole chain whose payloads nothing of ours wrote: it is read, or refused.

The store with every kind of operation is written again with some fields of other types, numbers
out of bounds, or none, and asked everything. Kernels trust the numbers in columns, so one that gets
through ends the process. `make fuzz` tries more.
"""

import copy
import os
import random
import shutil
import warnings
from datetime import UTC, datetime

import orjson
import pytest

import recollex
from recollex_engine.errors import CorruptError, RecollexError
from recollex_engine.log.format import START, Position, encode_header, encode_transaction
from recollex_engine.log.reader import LogFollower
from tests.engine.data.write_store import PieceVectors, unpack

TRIALS = max(30, int(os.environ.get("RECOLLEX_FUZZ", "0")) // 10)
OTHERS = [
    *(0, -1, 1, 2, 7, 50, 2**16, 2**31, 2**32 - 1, 2**32, 2**40, 2**63 - 1, 2**64 - 1, -(2**63)),
    *(1.5, 1e300, "", "x", "\0", None, True, [], {}, [0], [[0, 1]], ["a", "b"]),
]
QUESTION = "Who drinks green tea in Rome?"
NOW = datetime(2024, 2, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return unpack(tmp_path_factory.mktemp("operations"))


def transactions(store):
    follower = LogFollower(store / "agents/ann/log")
    found = [
        (each.recorded_at, [(op.kind, op.payload or {}) for op in each.operations])
        for each in follower.read_new()
    ]
    follower.close()
    return found


def places(value, path=()):
    """Yield the path of each value in a JSON value."""
    if isinstance(value, dict | list):
        inside = value.items() if isinstance(value, dict) else enumerate(value)
        for key, each in inside:
            yield (*path, key)
            yield from places(each, (*path, key))


def changed(rng, payload):
    """Return a payload with one value replaced, doubled or left out."""
    made = copy.deepcopy(payload)
    path = rng.choice([*places(made)])
    holder = made
    for key in path[:-1]:
        holder = holder[key]
    how = rng.random()
    if how < 0.7:
        holder[path[-1]] = copy.deepcopy(rng.choice(OTHERS))
    elif how < 0.85 and isinstance(holder, list):
        holder.insert(path[-1], copy.deepcopy(holder[path[-1]]))
    else:
        del holder[path[-1]]
    return made


def write(store, target, written):
    """Write a store with these operations, their chain, and the vectors of another store."""
    shutil.rmtree(target, ignore_errors=True)
    agent = target / "agents" / "ann"
    (agent / "log").mkdir(parents=True)
    shutil.copy(store / "store.json", target)
    for path in (store / "agents" / "ann").glob("vectors*"):
        shutil.copy(path, agent)
    position, log = START, encode_header(1, START)
    for at, operations in written:
        encoded = [(kind, orjson.dumps(payload)) for kind, payload in operations]
        lines, chain = encode_transaction(position, at, encoded, bytes(32 * len(encoded)))
        log += lines
        position = Position(1, len(log), position.op + len(encoded), at, chain)
    (agent / "log" / "00000001.jsonl").write_bytes(log)


def ask(folder, *, read_only):
    """Ask an agent everything, and write to it."""
    with recollex.open(folder, embedder=PieceVectors(), read_only=read_only) as store:
        agent = store.agent("ann")
        for memory in agent.list():
            assert agent.get(memory.id).to_dict()
        agent.recall(QUESTION, now=NOW)
        agent.recall("tea", now=NOW, exact=True, explain=True, pack="subgraph")
        agent.at(datetime(2024, 1, 1, 1, tzinfo=UTC)).recall("cello", now=NOW)
        for found in (agent.facts.find(), agent.events.find(), agent.events.episodes()):
            assert len([each.to_dict() for each in found]) == len(found)
        for look in (agent.facts.entities, agent.log, agent.stats, agent.verify):
            look()
        agent.facts.search("Tess")
        agent.history("m1")
        if not read_only:
            agent.retain("New.")
            agent.checkpoint()


def test_what_is_not_changed_is_read(store, tmp_path):
    write(store, tmp_path / "s", transactions(store))
    ask(tmp_path / "s", read_only=True)
    ask(tmp_path / "s", read_only=False)


def test_any_payloads_are_read_or_refused(store, tmp_path):
    known = transactions(store)
    places_of = [(n, m) for n, (_, operations) in enumerate(known) for m in range(len(operations))]
    refused = 0
    for seed in range(TRIALS):
        rng, made = random.Random(seed), [(at, list(operations)) for at, operations in known]
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            n, m = rng.choice(places_of)
            kind, payload = made[n][1][m]
            if payload:
                made[n][1][m] = kind, changed(rng, payload)
        write(store, tmp_path / "s", made)
        for read_only in (True, False):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                try:
                    ask(tmp_path / "s", read_only=read_only)
                except RecollexError:
                    refused += 1
    assert 0 < refused < 2 * TRIALS


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("retain", {"terms": [[2**31]]}),
        ("retain", {"entities": [999]}),
        ("retain", {"links": [[999, 0.5]]}),
        ("retain", {"previous": 999}),
        ("retain", {"replaces": 999}),
        ("forget", {"memories": [-1]}),
        ("upsert_edge", {"evidence": [999]}),
        ("upsert_edge", {"subject": ["Tess", 999]}),
        ("upsert_edge", {"object": {"entity": ["Rome", 999]}}),
        ("upsert_edge", {"previous": 999}),
        ("archive_edge", {"closes": 999}),
        ("upsert_event", {"edges": [["has_participant", ["Tess", 999], None]]}),
        ("merge_entity", {"target": ["Ben", 999]}),
        ("split_entity", {"source": ["Benny", 999]}),
        ("upsert_entity", {"entity": ["Tess", 999]}),
        ("surface", {"version": 999}),
        ("retain", {"hole": 2**40}),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_a_number_that_names_nothing_is_damage(store, tmp_path, kind, change):
    made = transactions(store)
    n, m = next(
        (n, m)
        for n, (_, operations) in reversed([*enumerate(made)])
        for m, (each, _) in enumerate(operations)
        if each == kind
    )
    made[n][1][m] = kind, made[n][1][m][1] | change
    write(store, tmp_path / "s", made)
    with pytest.raises(CorruptError, match="payloads of operations"):
        ask(tmp_path / "s", read_only=True)
