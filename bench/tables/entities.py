"""Which names of a conversation are one entity, and what type is it?

Claim: on LoCoMo's first five conversations, the entities that an agent has after
`facts.resolve_entities` agree with labels set by hand in at least 95 % of the pairs that it makes
one (precision), and make one at least 85 % of the pairs that are (recall).

Command: python -m bench.tables.entities --data FOLDER [--json FILE]

Check: `bench/datasets/locomo_entities.tsv` labels every name that the rule finds in all ten
conversations: its entity, its type, or "-" for a word that is no name. Rules were tuned on the
first five alone. Two mentions are a pair if both are names. Most pairs are the same word twice, so
two stricter counts stand beside: of pairs of mentions that differ, and of different names.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import recollex
from bench.datasets import locomo
from bench.datasets.bank import Bank
from bench.tables.lib.report import Cell, Section, Table, arguments, keep
from bench.tables.lib.trials import claim_of
from recollex_engine.text.entity_types import ENTITY_TYPES
from recollex_engine.text.names import find_names

LABELS = Path(__file__).parents[1] / "datasets" / "locomo_entities.tsv"
NO_NAME = "-"
HALVES = {"development (1 to 5)": range(1, 6), "the other (6 to 10)": range(6, 11)}


@dataclass(frozen=True, slots=True)
class Label:
    """What a name of a conversation is, by hand. entity: None for a word that is no name."""

    entity: str | None
    type: str


@dataclass(frozen=True, slots=True)
class Found:
    """What an agent makes of one conversation.

    mentions: how often a memory names each name. entity: name -> the name of its entity, and
    types: name -> its type, at the end.
    """

    mentions: Mapping[str, int]
    entity: Mapping[str, str]
    types: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Pairs that are one by hand and in the agent (right), only in it, only by hand."""

    right: int
    only_found: int
    only_labelled: int

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.only_found) if self.right + self.only_found else 1.0

    @property
    def recall(self) -> float:
        either = self.right + self.only_labelled
        return self.right / either if either else 1.0

    def __add__(self, other: "Agreement") -> "Agreement":
        return Agreement(
            self.right + other.right,
            self.only_found + other.only_found,
            self.only_labelled + other.only_labelled,
        )


NOTHING = Agreement(0, 0, 0)


def main() -> None:
    given = arguments(__doc__.splitlines()[0]).parse_args()
    keep(table(locomo.load(given.data)), given.json)


def table(banks: Sequence[Bank]) -> Table:
    labels = read_labels()
    rows: list[dict[str, Cell]] = []
    types: list[dict[str, Cell]] = []
    for half, numbers in HALVES.items():
        for resolved in (False, True):
            found = {number: found_in(banks[number - 1], resolved=resolved) for number in numbers}
            row: dict[str, Cell] = {"half": half, "": "resolved" if resolved else "as retained"}
            for what, count in (
                ("mentions", of_mentions),
                ("differing", of_differing),
                ("names", of_names),
            ):
                total = sum((count(found[n], labels[n]) for n in numbers), NOTHING)
                row[f"{what}: precision"] = total.precision
                row[f"{what}: recall"] = total.recall
                row[f"{what}: pairs"] = total.right + total.only_labelled
            rows.append(row)
        types.append({"half": half, **of_types((found[n], labels[n]) for n in numbers)})
    sections = [Section("Pairs of names that are one entity", rows), Section("Types", types)]
    return Table("entities", claim_of(__doc__), sections)


def read_labels(path: Path = LABELS) -> dict[int, dict[str, Label]]:
    """Return the labels of each conversation, by name."""
    found: dict[int, dict[str, Label]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        number, name, entity, kind = line.split("\t")
        known = found.setdefault(int(number), {})
        known[name] = Label(None if entity == NO_NAME else entity, kind)
    return found


def found_in(bank: Bank, *, resolved: bool) -> Found:
    """Retain a conversation's turns without a model of vectors, and read its entities."""
    with (
        TemporaryDirectory() as folder,
        recollex.open(folder, embedder=NoVectors(), durability="off") as store,
    ):
        agent = store.agent("listener")
        for document in dict.fromkeys(turn["document"] for turn in bank.turns):
            turns = [turn for turn in bank.turns if turn["document"] == document]
            agent.retain_dialogue(
                [{name: turn[name] for name in ("speaker", "text", "at")} for turn in turns],
                document_id=document,
            )
        if resolved:
            agent.facts.resolve_entities()
        surfaces = find_surfaces(bank)
        known = {name: agent.facts.entity(name, mentioned=True) for name in surfaces}
    return Found(
        surfaces,
        {name: each.name for name, each in known.items()},
        {name: each.type for name, each in known.items()},
    )


def find_surfaces(bank: Bank) -> Counter[str]:
    """Return how many turns have each name, as the rule finds names."""
    named = (find_names(turn["text"], turn["speaker"]) for turn in bank.turns)
    return Counter(name for names in named for name in names)


class NoVectors(recollex.GivenVectors):
    """Gives every text the same vector: entities do not depend on vectors."""

    def __init__(self) -> None:
        super().__init__(8)
        self.fingerprint = "none-8"

    def embed(self, texts: Sequence[str], threads: int = 1, progress: Any = None) -> Any:
        return np.tile(np.eye(8, dtype=np.float32)[0], (len(texts), 1))


def of_mentions(found: Found, labels: Mapping[str, Label]) -> Agreement:
    """Return the agreement about pairs of mentions, the same word twice among them."""
    return _agreement(found, labels, lambda n, m: n * m, same=True)


def of_differing(found: Found, labels: Mapping[str, Label]) -> Agreement:
    """Return the agreement about pairs of mentions by different words."""
    return _agreement(found, labels, lambda n, m: n * m, same=False)


def of_names(found: Found, labels: Mapping[str, Label]) -> Agreement:
    """Return the agreement about pairs of different names, each once."""
    return _agreement(found, labels, lambda n, m: 1, same=False)


def _agreement(
    found: Found,
    labels: Mapping[str, Label],
    weight: Callable[[int, int], int],
    *,
    same: bool,
) -> Agreement:
    counts = [0, 0, 0]
    names = {name: count for name, count in found.mentions.items() if labels[name].entity}
    if same:
        counts[0] = sum(count * (count - 1) // 2 for count in names.values())
    for one, other in combinations(names, 2):
        is_one = found.entity[one] == found.entity[other]
        should = labels[one].entity == labels[other].entity
        if is_one or should:
            counts[0 if is_one and should else 1 if is_one else 2] += weight(
                names[one], names[other]
            )
    return Agreement(*counts)


def of_types(given: Iterable[tuple[Found, Mapping[str, Label]]]) -> dict[str, Cell]:
    """Return how many names there are, how many types are right, by each type."""
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for found, labels in given:
        for name, label in labels.items():
            if label.entity is not None:
                total[label.type] += 1
                right[label.type] += found.types[name] == label.type
    row: dict[str, Cell] = {"names": total.total(), "right": right.total() / total.total()}
    return row | {kind: f"{right[kind]} of {total[kind]}" for kind in ENTITY_TYPES}


if __name__ == "__main__":
    main()
