"""Questions that a bank cannot answer, made in three ways, beside those that a set has itself.

- **another bank**: questions of another bank of the same split, asked at the same places. If a set
  has only one bank in a split, its questions come from the set named in `NEIGHBOUR`. A question
  whose evidence is under a title that the bank has too is left out.
- **another name**: LoCoMo's single-hop questions with the other speaker's name, as its own
  category 5 is made. A few may be true of both speakers.
- **never told**: every second document is not retained. A question cannot be answered if all its
  evidence was in these documents, and can be answered if none was; the others are left out. The
  people, the words and the questions are the same, so this kind is the hardest. It is only as clean
  as the set's evidence is complete.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from bench.datasets.bank import Bank, Query

BY_THE_SET = "by the set"
ANOTHER_BANK = "another bank"
ANOTHER_NAME = "another name"
NEVER_TOLD = "never told"
ANSWERABLE = "answerable"

NEIGHBOUR = {
    "lifebench": "locomo",
    "timeqa": "musique",
    "musique": "2wiki",
    "2wiki": "musique",
}
"""Set -> the set of the foreign questions, if a split has no second bank."""


def with_unanswerable(banks: Sequence[Bank]) -> list[Bank]:
    """Return each bank with unanswerable questions too, and each again with half of it untold.

    A query's category becomes its kind, and its ``answerable`` the truth. If a set gives no
    questions of a kind, a bank keeps those it has. Queries stay in the order of the turns they see.
    """
    made = []
    for bank in banks:
        own = [
            replace(query, category=ANSWERABLE if query.answerable else BY_THE_SET)
            for query in bank.queries
        ]
        mixed = [*own, *_foreign(bank, banks), *_renamed(bank)]
        mixed.sort(key=lambda query: query.visible)
        made += [replace(bank, queries=tuple(mixed)), _half_told(bank)]
    return made


def _foreign(bank: Bank, banks: Sequence[Bank]) -> list[Query]:
    """Return questions of another bank at the places of the bank's own, at most as many."""
    made = []
    for split in dict.fromkeys(query.split for query in bank.queries):
        own = [query for query in bank.queries if query.split == split]
        other = _other(bank, [b for b in banks if any(q.split == split for q in b.queries)])
        held = {turn["document"] for turn in bank.turns if "at" not in turn}
        document_of = other.document_of
        asked = [
            query
            for query in other.queries
            if query.split == split
            and query.answerable
            and not held & {document_of.get(id, id) for id in query.evidence}
        ]
        count = min(len(asked), len(own))
        for place in range(count):
            query = asked[place * len(asked) // count]
            where = own[place * len(own) // count]
            made.append(
                replace(
                    query,
                    id=f"{query.id} to {bank.name}",
                    evidence=frozenset(),
                    category=ANOTHER_BANK,
                    asked_at=where.asked_at,
                    visible=where.visible,
                    answerable=False,
                )
            )
    return made


def _other(bank: Bank, banks: Sequence[Bank]) -> Bank:
    """Return the next bank of the set, in a ring; a bank of the neighbour set if it is alone."""
    names = [other.name for other in banks if other.dataset == bank.dataset]
    if len(names) > 1:
        name = names[(names.index(bank.name) + 1) % len(names)]
        return next(b for b in banks if b.dataset == bank.dataset and b.name == name)
    return next(other for other in banks if other.dataset == NEIGHBOUR[bank.dataset])


def _renamed(bank: Bank) -> list[Query]:
    """Return LoCoMo's single-hop questions about one speaker, with the name of the other."""
    if bank.dataset != "locomo":
        return []
    first, second = dict.fromkeys(turn["speaker"] for turn in bank.turns)
    made = []
    for query in bank.queries:
        names = [name for name in (first, second) if re.search(rf"\b{name}\b", query.text)]
        if query.category == "single-hop" and len(names) == 1:
            other = second if names[0] == first else first
            made.append(
                replace(
                    query,
                    id=f"{query.id} of {other}",
                    text=re.sub(rf"\b{names[0]}\b", other, query.text),
                    evidence=frozenset(),
                    category=ANOTHER_NAME,
                    answerable=False,
                )
            )
    return made


def _half_told(bank: Bank) -> Bank:
    """Return the bank without every second document, and the questions of known answerability."""
    document_of = bank.document_of
    documents = list(dict.fromkeys(document_of.values()))
    told = set(documents[::2])
    turns, kept_before = [], [0]
    for turn in bank.turns:
        if turn["document"] in told:
            turns.append(turn)
        kept_before.append(len(turns))
    queries = []
    for query in bank.queries:
        proof = {id if bank.unit == "document" else document_of[id] for id in query.evidence}
        held = len(proof & told)
        visible = kept_before[query.visible]
        if query.answerable and proof and visible and held in (0, len(proof)):
            queries.append(
                replace(
                    query,
                    id=f"{query.id} half told",
                    evidence=query.evidence if held else frozenset(),
                    category=ANSWERABLE if held else NEVER_TOLD,
                    visible=visible,
                    answerable=held > 0,
                )
            )
    return replace(bank, name=f"{bank.name} half told", turns=tuple(turns), queries=tuple(queries))
