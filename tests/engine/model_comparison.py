"""What an agent says of its facts and events, compared with the bitemporal model."""

from datetime import timedelta

import pytest

import recollex
from recollex_engine.errors import UnknownIdError
from tests.engine.bitemporal_model import FACTS, NAMES, START, overlap, year


class ModelComparison:
    def __init__(self, model):
        self.model = model

    def compare(self, agent, at, world):
        cut = {
            "as_recorded": None if at is None else START + timedelta(days=at),
            "as_world": year(world),
        }
        known = self.model.now if at is None else at
        expected = self.model.view(known, world)
        found = agent.facts.snapshot(**cut)
        assert [self.plain(fact) for fact in found] == expected
        for name in NAMES:
            parent = self.model.parents(known)
            met = self.model.met.get(name, known + 1) <= known
            top = self.model.top(parent, name) if met else None
            of_name = [fact for fact in expected if fact[1]["subject"] == top]
            assert [self.plain(fact) for fact in agent.facts.find(subject=name, **cut)] == of_name
            to_name = [fact for fact in expected if fact[1]["object"] == top and top]
            assert [self.plain(fact) for fact in agent.facts.find(object=name, **cut)] == to_name
        shown = {fact["subject"] for _, fact in expected}
        shown |= {fact["object"] for _, fact in expected if isinstance(fact["object"], str)}
        shown |= {
            self.model.top(self.model.parents(known), name)
            for recorded, name in self.model.records
            if recorded <= known
        }
        assert {entity.name for entity in agent.facts.entities(**cut)} == shown
        for fact in found:
            clash = [
                other
                for other, content in expected
                if other != fact.id
                and (content["subject"], content["predicate"]) == (fact.subject, fact.predicate)
                and (content["object"], type(content["object"]))
                != (self.plain(fact)[1]["object"], type(self.plain(fact)[1]["object"]))
                and overlap(content["valid"], self.plain(fact)[1]["valid"])
            ]
            assert [conflict.id for conflict in fact.conflicts] == clash
        pairs = {(one.id, other.id) for one, other in agent.facts.conflicts(**cut)}
        assert pairs | {(b, a) for a, b in pairs} == {
            (fact.id, conflict.id) for fact in found for conflict in fact.conflicts
        }
        self.compare_events(agent, cut, known, world)

    def compare_events(self, agent, cut, known, world):
        fresh = {id: self.model.freshness(id, known, world) for id in ("e0", "e1")}
        found = {event.id: event for event in agent.events.find(**cut)}
        assert set(found) == {id for id, latest in fresh.items() if latest is not None}
        parent = self.model.parents(known)
        for id, event in found.items():
            (version,) = [v for v in self.model.seen(self.model.events, known) if v[0] == id]
            assert event.freshness == START + timedelta(days=fresh[id])
            assert event.facts == tuple(version[1]["facts"])
            tops = dict.fromkeys(self.model.top(parent, name) for name in version[1]["names"])
            assert [each.name for each in event.participants] == list(tops)
            assert [fact.id for fact in event.evidence] == sorted(
                event.facts, key=[fact.id for fact in agent.facts.snapshot(**cut)].index
            )
            links = [name for recorded, name in self.model.links if recorded <= known]
            expected = links if len(found) == 2 else []
            assert [link.relation for link in event.links] == (expected if id == "e0" else [])
            assert [link.relation for link in event.linked_from] == (expected if id == "e1" else [])
        for name in NAMES:
            met = self.model.met.get(name, known + 1) <= known
            top = self.model.top(parent, name) if met else None
            taking_part = [
                id for id, event in found.items() if top in [p.name for p in event.participants]
            ]
            of_name = agent.events.find(participant=name, **cut)
            assert sorted(event.id for event in of_name) == sorted(taking_part)
        episodes = [v for v in self.model.seen(self.model.events, known) if v[0] == "p"]
        seen = [id for id in episodes[0][1]["events"] if id in found] if episodes else []
        assert [list(episode.events) for episode in agent.events.episodes(**cut)] == (
            [seen] if seen else []
        )

    def compare_history(self, agent):
        for id in FACTS:
            versions = [v for v in self.model.facts if v[0] == id]
            if not versions:
                with pytest.raises(UnknownIdError):
                    agent.facts.history(id)
                continue
            history = agent.facts.history(id)
            assert [fact.recorded for fact in history] == [
                (
                    START + timedelta(days=recorded),
                    None if closed is None else START + timedelta(days=closed),
                )
                for _, _, recorded, closed in versions
            ]
            starts = [fact.recorded[0] for fact in history]
            assert starts == sorted(starts)
            assert sum(fact.recorded[1] is None for fact in history) <= 1

    @staticmethod
    def plain(fact):
        value = fact.object
        if fact.kind == "text":
            value = recollex.Text(value)
        years = tuple(None if each is None else each.year - 2000 for each in fact.valid)
        return fact.id, {
            "subject": fact.subject,
            "predicate": fact.predicate,
            "object": value,
            "valid": years,
            "evidence": fact.evidence,
            "confidence": fact.confidence,
        }
