"""MuSiQue (Trivedi et al., 2022) and 2WikiMultihopQA (Ho et al., 2020): evidence by passage.

The passages of all questions of a set are pooled into one bank, as HippoRAG does. A document is a
Wikipedia title; a passage is its title, a line break and its text. These pools are samples: their
recalls are not comparable with published ones.

There are 300 questions of MuSiQue and 657 of 2WikiMultihopQA, in the form that HippoRAG uses; no
such files exist upstream. SHA-256 of each file in ``SHA256SUMS``.
"""

import json
from pathlib import Path

from bench.datasets.bank import Bank, Query, Turn, halves
from bench.datasets.undated import ASKED_AT


def load_musique(data: Path) -> list[Bank]:
    """Return MuSiQue's one bank; its categories are the numbers of hops."""
    return [_bank(data / "multihop", "musique", "musique")]


def load_2wiki(data: Path) -> list[Bank]:
    """Return 2Wiki's one bank; its categories are the set's types."""
    return [_bank(data / "multihop", "2wikimultihopqa", "2wiki")]


def _bank(folder: Path, stem: str, dataset: str) -> Bank:
    passages = json.loads((folder / f"{stem}_corpus.json").read_text(encoding="utf-8"))
    questions = json.loads((folder / f"{stem}_questions.json").read_text(encoding="utf-8"))
    turns = tuple(
        Turn(
            id=str(passage["idx"]),
            text=f"{passage['title']}\n{passage['text']}",
            document=passage["title"],
        )
        for passage in passages
    )
    known = {turn["id"] for turn in turns}
    queries = []
    for question, split in zip(questions, halves(len(questions)), strict=True):
        evidence = frozenset(map(str, question["supporting_idx"]))
        assert evidence <= known, f"{question['id']} names a passage that is not in the corpus"
        kind = question["type"] or question["id"].split("__")[0][:4]
        queries.append(
            Query(question["id"], question["question"], evidence, kind, ASKED_AT, len(turns), split)
        )
    return Bank(dataset, "passages", "reader", turns, tuple(queries), "turn")
