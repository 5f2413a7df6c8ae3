"""How fast are the first 100 by BM25, beside bm25s (numba), tantivy and SQLite FTS5?

Claim: at 100,000 and 1,000,000 memories at least 5 times as fast as bm25s and tantivy at p50, 2.5
times at p99; from text to ids not slower than either at 10,000, and 3 times as fast at 100,000. A
new question is read in 15 us at p50, 80 at p99.

Command: python -m bench.keyword_peers [--rows N ...] [--data FOLDER] [--stores FOLDER] [--json]
[--out FILE]

Check: before the clock starts, recollex and bm25s, with the same k1 and b, give the same ten best
scores to one part in a thousand for every question (with made-up texts, which all systems split
into the same words). tantivy and FTS5 have k1 and b fixed at 1.2 and 0.75 and round lengths; most
of their ten best must be those of bm25s with the same k1 and b.

`search` is the search alone, of a question whose words are known. For recollex it is the keyword
arm's share of a recall, from its trace, after the question was analysed. A rival analyses its
question right before its search as well, and that is not timed. `from text` begins at the text and
ends at the ids: for recollex it is a whole recall with that one arm, for which it embeds nothing.
`reading` is a recall's stage
"parse": the question's time, cues and terms. Texts are made up (see
`bench.lib.made_up`), or come from the IRC log if ``--data`` has it. One thread each. The rivals'
indexes are kept beside the stores, named by the rivals' versions: at 1,000,000 memories they take
minutes to build.
"""

import argparse
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import recollex
from bench.lib import chat, made_up
from bench.lib.drawing import Plot
from bench.lib.kept_stores import add_arguments, made_up_store
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
    import bm25s
    import Stemmer
    import tantivy
except ImportError as error:
    raise SystemExit(f"{error.name} is missing: pip install 'recollex[bench]'") from error

TOP = 100
K1, B = 0.9, 0.4
QUESTIONS = 200
CHECKED = 50
ARM = Preset(name="keyword", arms=("keyword",), fusion=ReciprocalRank(), k1=K1, b=B)


@dataclass(frozen=True)
class Asked:
    """A question, and when it is asked."""

    text: str
    now: datetime


def main() -> None:
    with_one_thread()
    parser = parse(__doc__, (10_000, 100_000))
    add_arguments(parser)
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for size in arguments.rows:
        with made_up_store(arguments.stores, size) as agent:
            asked = [Asked(q.text, made_up.END) for q in made_up.questions(size, QUESTIONS)]
            rows += measure("made up", agent, Texts(made_up_texts, size), asked, arguments.stores)
        if chat.path_in(arguments.data).exists() and size <= chat.MOST:
            rows += of_chat(arguments, size)
    finish(page(rows), arguments)


def of_chat(arguments: argparse.Namespace, size: int) -> list[dict[str, Any]]:
    from bench.lib.kept_vectors import KeptVectors

    embedder = KeptVectors()
    with chat.chat_store(arguments.stores, arguments.data, size, embedder, QUESTIONS) as held:
        agent, lines, recalls = held
        asked = [Asked(recall["query"], recall["now"]) for recall in recalls]
        texts = Texts(lambda _: [f"{m.speaker}: {m.text}" for m in lines], size)
        return measure("irc", agent, texts, asked, arguments.stores)


@dataclass(frozen=True)
class Texts:
    """Texts that are made only when an index must be built from them."""

    make: Callable[[int], list[str]]
    size: int

    @cached_property
    def all(self) -> list[str]:
        return self.make(self.size)


def made_up_texts(size: int) -> list[str]:
    counts = (min(made_up.BATCH, size - first) for first in range(0, size, made_up.BATCH))
    return [
        made_up.text_of(line)
        for number, count in enumerate(counts)
        for line in made_up.words(number, count)
    ]


def built(folder: Path, name: str, build: Callable[[Path], None]) -> Path:
    """Return the path of a rival's index, which is built first if it does not exist."""
    path = folder / name
    if not path.exists():
        making = folder / f".{name}-{os.getpid()}"
        shutil.rmtree(making, ignore_errors=True)
        making.mkdir(parents=True)
        build(making)
        making.rename(path)
    return path


