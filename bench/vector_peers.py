"""How fast are the 100 nearest vectors, beside usearch, hnswlib, faiss and numpy?

Claim: at 100,000 and 1,000,000 memories, at recall@10 of at least 0.99 against the exact answer, no
slower at p50 than usearch's own f16 index at the same recall; the exact scan of 10,000 to 100,000
within 1.3 times of reading its bytes.

Command: python -m bench.vector_peers [--rows N ...] [--data FOLDER] [--graphs] [--out FILE]

Check: before the clock starts, an exact recall gives the same ten nearest as faiss's flat index,
except for rows whose cosines are equal to one part in 10,000 (vectors are kept as f16). Every graph
gets the smallest expansion of `EXPANSIONS` that finds 0.99 of the exact ten among its hundred. The
recall@10 of every system stands beside its time.

`recollex` is the semantic arm's share of a recall, from its trace, with the filter for forgotten
memories and the floor on cosines that a recall has. `recollex, exact` is the same with
``exact=True``. Vectors are made up (see `bench.lib.made_up`); if ``--data`` has the IRC log,
MiniLM's vectors of its messages are measured too. A graph of 1,000,000 takes long to build, so the
graphs of hnswlib and faiss are built up to 200,000 memories only, unless ``--graphs`` is given. One
thread each.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

import recollex
from bench.lib import chat, made_up
from bench.lib.drawing import Plot
from bench.lib.kept_stores import add_arguments, ids, made_up_store
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
from recollex.presets import Preset, ReciprocalRank

try:
    import faiss
    import hnswlib
    from usearch.index import Index
except ImportError as error:
    raise SystemExit(f"{error.name} is missing: pip install 'recollex[bench]'") from error

TOP, TEN = 100, 10
QUESTIONS = 200
CONNECTIVITY, EXPANSION_ADD = 16, 128
EXPANSIONS = (64, 96, 128, 192, 256, 384, 512, 768, 1024)
WANTED = 0.99
MOST_GRAPHS = 200_000
"""Rows up to which the graphs of hnswlib and faiss are built without ``--graphs``."""
ALL = 1_000_000
ARM = Preset(name="semantic", arms=("semantic",), fusion=ReciprocalRank())

Vectors = NDArray[np.float32]
Places = NDArray[np.int64]


def main() -> None:
    with_one_thread()
    parser = parse(__doc__, (10_000, 100_000))
    add_arguments(parser)
    parser.add_argument("--graphs", action="store_true", help="build every rival's graph")
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    scans: list[dict[str, Any]] = []
    for size in arguments.rows:
        for corpus, held in stores(arguments, size):
            with held as (agent, vectors, recalls):
                graphs = arguments.graphs or size <= MOST_GRAPHS
                kept = arguments.stores / f"usearch-{corpus.replace(' ', '-')}-{size}"
                rows += measure(corpus, agent, vectors, recalls, graphs, kept)
                if size <= 100_000:
                    scans.append(scan(corpus, agent, recalls))
    finish(page(rows, scans), arguments)


Held = tuple[recollex.Agent, Vectors, list[dict[str, Any]]]


def stores(arguments: argparse.Namespace, size: int) -> Iterator[tuple[str, Any]]:
    """Yield each corpus: its agent, its vectors in row order, and recalls of it."""

    @contextmanager
    def of_made_up() -> Iterator[Held]:
        with made_up_store(arguments.stores, size) as agent:
            vectors = np.concatenate(
                [
                    made_up.vectors(number, min(made_up.BATCH, size - first))
                    for number, first in enumerate(range(0, size, made_up.BATCH))
                ]
            )
            yield agent, vectors, [q.fields() for q in made_up.questions(size, QUESTIONS)]

    @contextmanager
    def of_chat() -> Iterator[Held]:
        from bench.lib.kept_vectors import KeptVectors

        embedder = KeptVectors()
        with chat.chat_store(arguments.stores, arguments.data, size, embedder, QUESTIONS) as (
            agent,
            lines,
            recalls,
        ):
            texts = [f"{line.speaker} said: {line.text}" for line in lines]
            yield agent, embedder.embed(texts), recalls

    yield "made up", of_made_up()
    if chat.path_in(arguments.data).exists() and size <= chat.MOST:
        yield "irc", of_chat()


def measure(
    corpus: str,
    agent: recollex.Agent,
    vectors: Vectors,
    recalls: list[dict[str, Any]],
    graphs: bool,
    kept: Path,
) -> list[dict[str, Any]]:
    """Return one row for each system."""
    queries = np.array([recall["query_embedding"] for recall in recalls], np.float32)
    flat = faiss.IndexFlatIP(vectors.shape[1])
    flat.add(vectors)
    truth = flat.search(queries, TOP)[1]
    check(agent, recalls, vectors, truth)
    place_of = {id: place for place, id in enumerate(ids(agent))}
    numbers = list(range(len(recalls)))
    systems = {
        "recollex": ours(agent, recalls, exact=False),
        "recollex, exact": ours(agent, recalls, exact=True),
        "faiss flat f32": lambda n: flat.search(queries[n : n + 1], TOP)[1][0],
        "numpy f32": lambda n: by_numpy(vectors, queries[n]),
    }
    settings: dict[str, int] = {}
    for name, build in rivals(vectors, kept, graphs).items():
        search, widen = build()
        settings[name] = tune(search, widen, queries, truth)
        systems[name] = lambda n, search=search: search(queries[n])
    found = race(
        [
            System(name, ask, spent if name.startswith("recollex") else None)
            for name, ask in systems.items()
        ],
        numbers,
        seconds=4,
    )
    rows = []
    for name, ask in systems.items():
        few = numbers[:50]
        if name.startswith("recollex"):
            answers = [[place_of[id] for id in ask(n).ids] for n in numbers]
        else:
            answers = [
                list(ask(n)) for n in (few if "flat" in name or "numpy" in name else numbers)
            ]
        rows.append(
            {
                "vectors": corpus,
                "memories": len(vectors),
                "system": name,
                "recall@10": share(answers, truth, TEN),
                "recall@100": share(answers, truth, TOP),
                "p50 us": found[name]["p50"],
                "p95": found[name]["p95"],
                "p99": found[name]["p99"],
                "p50 / ours": found[name]["p50"] / found["recollex"]["p50"],
                "expansion": settings.get(name, ""),
            }
        )
    return rows


def ours(
    agent: recollex.Agent, recalls: list[dict[str, Any]], exact: bool
) -> Callable[[int], recollex.Recall]:
    def ask(number: int) -> recollex.Recall:
        return agent.recall(
            **recalls[number], thinking_budget=TOP, preset=ARM, max_tokens=ALL, exact=exact
        )

    return ask


def spent(recall: recollex.Recall) -> float:
    return recall.trace.stages["semantic"]


def by_numpy(vectors: Vectors, query: Vectors) -> Places:
    scores = vectors @ query
    best = np.argpartition(scores, -TOP)[-TOP:]
    found: Places = best[np.argsort(-scores[best])]
    return found


Search = Callable[[Vectors], Any]
Built = tuple[Search, Callable[[int], None]]


def rivals(vectors: Vectors, kept: Path, graphs: bool) -> dict[str, Callable[[], Built]]:
    """Return a builder for each graph; it gives the search and a function to set the expansion."""
    count, width = vectors.shape

    def by_usearch() -> Built:
        index = Index(
            ndim=width,
            metric="cos",
            dtype="f16",
            connectivity=CONNECTIVITY,
            expansion_add=EXPANSION_ADD,
        )
        if kept.exists():
            index.load(str(kept))
        else:
            for first in range(0, count, 10_000):
                part = vectors[first : first + 10_000]
                index.add(np.arange(first, first + len(part)), part, threads=2)
            kept.parent.mkdir(parents=True, exist_ok=True)
            index.save(str(kept))

        def widen(expansion: int) -> None:
            index.expansion_search = expansion

        return (lambda query: index.search(query, TOP, threads=1).keys), widen

    def by_hnswlib() -> Built:
        index = hnswlib.Index(space="ip", dim=width)
        index.init_index(max_elements=count, ef_construction=EXPANSION_ADD, M=CONNECTIVITY)
        index.add_items(vectors, np.arange(count), num_threads=2)
        index.set_num_threads(1)
        return (lambda query: index.knn_query(query, TOP)[0][0]), index.set_ef

    def by_faiss() -> Built:
        index = faiss.IndexHNSWFlat(width, CONNECTIVITY, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = EXPANSION_ADD
        faiss.omp_set_num_threads(2)
        index.add(vectors)
        faiss.omp_set_num_threads(1)

        def widen(expansion: int) -> None:
            index.hnsw.efSearch = expansion

        return (lambda query: index.search(query[None], TOP)[1][0]), widen

    built: dict[str, Callable[[], Built]] = {"usearch f16": by_usearch}
    if graphs:
        built |= {"hnswlib f32": by_hnswlib, "faiss HNSW f32": by_faiss}
    return built


def tune(search: Search, widen: Callable[[int], None], queries: Vectors, truth: Places) -> int:
    """Set the smallest expansion that finds enough, and return it."""
    for expansion in EXPANSIONS:
        widen(expansion)
        answers = [list(search(query)) for query in queries]
        if share(answers, truth, TEN) >= WANTED:
            break
    return expansion


def share(answers: Sequence[Sequence[int]], truth: Places, count: int) -> float:
    """Return the share of the nearest ``count`` that is among the first hundred."""
    pairs = zip(answers, truth[:, :count].tolist(), strict=False)
    return float(np.mean([len(set(nearest) & set(found)) / count for found, nearest in pairs]))


def check(
    agent: recollex.Agent, recalls: list[dict[str, Any]], vectors: Vectors, truth: Places
) -> None:
    """Raise unless an exact recall gives the nearest vectors."""
    place_of = {id: place for place, id in enumerate(ids(agent))}
    ask = ours(agent, recalls, exact=True)
    for number in range(20):
        found = [place_of[id] for id in ask(number).ids[:TEN]]
        query = recalls[number]["query_embedding"]
        given, expected = vectors[found] @ query, vectors[truth[number, : len(found)]] @ query
        assert np.allclose(given, expected, atol=1e-3), (number, given, expected)


@njit(nogil=True)
def read(words: NDArray[np.uint64]) -> int:
    """Return the sum of all bytes, eight at a time: the floor of a scan that reads each."""
    total = np.uint64(0)
    for word in words:
        total += word
    return total


def scan(corpus: str, agent: recollex.Agent, recalls: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the times of an exact scan and of reading as many bytes as it has codes."""
    rows = agent.stats().memories
    codes = np.random.default_rng(1).integers(0, 255, (rows, made_up.DIMENSION), np.uint8)
    words = codes.reshape(-1).view(np.uint64)
    found = race(
        [
            System("reading", lambda _: read(words)),
            System("scan", ours(agent, recalls, exact=True), spent),
        ],
        list(range(100)),
        repeats=10,
    )
    return {
        "vectors": corpus,
        "memories": rows,
        "reading p50 us": found["reading"]["p50"],
        "scan p50 us": found["scan"]["p50"],
        "p95": found["scan"]["p95"],
        "p99": found["scan"]["p99"],
        "scan / reading": found["scan"]["p50"] / found["reading"]["p50"],
    }


