"""Facts and events of erased memories: which go, and what the others say then."""

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


def test_a_fact_that_an_erased_correction_closed_stays_closed(path):
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
        assert [(fact.id, fact.object) for fact in agent.facts.find()] == [("g", "fig")]
        assert [fact.object for fact in agent.facts.history("f")] == ["tea"]
        assert [fact.object for fact in agent.facts.history("g")] == ["oak", "fig"]
