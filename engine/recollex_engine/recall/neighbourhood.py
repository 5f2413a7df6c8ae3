"""The facts, events and entities around the memories of a recall, found by relation.

MemoTrace ("Retrieval and packing"): from the best memories the search goes in both directions
between facts and events, to a depth and with a fan-out for each relation. It visits each node once.

The weight of a node is the maximum over the paths from seeds: the seed's weight, times `DECAY` for
each edge, and divided by 1 + ln n for each entity on the path. Here n is the number of facts and
events about the entity that were read; the graph arm weighs frequent names in the same way.
"""

import heapq
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import OPEN_END
from recollex_engine.domain.fact_schema import ARCHIVED, BETWEEN_EVENTS
from recollex_engine.domain.fact_schema import RELATIONS as EDGES
from recollex_engine.domain.intervals import OPEN_START, Span
from recollex_engine.domain.literals import ENTITY, Mention
from recollex_engine.facts.events import INCLUDES, PARTICIPANT, edges_from, edges_to, event_status
from recollex_engine.facts.events import event_visible_at as freshness_of
from recollex_engine.facts.fact_view import FactView, Ordinals
from recollex_engine.facts.facts import conflicts_of, read_fact
from recollex_engine.state.view import View
from recollex_engine.text.analyzer import Analyzer

Node = tuple[str, int]
"""Its kind, and its number there: a memory's ordinal, a fact's version, an event's number in
`event_ids`, an entity."""

EVENT, FACT, MEMORY, NAME = KINDS = ("event", "fact", "memory", "entity")
"""The kinds, in the order in which a pack names them."""
DECAY = 0.5
"""Factor of the weight for each edge."""
LOOKED_AT = 256
"""The newest facts and events of an entity that are compared before the fan-out is applied."""
MOST_NODES = 500
"""Number of nodes at which the search ends."""

_LINKS = tuple(EDGES[number] for number in sorted(BETWEEN_EVENTS))
RELATIONS = {
    EVENT: ("includes_fact", "has_participant", *_LINKS),
    FACT: ("includes_fact", "evidence", "conflicts_with", "subject", "object"),
    MEMORY: ("evidence", "mentions"),
    NAME: ("subject", "object", "has_participant"),
}
"""The relations that are followed from each kind of node, in both directions, in this order."""


@dataclass(frozen=True, slots=True)
class ReachedNode:
    """How a node was reached: its weight, and how many edges lie between it and a seed."""

    weight: float
    distance: int