def page(rows: list[dict[str, Any]], scans: list[dict[str, Any]]) -> Page:
    bounds = []
    for row in rows:
        if row["memories"] < 100_000:
            continue
        what = f"{row['memories']:,} {row['vectors']}"
        if row["system"] == "usearch f16":
            bounds.append(
                Bound(f"usearch f16 / recollex, p50, {what}", row["p50 / ours"], 1, least=True)
            )
        if row["system"] == "recollex":
            bounds.append(Bound(f"recall@10, {what}", row["recall@10"], WANTED, least=True))
    bounds += [
        Bound(
            f"exact scan / reading its bytes, {row['memories']:,} {row['vectors']}",
            row["scan / reading"],
            1.3,
        )
        for row in scans
        if row["memories"] >= 10_000
    ]
    sections = [
        Section(
            f"The {TOP} nearest, {corpus}",
            [row for row in rows if row["vectors"] == corpus],
            Plot("curves", "memories", "p50 us", "system", "p50, us"),
        )
        for corpus in dict.fromkeys(row["vectors"] for row in rows)
    ]
    if scans:
        sections.append(Section("An exact scan beside reading its eight-bit codes", scans))
    return Page(
        "vector_peers",
        claim(__doc__),
        "python -m bench.vector_peers",
        sections,
        bounds,
        [
            "recollex: its semantic arm's share of a recall. expansion: the least of "
            f"{', '.join(map(str, EXPANSIONS))} with recall@10 >= {WANTED}.",
            "Checked before timing: an exact recall gives the cosines of faiss's flat index.",
        ],
        ("faiss-cpu", "hnswlib", "usearch"),
        {"top": TOP, "questions": QUESTIONS, "M": CONNECTIVITY, "efConstruction": EXPANSION_ADD},
    )


if __name__ == "__main__":
    main()
