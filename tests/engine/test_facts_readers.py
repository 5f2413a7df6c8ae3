"""Readers of facts beside a writer, in threads and in another process: whole transactions only."""

import json
import os
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

import recollex
from recollex_engine.agents.verification import problems_of
from recollex_engine.log.reader import LogOperation
from recollex_engine.state.applying import apply
from recollex_engine.state.column_set import NONE
from recollex_engine.state.columns import Columns
from recollex_engine.writing import checkpoint

CHILD = Path(__file__).with_name("facts_reader_child.py")
START = datetime(2024, 1, 1, tzinfo=UTC)
NAMES = ["Ann", "Ben", "Cy", "Oslo"]


@pytest.fixture
def store(tmp_path):
    with recollex.open(
        tmp_path / "store", embedder=recollex.GivenVectors(8), durability="off"
    ) as store:
        yield store


def test_threads_see_whole_transactions_while_columns_move(store):
    agent = store.agent("a")
    with agent.transaction() as tx:
        tx.facts.add("left", "holds", 50, id="left")
        tx.facts.add("right", "holds", 50, id="right")
    failures, done = [], threading.Event()

    def read(seed):
        random = np.random.default_rng(seed)
        while not done.is_set():
            try:
                found = {
                    fact.id: fact.object
                    for fact in agent.facts.snapshot()
                    if fact.id in ("left", "right")
                }
                assert sum(found.values()) == 100, found
                subject = random.choice(["left", "right"])
                assert len(agent.facts.find(subject=subject)) == 1
                for event in agent.events.find(fact="left"):
                    assert len(event.evidence) == 1
                history = agent.facts.history("right")
                assert sum(fact.recorded[1] is None for fact in history[-2:]) <= 1
            except Exception as error:  # told to the main thread
                failures.append(error)
                return

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for step in range(150):
        with agent.transaction() as tx:
            tx.facts.correct("left", object=step % 100 + 0.5)
            tx.facts.correct("right", object=100 - (step % 100 + 0.5))
            tx.facts.add(f"other {step}", "likes", "left" if step % 3 else f"new {step}")
            if step % 10 == 0:
                tx.events.add(f"event {step}", facts=["left"], participants=["left"])
            if step % 20 == 5:
                tx.facts.merge(f"other {step}", f"other {step - 1}")
        if step % 60 == 30:
            agent.checkpoint()
    done.set()
    for thread in threads:
        thread.join()
    assert not failures
    assert agent.verify().ok


def test_another_process_reads_the_same_facts_at_every_cut(store, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "LOG_BYTES", 20_000)
    agent, random = store.agent("a"), np.random.default_rng(3)
    agent.facts.add("Ann", "likes", "Oslo", id="f0", recorded_at=START)
    path = os.pathsep.join(each for each in sys.path if each)
    child = subprocess.Popen(
        [sys.executable, str(CHILD), str(tmp_path / "store")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
        text=True,
    )
    assert child.stdout.readline() == "ready\n"
    for day in range(1, 40):
        at = START + timedelta(days=day)
        kept = [fact.id for fact in agent.facts.snapshot()]
        with agent.transaction(recorded_at=at, by="writer") as tx:
            for _ in range(int(random.integers(1, 5))):
                one, other = random.choice(NAMES, 2)
                tx.facts.add(str(one), "likes", str(other), id=f"f{random.integers(12)}")
            if day % 4 == 1:
                tx.facts.archive(kept[int(random.integers(len(kept)))])
            tx.events.add(f"day {day}", facts=[f"f{min(day % 3, 0)}"], participants=["Ann"])
        if day == 20:
            agent.facts.merge("Ann", "Ben", recorded_at=at + timedelta(hours=1))
        if day % 13 == 5:
            agent.checkpoint()
        cuts = [None, START + timedelta(days=int(random.integers(0, day + 1)))]
        for cut in cuts:
            child.stdin.write(("now" if cut is None else cut.isoformat()) + "\n")
            child.stdin.flush()
            mine = [
                [fact.to_dict() for fact in agent.facts.snapshot(as_recorded=cut)],
                [event.to_dict() for event in agent.events.find(as_recorded=cut)],
                [entity.to_dict() for entity in agent.facts.entities(as_recorded=cut)],
            ]
            assert json.loads(child.stdout.readline()) == json.loads(json.dumps(mine))
    child.stdin.close()
    assert child.wait(10) == 0
    child.stdout.close()
    assert agent.verify().ok


@pytest.mark.parametrize(
    ("name", "version", "value"),
    [("fact_closed_by", 0, 0), ("fact_end", 1, 7), ("fact_subject_previous", 1, 5)],
)
def test_verify_names_a_column_that_says_other_than_the_log(store, name, version, value):
    agent = store.agent("a")
    agent.facts.add("Ann", "likes", "Oslo", id="f")
    agent.facts.correct("f", object="Rome")
    columns = agent.engine.replica().columns
    assert columns.array("fact_previous").tolist() == [NONE, 0]
    columns.column[name].buffer[version] = value
    assert agent.verify().problems == (f"column {name} differs from the log at item {version}",)


def test_a_recorded_log_that_breaks_an_invariant_is_named(store):
    def edge(op, **more):
        payload = {"id": "f", "subject": ["Ann", 0], "predicate": "p", "object": {"number": 1.0}}
        return LogOperation(op, op, "upsert_edge", payload | {"valid": [0, 9]} | more)

    for operations, message in [
        ([edge(1), edge(2)], "version 1 begins an id that has a version"),
        ([edge(1), edge(2, previous=0)], "version 1 is open beside the one before it"),
        ([edge(1, valid=[9, 9])], "version 0 ends before it starts"),
    ]:
        columns = Columns(Path("nowhere"))
        apply(columns, operations, lambda first, end: None)
        assert problems_of(columns) == [f"fact 'f': {message}"]
    columns = Columns(Path("nowhere"))
    apply(columns, [edge(1), edge(2, previous=0, closes=0)], lambda first, end: None)
    assert problems_of(columns) == []


def test_a_closure_ahead_of_the_log_never_happened(tmp_path):
    """As after a crash of the machine that kept a column's page and lost the log's last lines."""
    options = {"embedder": recollex.GivenVectors(8), "durability": "off"}
    with recollex.open(tmp_path, **options) as store:
        agent = store.agent("a")
        agent.facts.add("Ann", "alias_of", "Anna", id="f")
        agent.events.add("what happened", facts=["f"], id="e")
        agent.checkpoint()
    for name in ("fact_closed_by", "event_closed_by"):
        path = tmp_path / "agents" / "a" / "columns" / name
        assert path.read_bytes() == bytes(8)
        path.write_bytes((99).to_bytes(8, "little"))
    with recollex.open(tmp_path, **options) as store:
        agent = store.agent("a")
        assert agent.facts.get("f").recorded[1] is None
        assert agent.facts.entity("Ann").name == "Anna"
        assert [event.id for event in agent.events.find()] == ["e"]
        agent.facts.correct("f", confidence=0.5)
        assert len(agent.facts.history("f")) == 2
        assert agent.verify().ok
