"""Does valid time find the paragraph that held then? TimeQA, answered by As-World retrieval.

Claim: of questions with a range of time ("who owned it from 1811 to 1827"), a cut to the paragraphs
whose valid time meets the range finds more evidence among the first five than BM25 without it. The
default ranking reads the question's time itself; there a cut neither gains nor loses.

Command: python -m bench.tables.timeqa_facts --data FOLDER [--pages odd] [--json FILE]
(FOLDER holds timeqa/human_annotated_train.json of github.com/wenhuchen/Time-Sensitive-QA.)

Check: exits with 1 if the cut gains nothing for BM25, or if the 95 % interval of its change for the
default lies below 0. Before that, facts that a cut returns are compared with the intervals that
they were recorded with.

Paragraphs of all pages are in one agent, so a question must find its page as well. The valid time
of a paragraph is read without a model, one sentence at a time, by `dates.find_range`. It is
recorded as facts (page, predicate, paragraph) whose evidence is the paragraph:

  says    a fact for each sentence that names a year: valid for exactly that time
  tells   one fact for each paragraph: valid from the first time it names until the next paragraph
          of its page that begins later than all of them, since a state lasts until another follows

A cut keeps, in the order of the ranking, the paragraphs that `facts.find(overlaps=...)` or
`as_world=` (the middle of the range) returns. `dated first` instead moves such paragraphs of the
first 20 before the others. This reading misses sentences with several times (it reads one), times
without a year ("in May", "the following season"), a subject whose times are in other paragraphs,
and tables and lists whose dates are in the heading. Such paragraphs have no valid time and are in
no cut.

Readings were compared on even pages (in order of first appearance); odd pages are reported.
"""

import re
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from bench.datasets.bank import Bank, Query
from bench.datasets.timeqa import load
from bench.datasets.undated import ASKED_AT, RETAINED_AT
from bench.lib.kept_vectors import KeptVectors
from bench.lib.rundata import percentiles
from bench.tables.lib.evaluation import NO_LIMIT, asked, open_store
from bench.tables.lib.metrics import Interval, bootstrap, paired, recall_at
from bench.tables.lib.report import Section, Table, arguments, keep
from bench.tables.lib.trials import claim_of
from recollex import Agent, Text, presets
from recollex_engine.clock import from_micros, to_micros
from recollex_engine.dates.time_range import find_range

BUDGET = 1_000
"""The most memories that an arm may find: a cut needs more than five to choose from."""
FIRST = 20
BATCH = 2_000
CUTS = ("none", "says, overlaps", "tells, overlaps", "tells, as_world", "tells, dated first")
RANKINGS = {
    "BM25": replace(presets.tempr, name="keyword", arms=("keyword",)),
    "default": presets.default,
}
_SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-Z\"'(])")
_YEAR = re.compile(r"\d{4}|\d0s")

Span = tuple[datetime, datetime | None]


def main() -> int:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--pages", choices=("odd", "even"), default="odd", help="reported (odd)")
    given = parser.parse_args()
    (bank,) = load(given.data)
    with tempfile.TemporaryDirectory() as folder:
        result = measure(folder, bank, given.pages)
    keep(table(result), given.json)
    gains = {name: row["tells, overlaps"]["gain"] for name, row in result["rankings"].items()}
    return int(gains["BM25"].mean <= 0 or gains["default"].high < 0)


def said_times(text: str) -> list[Span]:
    """Return the times that the sentences of a paragraph name, at most one for each sentence."""
    now = to_micros(RETAINED_AT, "now")
    found = []
    for sentence in _SENTENCE.split(text):
        read = find_range(sentence, now)
        if read is not None and _YEAR.search(read.text):
            found.append((from_micros(read.start), from_micros(read.end)))
    return found


def told_times(page: Sequence[list[Span]]) -> list[Span | None]:
    """Return the valid time of each paragraph of a page; None if it names no time."""
    ends = [max((end for _, end in spans if end), default=None) for spans in page]
    starts = [min((start for start, _ in spans), default=None) for spans in page]
    told: list[Span | None] = []
    for place, (start, end) in enumerate(zip(starts, ends, strict=True)):
        if start is None or end is None:
            told.append(None)
            continue
        later = (begin for begin in starts[place + 1 :] if begin is not None and begin >= end)
        told.append((start, next(later, None)))
    return told


def record(agent: Agent, bank: Bank) -> dict[str, list[Span]]:
    """Record the valid times of every paragraph as facts; return them by the facts' ids."""
    pages: dict[str, list[tuple[str, list[Span]]]] = {}
    for turn in bank.turns:
        pages.setdefault(turn["document"], []).append((turn["id"], said_times(turn["text"])))
    facts: list[tuple[str, str, str, Span]] = []
    for page, paragraphs in pages.items():
        told = told_times([spans for _, spans in paragraphs])
        for (paragraph, spans), holds in zip(paragraphs, told, strict=True):
            facts += [(page, "says", paragraph, span) for span in dict.fromkeys(spans)]
            facts += [(page, "tells", paragraph, holds)] if holds is not None else []
    for first in range(0, len(facts), BATCH):
        with agent.transaction(by="timeqa_facts", why="dates.find_range") as transaction:
            for number, (page, predicate, paragraph, span) in enumerate(
                facts[first : first + BATCH], first
            ):
                transaction.facts.add(
                    page,
                    predicate,
                    Text(paragraph),
                    valid=span,
                    evidence=paragraph,
                    id=f"{number} {paragraph}",
                )
    return {f"{number} {paragraph}": [span] for number, (_, _, paragraph, span) in enumerate(facts)}