def measure(
    corpus: str, agent: recollex.Agent, texts: Texts, asked: list[Asked], stores: Path
) -> list[dict[str, Any]]:
    """Return one row for each system; the rivals' indexes are kept in the folder ``stores``."""

    def ours(question: Asked, explain: bool = False) -> recollex.Recall:
        return agent.recall(
            question.text,
            now=question.now,
            thinking_budget=TOP,
            preset=ARM,
            max_tokens=None,  # the rivals have no token budget
            explain=explain,
        )

    plain = corpus == "made up"
    name = f"{corpus.replace(' ', '-')}-{texts.size}"
    peers = [
        Bm25s(texts, plain, stores, name),
        Tantivy(texts, plain, stores, name),
        Fts5(texts, plain, stores, name),
    ]
    if plain:
        check(ours, peers, Bm25s(texts, plain, stores, name, k1=1.2, b=0.75), asked[:CHECKED])
    searches = [System(peer.name, peer.search, None, peer.parse) for peer in peers]
    wholes = [System(peer.name, lambda q, p=peer: p.search(p.parse(q))) for peer in peers]
    searches.insert(0, System("recollex", ours, lambda found: found.trace.stages["keyword"]))
    wholes.insert(0, System("recollex", lambda question: ours(question).ids))
    searched, whole = race(searches, asked), race(wholes, asked)
    reads = System("recollex", ours, lambda found: found.trace.stages["parse"])
    reading = race([reads], asked)["recollex"]
    base, start = searched["recollex"], whole["recollex"]
    return [
        {
            "texts": corpus,
            "memories": texts.size,
            "system": name,
            "p50 us": spent["p50"],
            "p95": spent["p95"],
            "p99": spent["p99"],
            "best p99": spent["best p99"],
            "p50 / ours": spent["p50"] / base["p50"],
            "p99 / ours": spent["p99"] / base["p99"],
            "from text p50 us": whole[name]["p50"],
            "from text p99": whole[name]["p99"],
            "from text p50 / ours": whole[name]["p50"] / start["p50"],
            "from text p99 / ours": whole[name]["p99"] / start["p99"],
        }
        | ({"reading p50": reading["p50"], "reading p99": reading["p99"]} if spent is base else {})
        for name, spent in searched.items()
    ]


class Bm25s:
    """The rival bm25s with its numba backend; it is given the words."""

    name = "bm25s (numba)"

    def __init__(
        self, texts: Texts, plain: bool, stores: Path, name: str, k1: float = K1, b: float = B
    ) -> None:
        self._plain = plain
        self._stemmer = Stemmer.Stemmer("english")

        def build(folder: Path) -> None:
            index = bm25s.BM25(method="lucene", k1=k1, b=b, backend="numba")
            index.index(self._tokens(texts.all), show_progress=False)
            index.save(folder, show_progress=False)

        path = built(stores, f"bm25s-{version('bm25s')}-{k1}-{b}-{name}", build)
        self._index = bm25s.BM25.load(path, show_progress=False, backend="numba")

    def _tokens(self, texts: Sequence[str]) -> Any:
        if self._plain:
            return bm25s.tokenize(
                list(texts), stopwords=[], token_pattern=r"\S+", show_progress=False
            )
        return bm25s.tokenize(
            list(texts), stopwords="en", stemmer=self._stemmer, show_progress=False
        )

    def parse(self, question: Asked) -> Any:
        if self._plain:
            return [question.text.split()]
        return bm25s.tokenize(
            [question.text],
            stopwords="en",
            stemmer=self._stemmer,
            show_progress=False,
            return_ids=False,
        )

    def search(self, words: Any) -> Any:
        return self._index.retrieve(words, k=TOP, show_progress=False, n_threads=0)

    def best(self, question: Asked) -> list[tuple[int, float]]:
        places, scores = self.search(self.parse(question))
        return list(zip(places[0].tolist(), scores[0].tolist(), strict=True))


class Tantivy:
    """The rival tantivy, by its Python package; its k1 = 1.2 and b = 0.75 are fixed."""

    name = "tantivy"

    def __init__(self, texts: Texts, plain: bool, stores: Path, name: str) -> None:
        def build(folder: Path) -> None:
            builder = tantivy.SchemaBuilder()
            splitter = "whitespace" if plain else "en_stem"
            builder.add_text_field("text", tokenizer_name=splitter, index_option="freq")
            builder.add_integer_field("place", fast=True)
            index = tantivy.Index(builder.build(), path=str(folder))
            writer = index.writer(heap_size=256_000_000, num_threads=1)
            for place, text in enumerate(texts.all):
                writer.add_document(tantivy.Document(text=text, place=place))
            writer.commit()
            writer.wait_merging_threads()

        path = built(stores, f"tantivy-{version('tantivy')}-{name}", build)
        self._index = tantivy.Index.open(str(path))
        self._index.reload()
        self._searcher = self._index.searcher()

    def parse(self, question: Asked) -> Any:
        words = " ".join(re.findall(r"[^\W_]+", question.text.lower()))
        return self._index.parse_query(words, ["text"])

    def search(self, query: Any) -> Any:
        hits = self._searcher.search(query, TOP, count=False).hits
        return self._searcher.fast_field_values("place", [address for _, address in hits])

    def best(self, question: Asked) -> list[int]:
        return list(self.search(self.parse(question)))


