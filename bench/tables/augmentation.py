"""Does a date in the embedded text help? Two papers disagree.

Claim: TEMPR 2.2.2 embeds "text (happened in November 2023)" and says that it helps; SATF 4.6
embeds "[2024/03/15] text" and measures that it hurts (R@10 0.520 against 0.795). On LoCoMo's turns
a date after the text adds nothing, and one in front of it adds 0.03 to 0.06 to R@10 of dense
retrieval, but only where the speaker is named as well; the session's number in its stead adds a
part of that. To the default's fused list no date adds anything.

Command: python -m bench.tables.augmentation --data FOLDER [--json FILE] [--limit N]

Check: the same turns are retained in every row, and only the vectors given with them differ. So the
keyword arm is the same, and the semantic arm alone shows the difference. Each row's differences are
paired bootstraps against ours.
"""

from collections.abc import Callable
from dataclasses import replace

from bench.datasets import load
from bench.datasets.bank import Bank, Split, Turn
from bench.lib.kept_vectors import KeptVectors
from bench.tables.lib.evaluation import run
from bench.tables.lib.metrics import bootstrap, paired
from bench.tables.lib.report import Cell, Section, Table, arguments, keep
from bench.tables.lib.scoring import FUSED, Scored, pooled, score

MEASURES = ("R@10", "NDCG@10")
SPLITS: tuple[Split, ...] = ("dev", "report")


def _words(turn: Turn) -> str:
    """Return a turn's text and its picture's caption."""
    caption = f" [picture: {turn['caption']}]" if "caption" in turn else ""
    return (turn["text"] + caption).strip()


OURS = "Ann said: text (ours)"

WRITTEN: dict[str, Callable[[Turn], str]] = {
    OURS: lambda turn: f"{turn['speaker']} said: {_words(turn)}",
    "text": _words,
    "[Ann]: text": lambda turn: f"[{turn['speaker']}]: {_words(turn)}",
    "[Ann]: text (happened in May 2023) (TEMPR 2.2.2)": lambda turn: (
        f"[{turn['speaker']}]: {_words(turn)} (happened in {turn['at']:%B %Y})"
    ),
    "[2023/05/08] text (SATF 4.6)": lambda turn: f"[{turn['at']:%Y/%m/%d}] {_words(turn)}",
    "Ann said: text (happened in May 2023)": lambda turn: (
        f"{turn['speaker']} said: {_words(turn)} (happened in {turn['at']:%B %Y})"
    ),
    "[2023/05/08] Ann said: text": lambda turn: (
        f"[{turn['at']:%Y/%m/%d}] {turn['speaker']} said: {_words(turn)}"
    ),
    "On 8 May 2023, Ann said: text": lambda turn: (
        f"On {turn['at'].day} {turn['at']:%B %Y}, {turn['speaker']} said: {_words(turn)}"
    ),
    "[D1] Ann said: text": lambda turn: (
        f"[{turn['document']}] {turn['speaker']} said: {_words(turn)}"
    ),
}
"""How a turn is written for the model."""


def main() -> None:
    given = arguments(__doc__.splitlines()[0]).parse_args()
    embedder = KeptVectors()
    banks = [
        replace(bank, queries=bank.queries[: given.limit]) for bank in load(given.data, ("locomo",))
    ]
    scored: dict[str, dict[str, Scored]] = {}
    for name, write in WRITTEN.items():
        parts: dict[str, list[Scored]] = {"semantic": [], FUSED: []}
        for bank in banks:
            answers = run(replace(bank, turns=with_vectors(bank, write, embedder)), None, embedder)
            for arm, scores in parts.items():
                scores.append(score(bank, answers, MEASURES, arm=arm))
        scored[name] = {arm: pooled(scores) for arm, scores in parts.items()}
    sections = [section(scored, split, kind) for split in SPLITS for kind in (None, "temporal")]
    claim = __doc__.split("\n\n")[1].replace("\n", " ")
    keep(Table("augmentation", claim, sections), given.json)


def with_vectors(
    bank: Bank, write: Callable[[Turn], str], embedder: KeptVectors
) -> tuple[Turn, ...]:
    """Return the turns as texts, each with the vector of the text that ``write`` makes of it."""
    vectors = embedder.embed([write(turn) for turn in bank.turns])
    return tuple(
        Turn(
            id=turn["id"],
            text=f"{turn['speaker']}: {_words(turn)}",
            document=turn["document"],
            at=turn["at"],
            vector=vector,
        )
        for turn, vector in zip(bank.turns, vectors, strict=True)
    )


def section(scored: dict[str, dict[str, Scored]], split: Split, category: str | None) -> Section:
    rows: list[dict[str, Cell]] = []
    for name, arms in scored.items():
        row: dict[str, Cell] = {"embedded": name}
        for arm, values in arms.items():
            part, base = (s.where(split, category) for s in (values, scored[OURS][arm]))
            for measure in MEASURES:
                row[f"{arm} {measure}"] = bootstrap(part.values[measure])
                if name != OURS and part.queries:
                    added = paired(part.values[measure], base.values[measure])
                    row[f"{arm} {measure}, minus ours"] = added
        rows.append(row)
    of = f"{category} questions" if category else "all questions"
    return Section(f"locomo, {split}, {of}", rows, plot="semantic NDCG@10")


if __name__ == "__main__":
    main()
