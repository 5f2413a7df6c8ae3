"""Where is it said? The documents and mentions that a cut sees, as nodes (MemoTrace, "Node types").

A document and a mention have no record of their own: a fact or an event names them. So a cut sees
them as long as it sees one of those, and what no visible fact or event names is no node.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.ids import content_id
from recollex_engine.domain.literals import MENTION as IS_MENTION
from recollex_engine.domain.literals import Mention, Source
from recollex_engine.facts.events import (
    AGGREGATES,
    INCLUDES,
    MENTIONED,
    archived,
    edges_from,
    find_events,
)
from recollex_engine.facts.fact_view import FactView
from recollex_engine.state.column_set import NONE

# Which facts, events and episodes rest on some memories? Those that a recall's filters admit.
Versions = npt.NDArray[np.int64]


def resting_on(view: FactView, memories: npt.NDArray[np.uint8]) -> list[tuple[str, Versions]]:
    """Return (table, versions) of the facts that cite one of ``memories``, and of the others.

    memories: uint8[n], 1 for each that counts. An event rests on the facts that it includes, an
    episode on its events. Cost: O(evidence and edges), 10 ns each.
    """
    array = view.columns.array
    cited = array("fact_evidence").astype(np.int64)
    of = array("fact_evidence_fact")
    counts = cited < len(memories)
    counts[counts] = memories[cited[counts]] == 1
    facts = np.unique(of[: len(cited)][counts]).astype(np.int64)
    ids = array("fact_id")[facts]
    events = _sources(view, INCLUDES, ids)
    keys = array("event_id")[events]
    episodes = _sources(view, AGGREGATES, keys)
    both = np.union1d(events, episodes)
    return [("fact", facts[facts < view.count]), ("event", both[~archived(view)[both]])]


def _sources(view: FactView, relation: int, targets: npt.NDArray[np.uint32]) -> Versions:
    """Return the versions of events with an edge of a relation to one of ``targets``."""
    array = view.columns.array
    versions = array("edge_version").astype(np.int64)
    count = len(versions)
    leads = array("edge_relation")[:count] == relation
    leads &= np.isin(array("edge_target")[:count], targets.astype(np.int64))
    found: Versions = np.unique(versions[leads])
    return found[found < view.count_of("event")]


@dataclass(frozen=True, slots=True)
class DocumentNode:
    """A document: its id is its URI. hashes: of its content, each time that it was read.

    facts: ids of the visible facts that were taken from it. mentions: ids of its mentions.
    """

    id: str
    uri: str
    hashes: tuple[str, ...]
    facts: tuple[str, ...]
    mentions: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the node as JSON values."""
        return {
            "id": self.id,
            "uri": self.uri,
            "hashes": list(self.hashes),
            "facts": list(self.facts),
            "mentions": list(self.mentions),
        }


@dataclass(frozen=True, slots=True)
class MentionNode:
    """A place in a document: its id is made of document, span and text.

    facts, events: ids of the visible facts and events that it is evidence of.
    """

    id: str
    document: str
    span: tuple[int, int]
    text: str
    facts: tuple[str, ...]
    events: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the node as JSON values."""
        return {
            "id": self.id,
            "document": self.document,
            "span": list(self.span),
            "text": self.text,
            "facts": list(self.facts),
            "events": list(self.events),
        }


def mention_id(mention: Mention) -> str:
    """Return the id of a mention's node: the same for equal mentions."""
    return content_id("mention", mention.document, *mention.span, mention.text)


def mention_nodes(view: FactView, document: str | None = None) -> list[MentionNode]:
    """Return the mentions that the cut sees, in the order in which they were first named.

    document: only those of this document. Cost: that of all visible facts and events.
    """
    named: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for kind, id, texts in (*_by_facts(view), *_by_events(view)):
        for text in texts:
            named.setdefault(text, ({}, {}))[kind][id] = None
    nodes = []
    for text, (facts, events) in named.items():
        mention = Mention.from_json(text)
        if document is None or mention.document == document:
            nodes.append(
                MentionNode(
                    mention_id(mention),
                    mention.document,
                    mention.span,
                    mention.text,
                    tuple(facts),
                    tuple(events),
                )
            )
    return nodes


def document_nodes(view: FactView) -> list[DocumentNode]:
    """Return the documents that the cut sees, in the order in which they were first named.

    They are the sources of the visible facts, and the documents of the visible mentions.
    """
    hashes: dict[str, dict[str, None]] = {}
    facts: dict[str, dict[str, None]] = {}
    sources = view.data("fact_source")
    ids = view.data("fact_id")
    for version in view.all().tolist():
        label = sources[version]
        if label != NONE:
            source = Source.from_json(str(view.columns.label(label)))
            fact = view.columns.dictionary["fact_ids"].string(ids[version])
            facts.setdefault(source.uri, {})[fact] = None
            known = hashes.setdefault(source.uri, {})
            if source.hash is not None:
                known[source.hash] = None
    mentions: dict[str, dict[str, None]] = {}
    for node in mention_nodes(view):
        mentions.setdefault(node.document, {})[node.id] = None
    return [
        DocumentNode(
            uri,
            uri,
            tuple(hashes.get(uri, ())),
            tuple(facts.get(uri, ())),
            tuple(mentions.get(uri, ())),
        )
        for uri in dict.fromkeys((*facts, *mentions))
    ]


def _by_facts(view: FactView) -> Iterator[tuple[int, str, list[str]]]:
    """Yield (0, id, texts of mentions) of each visible fact."""
    ids, kinds, objects = (view.data(f"fact_{name}") for name in ("id", "kind", "object"))
    label = view.columns.label
    for version in view.all().tolist():
        labels = view.numbers("fact_mention", "fact_mention_end", version)
        if kinds[version] == IS_MENTION:
            labels = [objects[version], *labels]
        if labels:
            id = view.columns.dictionary["fact_ids"].string(ids[version])
            yield 0, id, [str(label(each)) for each in labels]


def _by_events(view: FactView) -> Iterator[tuple[int, str, list[str]]]:
    """Yield (1, id, texts of mentions) of each visible event."""
    for key in find_events(view):
        texts = [
            str(view.columns.label(edge.target))
            for edge in edges_from(view, key)
            if edge.relation == MENTIONED
        ]
        if texts:
            yield 1, view.columns.dictionary["event_ids"].string(key), texts
