"""What a recall chooses from: the candidates of a set's queries and their parts, kept on disk.

A table that fits a ranking needs every candidate of every query, with the parts of its score
before they are weighed. To ask for them takes minutes a set, so they are kept beside the model's
cache, in ``<cache>/bench/offered/``: one ``.npz`` for each set, named by a digest of the engine's
sources, the set's texts and queries, and the embedding model. Another engine asks anew.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recollex_engine
import recollex_kernels
from bench.datasets.bank import Bank, Split
from bench.lib.kept_stores import home
from bench.lib.kept_vectors import KeptVectors
from bench.tables.lib.evaluation import ARMS, Options, run_all
from bench.tables.lib.metrics import documents, ndcg_at, recall_at
from bench.tables.lib.trials import sampled
from bench.tables.lib.words import count_words, words_found, words_of_evidence
from recollex import Recall, presets
from recollex_kernels.fusing.features import NAMES

DEFAULT = "default"
LISTS = (DEFAULT, *ARMS)
"""The lists whose measures are kept: the default's, and that of each arm alone."""

_ONE = dict.fromkeys(NAMES, 1.0)
_UNWEIGHED = "every part weighs 1"
CONFIGURATIONS: dict[str, Options] = {
    DEFAULT: {"explain": False},
    _UNWEIGHED: {
        "explain": True,
        "preset": replace(presets.default, fusion=presets.Contextual(**_ONE), diversity=None),
    },
    **{arm: {"explain": False, "preset": replace(presets.tempr, arms=(arm,))} for arm in ARMS},
}


@dataclass(frozen=True, slots=True)
class Offered:
    """The candidates of one query with evidence.

    evidence: how many units prove the answer. parts: float32[n, P], the features `NAMES` of each
    of n candidates, not weighed, but scaled as in the default (`trusted` in `recollex_kernels`,
    `telling` of `Contextual`). units: int32[n], what each counts as: itself, or its document.
    proved: bool[n], whether that is evidence. measured: float64[L, 2], R@10 and NDCG@10 of `LISTS`.
    found: the words of each of the default's first ten; gold: of each memory that is evidence.
    """

    split: Split
    category: str
    evidence: int
    parts: NDArray[np.float32]
    units: NDArray[np.int32]
    proved: NDArray[np.bool_]
    measured: NDArray[np.float64]
    found: tuple[int, ...]
    gold: tuple[int, ...]

    @property
    def bound(self) -> float:
        """R@10 of the candidates in the best order."""
        return min(10, len(np.unique(self.units[self.proved]))) / self.evidence

    def scored(self, scores: NDArray[np.floating[Any]]) -> tuple[float, float]:
        """Return R@10 and NDCG@10 of the candidates in the order of scores, ties as they stand."""
        order = np.argsort(-scores, kind="stable")
        _, first = np.unique(self.units[order], return_index=True)
        best = order[np.sort(first)[:10]]
        hits = [str(place) for place in range(len(best)) if self.proved[best[place]]]
        ids = [str(place) for place in range(len(best))]
        wanted = [*hits, *(f"missed {n}" for n in range(self.evidence - len(hits)))]
        return recall_at(10, ids, wanted), ndcg_at(10, ids, wanted)


def offered(banks: Sequence[Bank], embedder: KeptVectors, most: int) -> list[Offered]:
    """Return the candidates of at most ``most`` queries of each half of a set, evenly spread."""
    path = home() / "offered" / f"{banks[0].dataset}-{_digest(banks, embedder, most)}.npz"
    if not path.exists():
        made = _ask(banks, embedder, most)
        path.parent.mkdir(parents=True, exist_ok=True)
        for old in path.parent.glob(f"{banks[0].dataset}-*.npz"):
            old.unlink()
        _write(path, made)
    return _read(path)


def _ask(banks: Sequence[Bank], embedder: KeptVectors, most: int) -> list[Offered]:
    return [one for bank in sampled(banks, most) for one in _ask_bank(bank, embedder)]


def _ask_bank(bank: Bank, embedder: KeptVectors) -> list[Offered]:
    unit_of = bank.document_of if bank.unit == "document" else {id: id for id in bank.document_of}
    words = {turn["id"]: count_words(turn["text"]) for turn in bank.turns}
    answers = run_all(bank, CONFIGURATIONS, embedder, _parts, lists=False)
    made = []
    for place, query in enumerate(bank.queries):
        answer = answers[_UNWEIGHED][place]
        parts = np.array(answer.read, np.float32).reshape(len(answer.ids), len(NAMES))
        counted = [unit_of[id] for id in answer.ids]
        number = {unit: n for n, unit in enumerate(dict.fromkeys(counted))}
        measured = []
        for name in LISTS:
            found = documents(answers[name][place].ids, unit_of)
            measured.append(
                [recall_at(10, found, query.evidence), ndcg_at(10, found, query.evidence)]
            )
        made.append(
            Offered(
                query.split,
                query.category,
                len(query.evidence),
                parts,
                np.array([number[unit] for unit in counted], np.int32),
                np.array([unit in query.evidence for unit in counted], np.bool_),
                np.array(measured),
                words_found(answers[DEFAULT][place].ids, words),
                words_of_evidence(bank, query, words),
            )
        )
    return made


def _parts(recall: Recall) -> list[list[float]]:
    """Return the parts of each memory in the order of `NAMES`; nothing if they were not told."""
    if not len(recall) or not recall[0].parts:
        return []
    return [[memory.parts.get(name, 0.0) for name in NAMES] for memory in recall]


def _digest(banks: Sequence[Bank], embedder: KeptVectors, most: int) -> str:
    """Return what the candidates depend on, as 16 hexadecimal digits."""
    told = _SOURCES.copy()
    told.update(f"{embedder.fingerprint} {most} {NAMES}".encode())
    for bank in banks:
        told.update(repr((bank.unit, bank.turns)).encode())
        for query in bank.queries:
            told.update(
                repr((query.id, query.text, sorted(query.evidence), query.visible)).encode()
            )
    return told.hexdigest()[:16]


def _sources() -> "hashlib._Hash":
    """Return a hash of the engine, which is taken when it is imported: files change meanwhile."""
    told = hashlib.sha256(Path(__file__).read_bytes())
    for package in (recollex_engine, recollex_kernels):
        for path in sorted(Path(package.__path__[0]).rglob("*.py")):
            told.update(path.read_bytes())
    return told


_SOURCES = _sources()


def _write(path: Path, made: Sequence[Offered]) -> None:
    whole = path.with_suffix(".part.npz")
    np.savez_compressed(
        whole,
        parts=np.concatenate([one.parts for one in made]),
        units=np.concatenate([one.units for one in made]),
        proved=np.concatenate([one.proved for one in made]),
        sizes=np.array([len(one.units) for one in made]),
        measured=np.array([one.measured for one in made]),
        told=np.array(
            json.dumps(
                [(one.split, one.category, one.evidence, one.found, one.gold) for one in made]
            )
        ),
    )
    whole.rename(path)


def _read(path: Path) -> list[Offered]:
    with np.load(path) as kept:
        ends = np.cumsum(kept["sizes"]).tolist()
        parts, units, proved = kept["parts"], kept["units"], kept["proved"]
        measured, told = kept["measured"], json.loads(kept["told"].item())
    made = []
    for place, (split, category, evidence, found, gold) in enumerate(told):
        part = slice(ends[place - 1] if place else 0, ends[place])
        made.append(
            Offered(
                split,
                category,
                evidence,
                parts[part],
                units[part],
                proved[part],
                measured[place],
                tuple(found),
                tuple(gold),
            )
        )
    return made