def measure(folder: str, bank: Bank, which: str) -> dict[str, Any]:
    embedder = KeptVectors()
    documents = list(dict.fromkeys(turn["document"] for turn in bank.turns))
    wanted = {page for place, page in enumerate(documents) if place % 2 == (which == "odd")}
    rows: dict[str, dict[str, list[float]]] = {name: {cut: [] for cut in CUTS} for name in RANKINGS}
    taken: dict[str, list[float]] = {"recall": [], "cut": []}
    counts = {"questions": 0, "without evidence": 0, "without a range": 0, "evidence dated": 0.0}
    with open_store(folder, embedder) as store:
        agent = store.agent(bank.name)
        queries = list(asked(agent, bank))
        spans = record(agent, bank)
        for query in queries:
            if query.id.split("#")[0] not in wanted:
                continue
            if not query.evidence:
                counts["without evidence"] += 1
                continue
            span = question_span(query)
            if span is None:
                counts["without a range"] += 1
                continue
            counts["questions"] += 1
            started = time.perf_counter()
            kept = cuts(agent, span)
            taken["cut"].append((time.perf_counter() - started) * 1000 / (len(CUTS) - 2))
            check(agent, spans, span)
            counts["evidence dated"] += recall_at(NO_LIMIT, sorted(kept["told"]), query.evidence)
            for name, preset in RANKINGS.items():
                vector = embedder.embed_query(query.text)
                started = time.perf_counter()
                ids = agent.recall(
                    query.text,
                    preset=preset,
                    query_embedding=vector,
                    thinking_budget=BUDGET,
                    max_tokens=NO_LIMIT,
                    now=query.asked_at,
                ).ids
                taken["recall"].append((time.perf_counter() - started) * 1000)
                for cut in CUTS:
                    found = apply(cut, ids, kept)
                    rows[name][cut].append(recall_at(5, found, query.evidence))
    counts["evidence dated"] /= counts["questions"]
    return {
        "pages": which,
        "paragraphs": len(bank.turns),
        "facts": len(spans),
        "counts": counts,
        "rankings": {name: scored(values) for name, values in rows.items()},
        "milliseconds": {name: percentiles(values) for name, values in taken.items()},
    }


def question_span(query: Query) -> tuple[datetime, datetime] | None:
    """Return the range that a question asks about."""
    read = find_range(query.text, to_micros(ASKED_AT, "asked_at"))
    return None if read is None else (from_micros(read.start), from_micros(read.end))


def cuts(agent: Agent, span: tuple[datetime, datetime]) -> dict[str, set[str]]:
    """Return the paragraphs that each cut keeps."""
    middle = span[0] + (span[1] - span[0]) / 2
    found = {
        "said": agent.facts.find(predicate="says", overlaps=span).ids,
        "told": agent.facts.find(predicate="tells", overlaps=span).ids,
        "then": agent.facts.find(predicate="tells", as_world=middle).ids,
    }
    return {name: {id.partition(" ")[2] for id in ids} for name, ids in found.items()}


def check(agent: Agent, spans: dict[str, list[Span]], span: tuple[datetime, datetime]) -> None:
    """Compare one fact in a thousand of a cut with what was recorded."""
    found = agent.facts.find(overlaps=span)
    for fact in found[::1_000]:
        ((start, end),) = spans[fact.id]
        assert fact.valid == (start, end)
        assert start < span[1] and (end is None or end > span[0])
        assert fact.evidence == (fact.id.partition(" ")[2],)


def apply(cut: str, ids: list[str], kept: dict[str, set[str]]) -> list[str]:
    """Return a ranking under a cut."""
    if cut == "none":
        return ids
    if cut == "tells, dated first":
        top = ids[:FIRST]
        return sorted(top, key=lambda id: id not in kept["told"]) + ids[FIRST:]
    name = {"says, overlaps": "said", "tells, overlaps": "told", "tells, as_world": "then"}[cut]
    return [id for id in ids if id in kept[name]]


def scored(values: dict[str, list[float]]) -> dict[str, dict[str, Interval]]:
    return {
        cut: {
            "R@5": bootstrap(values[cut]),
            "gain": paired(values[cut], values["none"]).interval,
        }
        for cut in CUTS
    }


def table(result: dict[str, Any]) -> Table:
    rows = [
        {"ranking": name, "valid-time cut": cut, "R@5": found["R@5"]}
        | ({} if cut == "none" else {"gain": found["gain"]})
        for name, cuts in result["rankings"].items()
        for cut, found in cuts.items()
    ]
    return Table(
        "timeqa_facts",
        claim_of(__doc__),
        [
            Section("Evidence among the first five", rows, plot="R@5"),
            Section("What was asked", [result["counts"]]),
            Section(
                "Times, ms", [{"of": name, **ms} for name, ms in result["milliseconds"].items()]
            ),
        ],
        [
            "Without a range, without evidence: questions left out.",
            "Evidence dated: the share of it whose valid time meets the question's range.",
        ],
        {name: result[name] for name in ("pages", "paragraphs", "facts")},
    )


if __name__ == "__main__":
    sys.exit(main())