class Neighbourhood:
    """The nodes around one question in one cut.

    facts: the cut. shown uint8[memories]: which memories of ``view`` the cut shows. terms: of the
    question. interval: facts and events must overlap it to be reached; None for no such condition.
    """

    def __init__(
        self,
        view: View,
        facts: FactView,
        shown: npt.NDArray[np.uint8],
        analyzer: Analyzer,
        terms: frozenset[str],
        interval: Span | None,
        fan_out: Mapping[str, int],
    ) -> None:
        self.view = view
        self.facts = facts
        self.shown = shown
        self.terms = terms
        self._analyzer = analyzer
        self._interval = interval
        self._fan_out = fan_out
        self._terms_of: dict[Node, frozenset[str]] = {}
        self._beside: dict[int, Ordinals] = {}

    def reach(self, seeds: Mapping[Node, float], depth: int) -> dict[Node, ReachedNode]:
        """Return the nodes at most ``depth`` edges from a seed, in the order they were met.

        A level is walked from its heaviest node on, ties by kind and then number. Cost: about
        20 us a node, at most `MOST_NODES`.
        """
        found = {node: ReachedNode(weight, 0) for node, weight in seeds.items()}
        level = list(found)
        for distance in range(1, depth + 1):
            level.sort(key=lambda node: (-found[node].weight, KINDS.index(node[0]), node[1]))
            met: list[Node] = []
            for node in level:
                for other, share in self._around(node):
                    weight = found[node].weight * share
                    known = found.get(other)
                    if known is not None:
                        if weight > known.weight:
                            found[other] = ReachedNode(weight, known.distance)
                    elif len(found) < MOST_NODES:
                        found[other] = ReachedNode(weight, distance)
                        met.append(other)
            level = met
        return found

    def _around(self, node: Node) -> Iterator[tuple[Node, float]]:
        """Yield the neighbours of a node, each with the factor of the weight along the edge."""
        for relation in RELATIONS[node[0]]:
            most = self._fan_out[relation]
            if most:
                near = list(islice(_WALKS[node[0]](self, node, relation), LOOKED_AT))
                share = DECAY / (1 + math.log(len(near))) if node[0] == NAME and near else DECAY
                if len(near) > most:  # those with most terms of the question, then the newest
                    near.sort(key=lambda other: -len(self.terms_of(other)))
                yield from ((other, share) for other in near[:most])

    # -- the relations, each newest first --------------------------------------------------------

    def _from_event(self, node: Node, relation: str) -> Iterator[Node]:
        facts = self.facts
        number = EDGES.index(relation)
        for edge in reversed(edges_from(facts, node[1])):
            if edge.relation == number:
                yield from self._target(number, edge.target)
        if number in BETWEEN_EVENTS:
            for edge in edges_to(facts, "event", node[1]):
                if edge.relation == number:
                    yield from self._event(edge.source)

    def _target(self, relation: int, target: int) -> Iterator[Node]:
        if relation == INCLUDES:
            version = self.facts.version_of(target)
            if version is not None:
                yield from self._fact(version)
        elif relation == PARTICIPANT:
            yield NAME, self.facts.root(target)
        else:
            yield from self._event(target)

    def _from_fact(self, node: Node, relation: str) -> Iterator[Node]:
        facts = self.facts
        version = node[1]
        data = facts.data
        if relation == "includes_fact":
            for edge in edges_to(facts, "fact", data("fact_id")[version]):
                if edge.relation == INCLUDES:
                    yield from self._event(edge.source)
        elif relation == "evidence":
            yield from ((MEMORY, memory) for memory in sorted(self.evidence(version), reverse=True))
        elif relation == "conflicts_with":
            for other in reversed(self.conflicts(version)):
                yield from self._fact(other)
        elif relation == "subject":
            yield NAME, facts.root(data("fact_subject")[version])
        elif data("fact_kind")[version] == ENTITY:
            yield NAME, facts.root(data("fact_object")[version])

    def _from_memory(self, node: Node, relation: str) -> Iterator[Node]:
        if relation == "evidence":
            for version in reversed(self.facts.of_evidence([node[1]]).tolist()):
                yield from self._fact(version)
            return
        first, end = self.view.offsets("mention_offset")[node[1] : node[1] + 2].tolist()
        for entity in self.view.buffer("mention_entity")[first:end].tolist():
            yield NAME, self.facts.root(entity)

    def _from_entity(self, node: Node, relation: str) -> Iterator[Node]:
        facts = self.facts
        members = facts.identities.members(node[1]) if facts.identities else (node[1],)
        if relation == "has_participant":
            for member in members:
                for edge in edges_to(facts, "entity", member):
                    if edge.relation == PARTICIPANT:
                        yield from self._event(edge.source)
            return
        chain = "fact_subject" if relation == "subject" else "fact_entity"
        entries = heapq.merge(*(facts.entries(chain, each) for each in members), reverse=True)
        of = None if relation == "subject" else facts.data("fact_entity_fact")
        for entry in entries:
            yield from self._fact(entry if of is None else of[entry])

    def _fact(self, version: int) -> Iterator[Node]:
        """Yield a fact if the cut shows it and it overlaps the interval."""
        facts = self.facts
        if version < facts.count and facts.is_visible(version):
            span = facts.data("fact_start")[version], facts.data("fact_end")[version]
            if self._is_asked(span):
                yield FACT, version

    def _event(self, key: int) -> Iterator[Node]:
        facts = self.facts
        if freshness_of(facts, key) is not None and event_status(facts, key) != ARCHIVED:
            version = facts.version_of(key, "event")
            span = facts.data("span_start")[version], facts.data("span_end")[version]
            if self._is_asked(span):
                yield EVENT, key

    def _is_asked(self, span: Span) -> bool:
        first, end = self._interval or (OPEN_START, OPEN_END)
        return span[0] < end and span[1] > first

    def is_asked(self, node: Node) -> bool:
        """Return whether a fact or event that the cut shows overlaps the interval."""
        kind, number = node
        return any(each == node for each in (self._fact if kind == FACT else self._event)(number))

    # -- the text of a node ----------------------------------------------------------------------

    def evidence(self, version: int) -> list[int]:
        """Return the memories that a fact cites and the cut shows, in the order of the fact."""
        cited = self.facts.numbers("fact_evidence", "fact_evidence_end", version)
        return [each for each in cited if each < len(self.shown) and self.shown[each]]

    def conflicts(self, version: int) -> list[int]:
        """Return the facts of the cut that contradict one, in recorded order."""
        subject = self.facts.root(self.facts.data("fact_subject")[version])
        beside = self._beside.get(subject)
        if beside is None:
            beside = self._beside[subject] = self.facts.of_subject(subject)
        return conflicts_of(self.facts, version, beside)

    def terms_of(self, node: Node) -> frozenset[str]:
        """Return the terms of the question that are in a node's own text."""
        found = self._terms_of.get(node)
        if found is None:
            found = self._terms_of[node] = self.terms_in(self._words(node))
        return found

    def terms_in(self, text: str) -> frozenset[str]:
        """Return the terms of the question that are in a text."""
        return self.terms.intersection(filter(None, self._analyzer.sequence(text)))

    def _words(self, node: Node) -> str:
        facts, (kind, number) = self.facts, node
        if kind == FACT:
            fact = read_fact(facts, number)
            said = fact.object.text if isinstance(fact.object, Mention) else fact.object
            return f"{fact.subject} {fact.predicate} {said}"
        if kind == EVENT:
            summary = facts.data("event_summary")[facts.version_of(number, "event")]
            names = " ".join(
                facts.entity_name(edge.target)
                for edge in edges_from(facts, number)
                if edge.relation == PARTICIPANT
            )
            return f"{facts.columns.label(summary)} {names}"
        if kind == NAME:
            return facts.entity_name(number)
        first, end = self.view.offsets("text_offset")[number : number + 2].tolist()
        return str(self.view.buffer("text")[first:end].data, "utf-8", "replace")


_WALKS: dict[str, Callable[[Neighbourhood, Node, str], Iterator[Node]]] = {
    EVENT: Neighbourhood._from_event,
    FACT: Neighbourhood._from_fact,
    MEMORY: Neighbourhood._from_memory,
    NAME: Neighbourhood._from_entity,
}


def named_entities(facts: FactView, analyzer: Analyzer, text: str) -> Sequence[int]:
    """Return the entities whose names are in a text, the longest name at each place, in order.

    A name has up to four words, and not only stop words. Cost: four look-ups for each word.
    """
    words = [word.strip("?!.,;:\"'()[]“”") for word in text.replace("\u2019", "'").split()]
    words = [word.removesuffix("'s") for word in words]
    found: dict[int, None] = {}
    place = 0
    while place < len(words):
        for length in range(min(4, len(words) - place), 0, -1):
            name = " ".join(words[place : place + length])
            if any(analyzer.sequence(name)) and (entity := facts.entity(name)) is not None:
                found[entity] = None
                place += length
                break
        else:
            place += 1
    return list(found)
