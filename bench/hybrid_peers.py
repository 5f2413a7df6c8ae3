"""How long does a whole recall take, beside LanceDB's hybrid search and one built by hand?

Claim: at least 15 times as fast as LanceDB's hybrid search at p50, on the same texts and vectors.

Command: python -m bench.hybrid_peers --data FOLDER [--rows N ...] [--json] [--out FILE]

Check: before the clock starts, every system is asked for each of 100 texts with the text's own
words and vector. The text must be among its first ten in at least 95 % of the cases. R@10 is the
share of the turns that prove LoCoMo's answers among the first ten; the IRC log names no such turns.

The question's vector is given to all systems. LanceDB uses its full-text index with English
stemming, its vectors compared exactly (up to 10,000 rows) or by its IVF_HNSW_SQ index, and its RRF.
The one built by hand uses the first hundred of usearch (f16, expansion 128) and of bm25s (numba),
and RRF in a dict. recollex uses all its arms, to the token budget of 4,096, and its texts are read.
One thread each.
"""

import argparse
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.lib import chat, conversations
from bench.lib.drawing import Plot
from bench.lib.kept_stores import add_arguments, ids
from bench.lib.kept_vectors import KeptVectors
from bench.lib.latency import (
    Bound,
    Page,
    Section,
    System,
    claim,
    finish,
    parse,
    race,
    with_one_thread,
)

os.environ.setdefault("LANCEDB_LOG", "error")  # without this it writes two warnings per search
try:
    import bm25s
    import lancedb
    import Stemmer
    from lancedb.index import FTS, HnswSq
    from lancedb.rerankers import RRFReranker
    from usearch.index import Index
except ImportError as error:
    raise SystemExit(f"{error.name} is missing: pip install 'recollex[bench]'") from error

QUESTIONS = 200
TOP = 100
EXACT = 10_000
EXPANSION = 128
PRESETS = ("default", "tempr")


@dataclass(frozen=True)
class Question:
    """A question, its vector, and the places of the texts that prove the answer."""

    fields: dict[str, Any]
    evidence: frozenset[int]

    @property
    def text(self) -> str:
        """The question's words."""
        return str(self.fields["query"])

    @property
    def vector(self) -> NDArray[np.float32]:
        """The question's vector."""
        vector: NDArray[np.float32] = self.fields["query_embedding"]
        return vector


Search = Callable[[Question], Sequence[int]]


def main() -> None:
    with_one_thread()
    if hasattr(os, "sched_setaffinity"):  # LanceDB does not keep to one thread by its settings
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    parser = parse(__doc__, (10_000, 100_000))
    add_arguments(parser)
    arguments = parser.parse_args()
    embedder = KeptVectors()
    rows: list[dict[str, Any]] = []
    if conversations.available(arguments.data):
        rows += of_locomo(arguments, embedder)
    for size in arguments.rows if chat.path_in(arguments.data).exists() else ():
        if size <= chat.MOST:
            rows += of_chat(arguments, size, embedder)
    if not rows:
        raise SystemExit("--data must name a folder with locomo/ or irc/: see bench/README.md")
    finish(page(rows), arguments)


