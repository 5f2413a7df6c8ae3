"""Should facts be stored, or what was said? LoCoMo's observations against its turns.

Claim: TEMPR 4.4 asks how narrative facts compare with atomic storage and leaves the numbers open;
here facts that an LLM drew from each session (LoCoMo's ``observation``) stand against the raw turns
and against both together, under one pipeline.

Command: python -m bench.tables.narrative --data FOLDER [--json FILE] [--limit N]

Check: a retrieved fact counts as retrieving the turns that it names. k counts memories, and
"tokens@10" is the number of tokens of the first ten. Evidence that no fact names cannot be found
among facts; "covered" is the share that can be found.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

import recollex
from bench.datasets import load
from bench.datasets.bank import Bank, Split, Turn
from bench.datasets.locomo import Observation, observations
from bench.lib.kept_vectors import KeptVectors
from bench.tables.lib.evaluation import Answer, run
from bench.tables.lib.metrics import bootstrap
from bench.tables.lib.report import Cell, Section, Table, arguments, keep

CUTS = (5, 10, 20)
SPLITS: tuple[Split, ...] = ("dev", "report")

Named = Mapping[str, frozenset[str]]
"""Memory -> the turns that it counts as."""


def main() -> None:
    given = arguments(__doc__.splitlines()[0]).parse_args()
    embedder = KeptVectors()
    facts = observations(given.data)
    rows: dict[str, list[tuple[Split, dict[str, float]]]] = {"turns": [], "facts": [], "both": []}
    sizes: dict[str, list[int]] = {name: [0, 0] for name in rows}
    for bank in load(given.data, ("locomo",)):
        bank = replace(bank, queries=bank.queries[: given.limit])
        for name, stored in stored_as(bank, facts[bank.name]).items():
            named = names(bank, facts[bank.name])
            answers = run(stored, embedder=embedder, read=first_tokens)
            rows[name] += [
                (answer.query.split, values(answer, named, stored))
                for answer in answers
                if answer.query.evidence
            ]
            sizes[name][0] += len(stored.turns)
            sizes[name][1] += sum(len(turn["text"]) for turn in stored.turns)
    sections = [section(rows, split) for split in SPLITS]
    storage: list[dict[str, Cell]] = [
        {"stored": name, "memories": count, "characters each": round(characters / count, 1)}
        for name, (count, characters) in sizes.items()
    ]
    claim = __doc__.split("\n\n")[1].replace("\n", " ")
    keep(
        Table("narrative", claim, [*sections, Section("what is stored (TEMPR 4.4)", storage)]),
        given.json,
    )


def stored_as(bank: Bank, facts: Sequence[Observation]) -> dict[str, Bank]:
    """Return the bank with its turns, with facts instead of turns, and with both.

    A fact has the last time and the document of its session, and is retained after that session.
    """
    at = {turn["document"]: turn["at"] for turn in bank.turns}
    drawn: dict[str, list[Turn]] = {}
    for fact in facts:
        document = fact.session
        turn = Turn(id=fact.id, text=fact.text, document=f"facts of {document}", at=at[document])
        drawn.setdefault(document, []).append(turn)
    alone = tuple(turn for document in at for turn in drawn.get(document, ()))
    both = []
    for document in at:
        both += [turn for turn in bank.turns if turn["document"] == document]
        both += drawn.get(document, [])
    return {
        name: replace(
            bank,
            turns=turns,
            queries=tuple(replace(query, visible=len(turns)) for query in bank.queries),
        )
        for name, turns in (("turns", bank.turns), ("facts", alone), ("both", tuple(both)))
    }


def names(bank: Bank, facts: Sequence[Observation]) -> Named:
    """Return the turns that each memory counts as."""
    return {turn["id"]: frozenset({turn["id"]}) for turn in bank.turns} | {
        fact.id: frozenset(fact.turns) for fact in facts
    }


def first_tokens(recall: recollex.Recall) -> int:
    """Return the number of tokens of the first ten memories."""
    return sum(memory.tokens for memory in recall[:10])


def values(answer: Answer, named: Named, stored: Bank) -> dict[str, float]:
    """Return R@k and all-evidence R@k by memories, the tokens of the first ten, the coverage."""
    evidence = answer.query.evidence
    result: dict[str, float] = {}
    for k in CUTS:
        found = frozenset[str]().union(*(named[id] for id in answer.ids[:k]))
        result[f"R@{k}"] = len(found & evidence) / len(evidence)
        result[f"All@{k}"] = float(evidence <= found)
    everything = frozenset[str]().union(*(named[turn["id"]] for turn in stored.turns))
    result["covered"] = len(everything & evidence) / len(evidence)
    result["tokens@10"] = float(answer.read)
    return result


def section(rows: Mapping[str, Sequence[tuple[Split, dict[str, float]]]], split: Split) -> Section:
    table: list[dict[str, Cell]] = []
    for name, scored in rows.items():
        mine = [each for at, each in scored if at == split]
        if not mine:
            continue
        row: dict[str, Cell] = {"stored": name, "queries": len(mine)}
        for measure in ("R@5", "R@10", "R@20", "All@10", "covered"):
            row[measure] = bootstrap([each[measure] for each in mine])
        row["tokens@10"] = round(float(np.mean([each["tokens@10"] for each in mine])), 1)
        table.append(row)
    return Section(f"locomo, {split}", table, plot="R@10")


if __name__ == "__main__":
    main()
