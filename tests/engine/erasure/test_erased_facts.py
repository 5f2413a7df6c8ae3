"""Facts and events of erased memories: which go, and what the others say then."""

import numpy as np
import pytest

import recollex
from recollex_engine import errors
from tests.engine.erasure.secret import BY, WORDS, tell
from tests.engine.erasure.traces import assert_gone
from tests.engine.faults.small_store import opened, vectors


def test_facts_and_events_go_with_their_last_source(path):
    with opened(path) as agent:
        tell(agent, "m1")
        tell(agent, "m2", text="Tea is fine.", seed=5, tags=[], document_id=None, metadata={})
        add, event = agent.facts.add, agent.events.add
        add("Quuxley", "has", recollex.Text("podagra"), id="gone", evidence=["m1"])
        add("Ann", "likes", "tea", id="stays", evidence=["m1", "m2"])
        add("Ann", "knows", "Ben", id="told")
        quoted = recollex.Mention("secret-doc", (0, 7), "Quuxley has the podagra")
        add("Ann", "has_seen", "Ben", id="quoted", mentions=[quoted])
        add("Ann", "lives_in", "Quuxtown", id="moved", evidence=["m1"])
        agent.facts.correct("moved", object="Oslo", evidence=["m2"])
        event("Zanzibarina fell ill.", facts=["gone"], id="ill", participants=[("Quuxley", "ill")])
        event("They had tea.", facts=["gone", "stays"], id="tea")
        event("Ann met Ben.", id="met")
        agent.events.link("tea", "causes", "ill")
        agent.events.link("tea", "causes", "met")
        agent.events.add_episode("Zanzibarina's year", ["ill"], id="ill-year")
        agent.events.add_episode("A year", ["ill", "tea"], id="year")
        done = agent.erase("m1", **BY)
        assert (done.memories, done.facts, done.events) == (1, 3, 2)
        for id in ("gone", "quoted"):
            with pytest.raises(errors.UnknownIdError):
                agent.facts.get(id)
        assert agent.facts.get("stays").evidence == ("m2",)
        assert agent.facts.get("told").object == "Ben"
        assert [fact.object for fact in agent.facts.history("moved")] == ["Oslo"]
        assert agent.events.get("tea").facts == ("stays",)
        assert [event.id for event in agent.events.find()] == ["tea", "met"]
        assert agent.events.get_episode("year").events == ("tea",)
        assert agent.verify().problems == ()
        add("Ann", "likes", "ink", id="later", evidence=["m2"])
        agent.facts.correct("moved", object="Rome")
        held = [(fact.id, fact.object) for fact in agent.facts.find()]
        assert_gone(path, [*WORDS, "quuxtown", '"ill"', "ill-year"])
    with opened(path) as agent:
        assert [(fact.id, fact.object) for fact in agent.facts.find()] == held
        assert agent.verify().problems == ()
        agent.erase("m2", **BY)
        assert [fact.id for fact in agent.facts.find()] == ["told"]
        assert agent.verify().problems == ()


def test_the_version_before_an_erased_correction_holds_again(path):
    with opened(path) as agent:
        for n in (1, 2):
            agent.retain(f"Memory {n}.", id=f"m{n}", embedding=vectors(n, 1)[0])
        agent.facts.add("Ann", "likes", "tea", id="f", evidence=["m1"])
        agent.facts.correct("f", object="ink", evidence=["m2"])
        agent.facts.add("Ann", "likes", "oak", id="g", evidence=["m1"])
        agent.facts.correct("g", object="elm", evidence=["m2"])
        agent.facts.correct("g", object="fig", evidence=["m1"])
        agent.erase("m2", **BY)
        assert agent.verify().problems == ()
        held = [(fact.id, fact.object) for fact in agent.facts.find()]
        assert held == [("f", "tea"), ("g", "fig")]
        assert [fact.object for fact in agent.facts.history("f")] == ["tea"]
        assert [fact.object for fact in agent.facts.history("g")] == ["oak", "fig"]


