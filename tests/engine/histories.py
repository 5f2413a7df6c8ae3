"""What random histories are made of: statements, turns, operations and questions.

Vectors are made from the words of a small vocabulary, so that texts tie.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from recollex_engine.models.description import PAPER_THRESHOLDS

DIMENSION = 16
START = datetime(2024, 5, 1, 12, tzinfo=UTC)
STEP = timedelta(minutes=7)
WORDS = ["tea", "cello", "puppy", "garden", "like", "lost", "the", "a", "and", "zymurgy", "quokka"]
NAMES = ["Ann", "Ben", "Oslo", "Bob Chen", "Bob Chen", "Bob Chenn", "Ann", "Ann"]
TEXT = st.lists(st.sampled_from([*WORDS * 2, *NAMES]), min_size=1, max_size=7).map(" ".join)
LONG = st.builds(
    lambda seed: ". ".join(
        " ".join(np.random.default_rng(seed + i).choice(WORDS, 12)) for i in range(20)
    ),
    st.integers(0, 2),
)
TEXTS = st.one_of(TEXT, TEXT, TEXT, TEXT, LONG, st.sampled_from(["Ann lost the tea", "tea " * 90]))
IDS = ["m1", "m2", "m3"]
SOURCES = st.sampled_from([None, "user", "web", "crm"])
TURN_SOURCES = st.sampled_from([None, "assistant", {"user": "user", "assistant": "tool"}])
MOMENT = st.integers(0, 6).map(lambda step: START + timedelta(hours=9 * step))
STATEMENT = st.fixed_dictionaries(
    {
        "text": TEXTS,
        "id": st.sampled_from([None, None, *IDS]),
        "event_at": MOMENT,
        "network": st.sampled_from(["world", "agent"]),
        "document_id": st.sampled_from([None, "d1", "d2"]),
        "tags": st.sampled_from([[], ["x"]]),
        "metadata": st.sampled_from(
            [
                *({}, {"k": 1}, {"k": 2, "chunk": "c", "evidence": ["m1", "m2"]}),
                {"k": 1, "extraction": "atomic-1", "evidence": ["m1"]},
            ]
        ),
        "entities": st.sampled_from([[], ["Ann"], ["Ann", "The Quokka Club"]]),
        "valid_until": st.sampled_from([None, None, START + timedelta(days=3)]),
        "source": SOURCES,
    }
)
TURN = st.fixed_dictionaries(
    {
        "speaker": st.sampled_from(["Ann", "Ben", "user", "assistant"]),
        "role": st.sampled_from([None, "user", "assistant"]),
        "text": TEXTS,
        "at": MOMENT,
        "id": st.sampled_from([None, None, "m2"]),
    }
)
QUERIES: list[tuple[str, dict[str, Any]]] = [
    ("Ann tea", {}),
    ("quokka zymurgy unheard", {"thinking_budget": 3, "max_tokens": 40}),
    ('"the tea" puppy', {}),
    ("garden", {"network": ["world"], "tags": ["x"]}),
    ("tea", {"where": {"k": {"ge": 2, "exists": True}}}),
    ("", {"no_tags": ["y"], "limit": 5}),
    ("puppy", {"where": {"k": 1}, "since": START + timedelta(hours=9)}),
    ("what did Ann do in May 2024?", {"max_tokens": 25}),
    ("tea", {"entities": ["bob chenn"]}),
    ("garden tea yesterday", {"document_id": "d1"}),
    ("cello", {"as_world": START + timedelta(hours=20)}),
    ("lost tea", {"as_world": START + timedelta(days=4), "entities": ["Ann"]}),
    ("puppy", {"entities": ["Ben", "Ann"]}),
    ("what did I say of the tea?", {"roles": "user"}),
    ("cello and garden", {"max_tokens": 450}),
    ("Ann lost the cello", {"trust": "tool"}),
    ("Ben and the garden", {"preset": "tempr"}),
    ("tea of Ben", {"trust": "user", "pack": "subgraph"}),
]
TOOL_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("semantic_retrieve", {"query": "Ann tea"}),
    ("semantic_retrieve", {"query": "cello", "start_time": "2024-05-02"}),
    ("lexical_retrieve", {"query": "the garden of Ann likes tea"}),
    ("lexical_retrieve", {"query": "tea", "end_time": "2024-05-02", "end_operator": "ge"}),
    ("find_gist_contexts", {"gist_id": "m1"}),
    ("find_gist_contexts", {"gist_id": "m3", "start_time": "2024-05", "start_operator": "eq"}),
    ("find_entity_contexts", {"subject": "Ann", "ordering": "asc", "limit": 3}),
    ("find_entity_contexts", {"predicate": "likes", "ordering": "desc", "offset": 1}),
    ("find_entity_contexts", {"object": "tea", "predicate": "liked"}),
    ("find_entity_contexts", {"predicate": "likes", "aggregation": "count_unique_objects"}),
    ("find_entity_contexts", {"object": "Quokka", "end_time": "2024-05-03"}),
]
PEOPLE = st.sampled_from(["Ann", "Ben", "Bob Chen", "Oslo", "Quokka"])
SPAN = st.sampled_from(
    [None, ["2024-05-01", None], ["2024-05-01", "2024-05-03"], ["2024-05-02", "2024-05-06"]]
)
FACTS, EVENTS = st.sampled_from(["f1", "f2", "f3"]), st.sampled_from(["e1", "e2"])
EVIDENCE = st.lists(st.sampled_from(IDS), max_size=2, unique=True)


def said(op: str, **fields: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"op": st.just(op), **fields})


OPERATION = st.one_of(
    said("UPSERT_EDGE", subject=PEOPLE, predicate=st.sampled_from(["likes", "alias_of"]),
         object=PEOPLE, id=FACTS, valid=SPAN, evidence=EVIDENCE),
    said("UPSERT_EDGE", subject=PEOPLE, predicate=st.just("likes"), id=FACTS, valid=SPAN,
         object=st.sampled_from([1, True, {"text": "tea"}, {"time": "2024-05-01"}])),
    said("RETRO_CORRECT", id=FACTS, object=PEOPLE, why=st.just("so")),
    said("RETRO_CORRECT", id=FACTS, valid_end=st.just("2024-05-04")),
    said("ARCHIVE_EDGE", id=FACTS, valid=SPAN),
    said("UPSERT_ENTITY", name=PEOPLE, types=st.sampled_from([["person"], []]),
         aliases=st.sampled_from([["Al"], []])),
    said("MERGE_ENTITY", source=PEOPLE, target=PEOPLE, by=st.just("ann")),
    said("UPSERT_EVENT", summary=TEXT, id=EVENTS, participants=st.lists(PEOPLE, max_size=2),
         includes_fact=st.lists(FACTS, max_size=1), time_span=SPAN),
    said("LINK", source=EVENTS, relation=st.sampled_from(["causes", "coref"]), target=EVENTS),
    said("UPSERT_EPISODE", title=TEXT, id=st.just("p1"),
         events=st.lists(EVENTS, min_size=1, max_size=2)),
    said("RETAIN", id=st.sampled_from(IDS), text=TEXTS),
    said("CORRECT", id=st.sampled_from(IDS), text=TEXTS),
    said("ARCHIVE", id=st.sampled_from(IDS)),
    said("FORGET", id=st.sampled_from(IDS)),
)  # fmt: skip


class WordVectors:
    """An embedder without a model: a text is the direction of the sum of its words' vectors."""

    dimension = DIMENSION
    fingerprint = "words-1"
    thresholds = PAPER_THRESHOLDS

    def embed(
        self, texts: Sequence[str], threads: int = 1, progress: Callable[[int], None] | None = None
    ) -> npt.NDArray[np.float32]:
        return np.array([self.embed_query(text) for text in texts], np.float32)

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        total = np.zeros(DIMENSION)
        for word in text.lower().replace(".", " ").replace(":", " ").split():
            total += _word(word)
        return (total / np.linalg.norm(total)).astype(np.float32)

    def count_tokens(self, text: str) -> int:
        return len(text.split())


_known: dict[str, npt.NDArray[np.float64]] = {}


def _word(word: str) -> npt.NDArray[np.float64]:
    if word not in _known:
        random = np.random.default_rng(list(word.encode()))
        _known[word] = random.standard_normal(DIMENSION) + 0.3
    return _known[word]
