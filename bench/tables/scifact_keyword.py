"""Is our keyword arm as good as the libraries that do nothing else?

Claim: NDCG@10 on SciFact's test claims is at least that of bm25s.

Command: python -m bench.tables.scifact_keyword --data FOLDER [--json FILE] [--limit N]
(needs the extra: pip install 'recollex[bench]')

Check: all get the same documents (title, a space, abstract) and the same claims. bm25s runs with
its English stop words and the Snowball stemmer, with our k1 and b and with its own. tantivy runs
with its English stemmer and its fixed k1 = 1.2, b = 0.75; it gets a claim as a disjunction of its
words. Differences are paired bootstraps over claims.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from bench.datasets import load
from bench.datasets.bank import Bank, Split
from bench.lib.kept_vectors import KeptVectors
from bench.tables.lib.evaluation import run
from bench.tables.lib.metrics import bootstrap, measure, paired
from bench.tables.lib.report import Cell, Section, Table, arguments, keep

try:
    import bm25s
    import Stemmer
    import tantivy
except ImportError as error:
    raise SystemExit(f"{error.name} is missing: pip install 'recollex[bench]'") from error

MEASURES = ("NDCG@10", "R@10", "R@100")
DEPTH = 100
K1, B = 0.9, 0.4  # ours
SPLITS: tuple[Split, ...] = ("dev", "report")

Lists = list[list[str]]


def main() -> None:
    given = arguments(__doc__.splitlines()[0]).parse_args()
    (bank,) = load(given.data, ("scifact",))
    bank = replace(bank, queries=bank.queries[: given.limit])
    systems: dict[str, Callable[[Bank], Lists]] = {
        f"recollex keyword (k1 {K1}, b {B})": ours,
        f"bm25s (k1 {K1}, b {B})": lambda bank: with_bm25s(bank, k1=K1, b=B),
        "bm25s (its own: k1 1.5, b 0.75)": with_bm25s,
        "tantivy (k1 1.2, b 0.75)": with_tantivy,
    }
    found = {name: system(bank) for name, system in systems.items()}
    sections = [section(bank, found, split) for split in SPLITS]
    claim = __doc__.split("\n\n")[1].replace("\n", " ")
    keep(Table("scifact_keyword", claim, [s for s in sections if s.rows]), given.json)


def section(bank: Bank, found: dict[str, Lists], split: Split) -> Section:
    chosen = [n for n, query in enumerate(bank.queries) if query.split == split and query.evidence]
    rows: list[dict[str, Cell]] = []
    first: Sequence[float] = ()
    for name, lists in found.items() if chosen else ():
        row: dict[str, Cell] = {"system": name, "claims": len(chosen)}
        for each in MEASURES:
            function = measure(each)
            values = [function(lists[n], bank.queries[n].evidence) for n in chosen]
            row[each] = bootstrap(values)
            if each == "NDCG@10":
                first = first or values
                row["ours minus it"] = paired(first, values)
        rows.append(row)
    return Section(f"scifact, {split}", rows, plot="NDCG@10")


def ours(bank: Bank) -> Lists:
    """Return the keyword arm's own lists."""
    answers = run(bank, {"thinking_budget": DEPTH}, KeptVectors())
    return [list(answer.arms["keyword"]) for answer in answers]


def with_bm25s(bank: Bank, **constants: Any) -> Lists:
    stemmer = Stemmer.Stemmer("english")

    def tokens(texts: list[str]) -> Any:
        return bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)

    index = bm25s.BM25(**constants)
    index.index(tokens([turn["text"] for turn in bank.turns]), show_progress=False)
    places, _ = index.retrieve(
        tokens([query.text for query in bank.queries]), k=DEPTH, show_progress=False
    )
    return [[bank.turns[place]["id"] for place in row] for row in places.tolist()]


def with_tantivy(bank: Bank) -> Lists:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", stored=False, tokenizer_name="en_stem")
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    index = tantivy.Index(builder.build())
    writer = index.writer()
    for turn in bank.turns:
        writer.add_document(tantivy.Document(text=turn["text"], id=turn["id"]))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    lists = []
    for query in bank.queries:
        words = " ".join(re.findall(r"\w+", query.text.lower()))
        hits = searcher.search(index.parse_query(words, ["text"]), DEPTH).hits
        lists.append([searcher.doc(address)["id"][0] for _, address in hits])
    return lists


if __name__ == "__main__":
    main()