def of_locomo(arguments: argparse.Namespace, embedder: KeptVectors) -> list[dict[str, Any]]:
    with conversations.conversation_store(arguments.stores, arguments.data, embedder) as held:
        agent, banks, asked = held
        said = [(bank, turn) for bank in banks for turn in bank.turns]
        place_of = {f"{bank.name}/{turn['id']}": n for n, (bank, turn) in enumerate(said)}
        texts = [f"{turn['speaker']}: {turn['text']}" for _, turn in said]
        vectors = embedder.embed([f"{turn['speaker']} said: {turn['text']}" for _, turn in said])
        questions = [
            Question(
                each.fields() | {"query_embedding": embedder.embed_query(each.text)},
                frozenset(place_of[id] for id in each.evidence),
            )
            for each in asked[:: max(1, len(asked) // QUESTIONS)]
        ]
        return measure("LoCoMo", agent, texts, vectors, questions, place_of)


def of_chat(
    arguments: argparse.Namespace, size: int, embedder: KeptVectors
) -> list[dict[str, Any]]:
    with chat.chat_store(arguments.stores, arguments.data, size, embedder, QUESTIONS) as (
        agent,
        lines,
        recalls,
    ):
        texts = [f"{line.speaker}: {line.text}" for line in lines]
        vectors = embedder.embed([f"{line.speaker} said: {line.text}" for line in lines])
        questions = [Question(recall, frozenset()) for recall in recalls]
        place_of = {id: place for place, id in enumerate(ids(agent))}
        return measure("IRC", agent, texts, vectors, questions, place_of)


def measure(
    corpus: str,
    agent: Any,
    texts: list[str],
    vectors: NDArray[np.float32],
    questions: list[Question],
    place_of: dict[str, int],
) -> list[dict[str, Any]]:
    """Return one row for each system."""

    def ours(preset: str) -> Search:
        def search(question: Question) -> list[int]:
            recall = agent.recall(**question.fields, preset=preset, thinking_budget=TOP)
            return [place_of[memory.id] for memory in recall if memory.text]

        return search

    with tempfile.TemporaryDirectory() as folder:
        systems: dict[str, Search] = {f"recollex, {name}": ours(name) for name in PRESETS}
        systems["LanceDB hybrid"] = by_lancedb(texts, vectors, Path(folder))
        systems["usearch + bm25s + RRF"] = by_hand(texts, vectors)
        check(systems, texts, vectors, questions)
        spent = race([System(name, ask) for name, ask in systems.items()], questions, repeats=3)
        rows = []
        for name, ask in systems.items():
            row: dict[str, Any] = {
                "texts": corpus,
                "memories": len(texts),
                "system": name,
                "p50 ms": spent[name]["p50"] / 1000,
                "p95": spent[name]["p95"] / 1000,
                "p99": spent[name]["p99"] / 1000,
                "p50 / ours": spent[name]["p50"] / spent["recollex, default"]["p50"],
            }
            proven = [question for question in questions if question.evidence]
            if proven:
                row["R@10"] = float(
                    np.mean([len(q.evidence & set(ask(q)[:10])) / len(q.evidence) for q in proven])
                )
            rows.append(row)
        return rows


def check(
    systems: dict[str, Search],
    texts: list[str],
    vectors: NDArray[np.float32],
    questions: list[Question],
) -> None:
    """Raise unless every system finds the texts that are asked for with their own words."""
    long = [n for n, text in enumerate(texts) if len(text.split()) >= 8]
    now = max(question.fields["now"] for question in questions) + timedelta(minutes=1)
    for name, ask in systems.items():
        found = []
        for place in np.random.default_rng(1).choice(long, 100, replace=False).tolist():
            fields = {"query": texts[place], "query_embedding": vectors[place], "now": now}
            best = ask(Question(fields, frozenset()))[:10]
            found.append(any(texts[each] == texts[place] for each in best))
        assert np.mean(found) >= 0.95, (name, np.mean(found))


def by_lancedb(texts: list[str], vectors: NDArray[np.float32], folder: Path) -> Search:
    database = lancedb.connect(folder / "lance")
    rows = [
        {"place": place, "text": text, "vector": vector}
        for place, (text, vector) in enumerate(zip(texts, vectors, strict=True))
    ]
    held = database.create_table("memory", rows)
    held.create_index("text", config=FTS())
    if len(texts) > EXACT:
        held.create_index("vector", config=HnswSq(distance_type="cosine"))
    reranker = RRFReranker()

    def search(question: Question) -> list[int]:
        found = (
            held.search(query_type="hybrid")
            .vector(question.vector)
            .text(question.text)
            .rerank(reranker)
            .select(["place", "text"])
            .limit(TOP)
            .to_arrow()
        )
        places: list[int] = found["place"].to_pylist()
        return places

    return search


def by_hand(texts: list[str], vectors: NDArray[np.float32]) -> Search:
    stemmer = Stemmer.Stemmer("english")

    def words(given: list[str], ids: bool) -> Any:
        return bm25s.tokenize(
            given, stopwords="en", stemmer=stemmer, show_progress=False, return_ids=ids
        )

    lexical = bm25s.BM25(method="lucene", k1=0.9, b=0.4, backend="numba")
    lexical.index(words(texts, True), show_progress=False)
    index = Index(ndim=vectors.shape[1], metric="cos", dtype="f16", expansion_search=EXPANSION)
    index.add(np.arange(len(vectors)), vectors, threads=1)

    def search(question: Question) -> list[int]:
        near = index.search(question.vector, TOP, threads=1).keys.tolist()
        places, scores = lexical.retrieve(
            words([question.text], False), k=TOP, show_progress=False, n_threads=0
        )
        said = places[0][scores[0] > 0].tolist()
        fused: dict[int, float] = {}
        for found in (near, said):
            for rank, place in enumerate(found, start=1):
                fused[place] = fused.get(place, 0.0) + 1 / (60 + rank)
        best = sorted(fused, key=lambda place: -fused[place])[:TOP]
        return [place for place in best if texts[place]]

    return search


def page(rows: list[dict[str, Any]]) -> Page:
    bounds = [
        Bound(
            f"LanceDB / recollex, p50, {row['memories']:,} {row['texts']}",
            row["p50 / ours"],
            15,
            least=True,
        )
        for row in rows
        if row["system"].startswith("LanceDB")
    ]
    sections = [
        Section(
            f"A whole recall, {corpus}",
            [row for row in rows if row["texts"] == corpus],
            Plot("bars", "system", "p50 ms")
            if corpus == "LoCoMo"
            else Plot("curves", "memories", "p50 ms", "system"),
        )
        for corpus in dict.fromkeys(row["texts"] for row in rows)
    ]
    return Page(
        "hybrid_peers",
        claim(__doc__),
        "python -m bench.hybrid_peers --data FOLDER",
        sections,
        bounds,
        [
            "recollex reads the texts that fit 4,096 tokens; the others the hundred best.",
            "The process is held to one core, because LanceDB takes every core it sees.",
        ],
        ("bm25s", "lancedb", "usearch"),
        {"top": TOP, "questions": QUESTIONS, "usearch expansion": EXPANSION},
    )


if __name__ == "__main__":
    main()
