"""What an agent thinks: formed once, superseded by later opinions, moved by evidence."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recollex
from recollex.errors import InputError, OperationError, UnknownIdError
from recollex_mind.opinions import LEAST, MOST, moved
from tests.bindings.word_vectors import WordVectors

DAY = datetime(2024, 5, 1, tzinfo=UTC)


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[recollex.Agent]:
    with recollex.open(tmp_path / "store", embedder=WordVectors()) as store:
        yield store.agent("ada")


def test_an_opinion_says_under_which_profile_it_was_formed(agent: recollex.Agent) -> None:
    agent.profile.set(openness=0.9, background="I cook.")
    told = agent.retain("Tea keeps Bob awake.", source="user")
    id = agent.opinions.form(
        " Tea is good. ",
        confidence=0.8,
        reasons=["It is warm.", "It is cheap."],
        evidence=told,
        entities=["Bob"],
        formed_at=DAY,
        by="ann",
    )
    agent.profile.set(openness=0.1, background="I sing.")
    found = agent.opinions.get(id)
    assert (found.text, found.confidence, found.formed_at) == ("Tea is good.", 0.8, DAY)
    assert found.reasons == ("It is warm.", "It is cheap.") and found.evidence == (told,)
    assert found.personality["openness"] == 0.9 and found.background == "I cook."
    assert (found.source, found.trust) == ("assistant", "assistant")
    assert (found.supersedes, found.superseded_by) == (None, None)
    memory = agent.get(id)
    assert memory.text == "Tea is good. (Reasons: It is warm.; It is cheap.)"
    assert memory.network == "opinion" and memory.entities == ("Bob",)
    assert agent.log()[-3].by == "ann" or agent.log(op="retain")[-1].by == "ann"
    assert id in agent.recall("Is it cheap?", network="opinion").ids
    assert agent.list(where={"confidence": {"ge": 0.8}})[0].id == id


def test_a_later_one_supersedes_it_and_the_chain_can_be_read(agent: recollex.Agent) -> None:
    ids: list[str] = []
    for n, text in enumerate(("Tea is good.", "Tea is bad.", "Tea is fine.")):
        before = ids[-1] if ids else None
        at = DAY + timedelta(days=n)
        ids.append(agent.opinions.form(text, confidence=n / 2, supersedes=before, recorded_at=at))
    for id in ids:
        assert [each.id for each in agent.opinions.chain(id)] == ids
    links = [(each.supersedes, each.superseded_by) for each in agent.opinions.chain(ids[0])]
    assert links == [(None, ids[1]), (ids[0], ids[2]), (ids[1], None)]
    assert [each.id for each in agent.opinions.find()] == ids[2:]
    assert agent.recall("tea", network="opinion").ids == ids[2:]
    then = agent.at(DAY + timedelta(hours=36))
    assert [each.id for each in then.opinions.find()] == ids[1:2]
    assert [each.id for each in then.opinions.chain(ids[0])] == ids[:2]
    with pytest.raises(UnknownIdError):
        then.opinions.get(ids[2])
    with pytest.raises(InputError, match="superseded already"):
        agent.opinions.form("Tea is odd.", confidence=0.5, supersedes=ids[1])
    agent.forget(ids[1])
    assert [each.id for each in agent.opinions.chain(ids[2])] == ids[2:]


def test_an_opinion_does_not_change(agent: recollex.Agent) -> None:
    for id in (
        agent.opinions.form("Tea is good.", confidence=0.8),
        agent.retain("Milk is good.", network="opinion", id="milk", tags=["x"]),
    ):
        before = agent.get(id)
        for change in (
            lambda: agent.correct(id, "Tea is bad."),  # noqa: B023 - called in this turn
            lambda: agent.amend(id, metadata={"confidence": 1.0}),  # noqa: B023
            lambda: agent.amend(id, tags=["y"]),  # noqa: B023
            lambda: agent.retain("Tea is bad.", id=id),  # noqa: B023
            lambda: agent.retain_many(["a", "b"], id=["new", id], network="opinion"),  # noqa: B023
        ):
            with pytest.raises(InputError, match="does not change"):
                change()
        for operation in (
            {"op": "CORRECT", "id": id, "text": "Tea is bad."},
            {"op": "CORRECT", "id": id, "tags": ["y"]},
        ):
            with pytest.raises(OperationError, match="does not change"):
                agent.apply([operation])
        with pytest.raises(InputError, match="does not change"), agent.transaction() as tx:
            tx.retain("Tea is bad.", id=id)
        assert agent.get(id) == before and len(agent.history(id)) == 1
        assert agent.count() == agent.count(network="opinion")
    assert agent.retain("Milk is good.", network="opinion", id="milk", tags=["x"]) == "milk"
    agent.archive("milk")
    agent.forget("milk")
    assert agent.erase(agent.opinions.find()[0].id, by="ann", why="asked").memories == 1
    assert agent.verify().ok


def test_what_is_superseded_by_the_same_stays(agent: recollex.Agent) -> None:
    id = agent.opinions.form("Tea is good.", confidence=0.8, reasons="It is warm.")
    before = agent.head()
    again = agent.opinions.form("Tea is good.", confidence=0.8, reasons=["It is warm."],
                                supersedes=id)  # fmt: skip
    assert (again, agent.head()) == (id, before)
    assert agent.opinions.form("Tea is good.", confidence=0.9, supersedes=id) != id


def test_an_opinion_is_trusted_as_its_least_trusted_evidence(agent: recollex.Agent) -> None:
    ids = agent.retain_many(["Tea is old.", "Tea is new.", "Tea is hot."],
                            source=["user", "web", None])  # fmt: skip
    for evidence, trust in (([], "assistant"), (ids[:1], "assistant"), (ids[:2], "web")):
        id = agent.opinions.form(f"Tea {len(evidence)}.", confidence=1, evidence=evidence)
        assert agent.opinions.get(id).trust == trust
    id = agent.opinions.form("Tea is tea.", confidence=1, evidence=ids)
    assert agent.opinions.get(id).trust is None


def test_evidence_moves_a_confidence(agent: recollex.Agent) -> None:
    user, tool, web = agent.retain_many(["Tea is old.", "Tea is new.", "Tea is hot."],
                                        source=["user", "tool", "web"])  # fmt: skip
    strong = agent.opinions.form("Coffee is bad.", confidence=1.0)
    weak = agent.opinions.form("Coffee is fine.", confidence=0.1)

    def after(confidence: float = 0.5, **evidence: Any) -> float:
        id = agent.opinions.form("Tea is good.", confidence=confidence)
        found = agent.opinions.get(agent.opinions.weigh(id, by="ann", **evidence)).confidence
        assert found is not None
        return found

    assert after(supporting=user) == 0.6667 and after(contradicting=user) == 0.3333
    assert after(supporting=[user, user]) == 0.6667
    assert after(supporting=user, contradicting=tool) == pytest.approx(0.5432, abs=1e-4)
    assert after(supporting=strong) > after(supporting=weak) > 0.5
    assert after(supporting=web) == after(supporting=strong) < after(supporting=tool)
    assert after(1.0, contradicting=user) < 0.99 and after(0.0, supporting=user) > 0.01


def test_a_memory_counts_once_in_a_chain(agent: recollex.Agent) -> None:
    told, other = agent.retain_many(["Tea is old.", "Tea is new."], source="user")
    first = agent.opinions.form("Tea is good.", confidence=0.5, evidence=told)
    assert agent.opinions.weigh(first, supporting=told) == first
    second = agent.opinions.weigh(first, supporting=[told, other])
    assert agent.opinions.get(second).evidence == (told, other)
    assert agent.opinions.weigh(second, contradicting=other) == second
    assert agent.opinions.get(second).confidence == 0.6667


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda o, id: o.form("", confidence=1), "text is empty"),
        (lambda o, id: o.form("a", confidence=1.1), "confidence"),
        (lambda o, id: o.form("a", confidence=True), "confidence"),
        (lambda o, id: o.form("a", confidence=1, reasons=["a"] * 33), "reasons"),
        (lambda o, id: o.form("a", confidence=1, reasons=[3]), "reasons"),
        (lambda o, id: o.form("a", confidence=1, evidence="none"), "no memory"),
        (lambda o, id: o.form("a", confidence=1, supersedes="none"), "no memory"),
        (lambda o, id: o.form("a", confidence=1, supersedes="world"), "no opinion"),
        (lambda o, id: o.form("a", confidence=1, supersedes=id, evidence=id), "no evidence"),
        (lambda o, id: o.get("world"), "no opinion"),
        (lambda o, id: o.weigh("plain", supporting="world"), "no confidence"),
        (lambda o, id: o.weigh(id, supporting="world", contradicting="world"), "for and against"),
        (lambda o, id: o.weigh(id, supporting=id), "chain"),
        (lambda o, id: o.find(min_confidence=2), "min_confidence"),
    ],
)
def test_what_cannot_be_thought(agent: recollex.Agent, call: Any, complaint: str) -> None:
    agent.retain("Tea is old.", id="world")
    agent.retain("Tea is plain.", id="plain", network="opinion")
    id = agent.opinions.form("Tea is good.", confidence=0.5)
    before = agent.head()
    with pytest.raises(InputError, match=complaint):
        call(agent.opinions, id)
    assert agent.head() == before
    assert agent.opinions.get("plain").confidence is None
    assert len(agent.opinions.find(min_confidence=0.4)) == 1 < len(agent.opinions.find())


WEIGHTS = st.lists(st.sampled_from([0.25, 0.5, 0.75, 1.0]), max_size=6)
CONFIDENCE = st.floats(0, 1)


@given(CONFIDENCE, WEIGHTS, WEIGHTS)
def test_the_rule(confidence: float, for_it: list[float], against: list[float]) -> None:
    found = moved(confidence, for_it, against)
    power = sum(for_it) - sum(against)
    if power == 0:
        assert found == confidence
        return
    assert LEAST <= found <= MOST
    held = min(max(confidence, LEAST), MOST)
    assert (found >= held - 1e-4) if power > 0 else (found <= held + 1e-4)
    odds = held / (1 - held) * 2**power
    assert found == pytest.approx(min(max(odds / (1 + odds), LEAST), MOST), abs=1e-4)


def test_a_subset_of_the_networks_is_recalled(agent: recollex.Agent) -> None:
    ids = agent.retain_many(["Tea is old.", "I made tea."], network=["world", "agent"])
    ids.append(agent.opinions.form("Tea is good.", confidence=0.5))
    for networks, wanted in (("opinion", ids[2:]), (["world", "opinion"], ids[::2]), (None, ids)):
        assert sorted(agent.recall("tea", network=networks).ids) == sorted(wanted)


def test_a_first_write_that_is_refused_shows_what_the_next_opening_shows(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(8)) as store:
        agent = store.agent("ann")
        with pytest.raises(InputError, match="is an opinion"):
            agent.retain_many(
                ["tea", "tea"],
                id=["m", "m"],
                network=["opinion", "world"],
                embedding=np.ones((2, 8), np.float32),
            )
        shown = agent.stats().operations, agent.recall("tea", query_embedding=np.ones(8)).op
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(8)) as store:
        agent = store.agent("ann")
        assert shown == (1, 1)
        assert shown == (
            agent.stats().operations,
            agent.recall("tea", query_embedding=np.ones(8)).op,
        )
