"""What does an agent answer to a bank's queries? Through the public API alone.

A bank's turns are retained document by document in their order, each at its own time. A query that
may see only the first turns is asked as soon as these are retained. So a table is a choice of
options of `Agent.recall`, run here, and of measures of `bench.tables.lib.metrics` on the answers.
"""

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any

from tqdm import tqdm

import recollex
from bench.datasets.bank import Bank, Query, Turn
from bench.datasets.undated import AFTER_ALL, RETAINED_AT
from bench.lib.kept_vectors import KeptVectors

NO_LIMIT = 1 << 30  # tokens
ARMS = ("semantic", "keyword", "graph", "temporal")

DIALOGUE = ("id", "text", "speaker", "at", "caption", "metadata")
"""The fields of a turn that `Agent.retain_dialogue` reads."""

Options = Mapping[str, Any]
"""Keyword options of `Agent.recall`."""

Asking = Options | Callable[[Query], Options]
"""Options for all queries, or a function that returns the options of each query."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one query.

    ids: of all memories, best first; scores: aligned with them. arms: arm -> its own list of ids,
    and arm_scores: arm -> its scores, aligned. micros: the recall's time, with the query's vector
    given. read: what the caller's function returned for the recall. The recall itself is not kept,
    because it holds texts.
    """

    query: Query
    ids: tuple[str, ...]
    scores: tuple[float, ...]
    arms: Mapping[str, tuple[str, ...]]
    arm_scores: Mapping[str, tuple[float, ...]]
    micros: float
    read: Any = None


Read = Callable[[recollex.Recall], Any]
"""What else a table needs from a recall, computed before the recall is dropped."""


def run(
    bank: Bank,
    recall_options: Options | None = None,
    embedder: KeptVectors | None = None,
    read: Read | None = None,
) -> list[Answer]:
    """Return the answer to each of the bank's queries, in their order.

    recall_options: options of `Agent.recall`. Unless they are given, ``max_tokens`` has no limit,
    ``now`` is the time when the query is asked, ``talk`` the talk that it is a turn of,
    ``query_embedding`` the query's kept vector, and ``explain`` is on.
    """
    return run_all(bank, {"": recall_options or {}}, embedder, read)[""]


def run_all(
    bank: Bank,
    configurations: Mapping[str, Asking],
    embedder: KeptVectors | None = None,
    read: Read | None = None,
    lists: bool = True,
) -> dict[str, list[Answer]]:
    """Return the answers under each configuration; the turns are retained once for all.

    lists: whether the arms' lists and the scores are needed. Without them a recall costs a third.
    """
    embedder = KeptVectors() if embedder is None else embedder
    answers: dict[str, list[Answer]] = {name: [] for name in configurations}
    with tempfile.TemporaryDirectory() as folder, open_store(folder, embedder) as store:
        agent = store.agent(bank.name)
        for query in asked(agent, bank):
            for name, asking in configurations.items():
                options = asking(query) if callable(asking) else asking
                answers[name].append(ask(agent, query, options, embedder, read, lists))
    return answers


def open_store(folder: str, embedder: KeptVectors) -> recollex.Store:
    """Return an empty store whose clock stands still, so that every run is the same."""
    return recollex.open(folder, embedder=embedder, durability="off", clock=lambda: AFTER_ALL)


def asked(agent: recollex.Agent, bank: Bank) -> Iterator[Query]:
    """Yield the bank's queries, each when exactly the turns that it may see are retained.

    Raises `ValueError` if a query sees fewer turns than one before it.
    """
    retained, recorded = 0, datetime.min.replace(tzinfo=UTC)
    label = f"{bank.dataset} {bank.name}"
    for query in tqdm(bank.queries, desc=label, unit=" queries", leave=False, disable=None):
        if query.visible < retained:
            raise ValueError(f"{query.id} sees {query.visible} turns after one that saw {retained}")
        if query.visible > retained:
            recorded = retain(agent, bank.turns[retained : query.visible], recorded)
            retained = query.visible
        yield query


def retain(
    agent: recollex.Agent, turns: Sequence[Turn], after: datetime, tags: Sequence[str] = ()
) -> datetime:
    """Retain turns, one transaction for each run of a document; return the last recorded time.

    tags: of all turns, beside their own.
    A transaction is recorded at the time of its last turn, but always later than ``after``. Texts
    without a time and a speaker are one transaction, even if their documents differ.
    """
    for _, run_of in groupby(turns, _shared):
        said = list(run_of)
        latest = max((turn["at"] for turn in said if "at" in turn), default=RETAINED_AT)
        after = max(latest, after + timedelta(microseconds=1))
        if "speaker" in said[0]:
            spoken = [
                {name: value for name, value in turn.items() if name in DIALOGUE} for turn in said
            ]
            document = said[0]["document"]
            agent.retain_dialogue(spoken, document_id=document, tags=tags, recorded_at=after)
        else:
            agent.retain_many(
                [turn["text"] for turn in said],
                id=[turn["id"] for turn in said],
                event_at=[turn.get("at") for turn in said],
                document_id=[turn["document"] for turn in said],
                tags=[[*turn.get("tags", []), *tags] for turn in said],
                metadata=[turn.get("metadata", {}) for turn in said],
                embedding=[turn["vector"] for turn in said] if "vector" in said[0] else None,
                recorded_at=after,
            )
    return after


def _shared(turn: Turn) -> tuple[str, bool] | None:
    """Return what the turns of one transaction share."""
    spoken = "speaker" in turn
    return (turn["document"], spoken) if spoken or "at" in turn else None


def ask(
    agent: recollex.Agent,
    query: Query,
    options: Options,
    embedder: KeptVectors,
    read: Read | None = None,
    lists: bool = True,
) -> Answer:
    """Return one query's answer; without ``lists``, no scores and no arms. Raises on a fault."""
    settings: dict[str, Any] = {
        "max_tokens": NO_LIMIT,
        "now": query.asked_at,
        "talk": query.talk,
        "explain": lists,
        "query_embedding": embedder.embed_query(query.text),
    } | dict(options)
    started = time.perf_counter_ns()
    recall = agent.recall(query.text, **settings)
    micros = (time.perf_counter_ns() - started) / 1000
    assert not recall.trace.errors, recall.trace.errors
    made = None if read is None else read(recall)
    if not lists:
        return Answer(query, tuple(recall.ids), (), {}, {}, micros, made)
    memories = list(recall)
    arms: dict[str, tuple[str, ...]] = {}
    scores: dict[str, tuple[float, ...]] = {}
    for arm in dict.fromkeys((*ARMS, *(arm for memory in memories for arm in memory.ranks))):
        ranked = sorted((memory.ranks[arm], memory) for memory in memories if arm in memory.ranks)
        arms[arm] = tuple(memory.id for _, memory in ranked)
        scores[arm] = tuple(memory.scores.get(arm, 0.0) for _, memory in ranked)
    return Answer(
        query,
        tuple(memory.id for memory in memories),
        tuple(memory.score for memory in memories),
        arms,
        scores,
        micros,
        made,
    )