class Fts5:
    """SQLite's FTS5, with its index in the page cache; its k1 = 1.2 and b = 0.75 are fixed."""

    name = "SQLite FTS5"

    def __init__(self, texts: Texts, plain: bool, stores: Path, name: str) -> None:
        splitter = "ascii" if plain else "porter unicode61"

        def build(folder: Path) -> None:
            database = sqlite3.connect(folder / "words.db")
            database.execute(
                f"create virtual table words using fts5(text, content='', tokenize='{splitter}')"
            )
            with database:
                database.executemany(
                    "insert into words (rowid, text) values (?, ?)", enumerate(texts.all)
                )
                database.execute("insert into words (words) values ('optimize')")
            database.close()

        path = built(stores, f"fts5-{sqlite3.sqlite_version}-{name}", build)
        self._database = sqlite3.connect(path / "words.db")
        self._database.execute("pragma cache_size = -1000000")

    def parse(self, question: Asked) -> str:
        words = re.findall(r"[^\W_]+", question.text.lower())
        return " or ".join(f'"{word}"' for word in words).replace(" or ", " OR ")

    def search(self, query: str) -> Any:
        return self._database.execute(
            f"select rowid from words where words match ? order by rank limit {TOP}", (query,)
        ).fetchall()

    def best(self, question: Asked) -> list[int]:
        return [place for (place,) in self.search(self.parse(question))]


def check(
    ours: Callable[..., recollex.Recall],
    peers: Sequence[Any],
    theirs: Bm25s,
    asked: list[Asked],
) -> None:
    """Raise unless all find the same; ``theirs`` is bm25s with the k1 and b of tantivy."""
    same, *others = peers
    shared: dict[str, list[float]] = {peer.name: [] for peer in others}
    for question in asked:
        found = [memory.scores["keyword"] for memory in ours(question, explain=True)[:10]]
        expected = [score for _, score in same.best(question)[:10]]
        assert np.allclose(found, expected, rtol=1e-3), (question.text, found, expected)
        ten = {place for place, _ in theirs.best(question)[:10]}
        for peer in others:
            shared[peer.name].append(len(ten & set(peer.best(question)[:10])) / 10)
    for name, shares in shared.items():
        assert np.mean(shares) >= 0.8, (name, np.mean(shares))


def bounds_of(row: dict[str, Any]) -> Iterator[Bound]:
    where = f"{row['memories']:,} {row['texts']}"
    if row["system"] == "recollex":
        yield Bound(f"reading a question, {where}, p50 us", row["reading p50"], 15)
        yield Bound(f"the same, {where}, p99 us", row["reading p99"], 80)
    if row["system"] not in ("bm25s (numba)", "tantivy"):
        return
    what = f"{row['system']} / recollex, {where}"
    if row["memories"] < 100_000:
        yield Bound(f"{what}, from text, p50", row["from text p50 / ours"], 1, least=True)
        return
    yield Bound(f"{what}, p50", row["p50 / ours"], 5, least=True)
    yield Bound(f"{what}, p99", row["p99 / ours"], 2.5, least=True)
    yield Bound(f"{what}, from text, p50", row["from text p50 / ours"], 3, least=True)
    yield Bound(f"{what}, from text, p99", row["from text p99 / ours"], 3, least=True)


def page(rows: list[dict[str, Any]]) -> Page:
    bounds = [bound for row in rows for bound in bounds_of(row)]
    sections = [
        Section(
            f"First {TOP} by BM25, {corpus}",
            [row for row in rows if row["texts"] == corpus],
            Plot("curves", "memories", "p50 us", "system", "p50, us"),
        )
        for corpus in dict.fromkeys(row["texts"] for row in rows)
    ]
    return Page(
        "keyword_peers",
        claim(__doc__),
        "python -m bench.keyword_peers",
        sections,
        bounds,
        [
            "p50, p95, p99: the search alone, of a question whose words are known; recollex's is "
            "its keyword arm's share of a recall. From text: to the ids; recollex's is a whole "
            'recall with one arm. Reading, us: that recall\'s stage "parse", of new questions.',
            "best p99: of each question's best round, which other processes disturb least.",
            "Checked before timing: recollex and bm25s give the same ten best scores to one part "
            "in a thousand (made-up texts).",
        ],
        ("bm25s", "tantivy"),
        {"top": TOP, "questions": QUESTIONS, "k1": K1, "b": B, "sqlite": sqlite3.sqlite_version},
    )


if __name__ == "__main__":
    main()