def test_a_later_version_loses_what_an_erased_one_said(path):
    """Also an end, and also words that the version before it had."""
    with opened(path) as agent:
        for n in range(4):
            agent.retain(f"Memory {n}.", id=f"m{n}", embedding=vectors(n, 1)[0])
        correct = agent.facts.correct
        agent.facts.add("Ann", "lives_in", "Oslo", id="home", evidence="m0")
        correct("home", object="Quuxley", evidence=["m0", "m1"])
        correct("home", valid_end="2024-06-01T00:00Z", evidence=["m0", "m1", "m2"])
        agent.facts.add("Ann", "works_at", "Acme", id="work", evidence="m0")
        correct("work", valid_end="2024-06-01T00:00Z", evidence=["m0", "m1"])
        agent.facts.add("Ann", "likes", "Quuxley", id="likes", evidence="m1")
        correct("likes", valid_end="2024-06-01T00:00Z", evidence=["m1", "m2"])
        agent.facts.add("Ann", "knows", "Ben", id="again", evidence="m1")
        correct("again", evidence=["m1", "m3"])
        agent.erase("m1", **BY)
        facts = {fact.id: fact for fact in agent.facts.find()}
        assert {id: fact.object for id, fact in facts.items()} == {
            "home": "Oslo",  # until June, as m2 says
            "work": "Acme",  # without an end
            "again": "Ben",  # as m3 says, too
        }
        assert facts["home"].valid[1] is not None and facts["work"].valid[1] is None
        assert facts["home"].evidence == ("m0", "m2") and facts["again"].evidence == ("m3",)
        assert agent.verify().problems == ()
        assert_gone(path, ["quuxley"])


def test_the_end_of_a_version_that_was_erased_ends_the_one_before(path):
    """What a caller archived stays closed, and what was added anew is the open version."""
    with opened(path) as agent:
        for n in (1, 2):
            agent.retain(f"Memory {n}.", id=f"m{n}", embedding=vectors(n, 1)[0])
        for id in ("closed", "anew"):
            agent.facts.add("Ann", "likes", "tea", id=id, evidence="m1")
            agent.facts.correct(id, object="ink", evidence="m2")
            agent.facts.archive(id)
        agent.facts.add("Ann", "likes", "fig", id="anew", evidence="m1")
        agent.erase("m2", **BY)
        assert [(fact.id, fact.object) for fact in agent.facts.find()] == [("anew", "fig")]
        assert agent.verify().problems == ()


@pytest.mark.parametrize("seed", range(3))
def test_facts_are_those_of_the_corrections_that_stay(path, seed):
    """Each correction cites one more memory, and changes some fields to values of its own."""
    rng = np.random.default_rng(seed)
    with opened(path) as agent:
        agent.retain("Base.", id="base", embedding=vectors(99, 1)[0])
        for n in range(8):
            agent.retain(f"Memory {n}.", id=f"m{n}", embedding=vectors(n, 1)[0])
        erased = {int(each) for each in rng.choice(8, 3, replace=False)}
        wanted = {}
        for number in range(40):
            id, evidence = f"f{number}", ["base"]
            said = {"object": "Oslo", "valid_start": None, "valid_end": None}
            agent.facts.add("Ann", "lives_in", "Oslo", id=id, evidence=evidence)
            for n in rng.permutation(8)[: int(rng.integers(6))].tolist():
                evidence = [*evidence, f"m{n}"]
                own = {
                    "object": f"Borough{n}",
                    "valid_start": f"19{10 + n}-01-01T00:00Z",
                    "valid_end": f"20{10 + n}-01-01T00:00Z",
                }
                names = rng.permutation(list(own))[: int(rng.integers(1, 3))].tolist()
                changes = {name: own[name] for name in names}
                agent.facts.correct(id, evidence=evidence, **changes)
                if n not in erased:
                    said |= changes
            left = tuple(each for each in evidence if each[1:] not in map(str, erased))
            wanted[id] = (*said.values(), left)
        agent.erase([f"m{n}" for n in sorted(erased)], **BY)
        assert agent.verify().problems == ()
        found = {}
        for fact in agent.facts.find():
            ends = (each and each.strftime("%Y-%m-%dT%H:%MZ") for each in fact.valid)
            found[fact.id] = (fact.object, *ends, fact.evidence)
        assert found == wanted
        assert_gone(path, [f"borough{n}" for n in erased])
