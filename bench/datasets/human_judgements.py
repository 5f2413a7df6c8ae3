"""Answers that people have judged, for the correlation of measures with people (REMem, Table 7).

A file of JSON lines, one answer a line::

    {"question": "...", "gold": "...", "answer": "...", "human": 1, "judge": 1}

human and judge are 0 or 1; judge, of a language model, may be missing. The paper's 100 judgements
were not published, so nothing was run.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.lib.answer_metrics import bleu_1, token_f1

Values = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Judgement:
    """An answer, and what a person and perhaps a model made of it."""

    question: str
    gold: str
    answer: str
    human: int
    judge: int | None


def load(path: Path) -> list[Judgement]:
    """Return the judgements of a file. Raises ValueError for a line that has another form."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        raw = json.loads(line)
        judge = raw.get("judge")
        if raw.get("human") not in (0, 1) or judge not in (0, 1, None):
            raise ValueError(f"{path}, line {number}: human and judge must be 0 or 1")
        texts = (raw[name] for name in ("question", "gold", "answer"))
        found.append(Judgement(*map(str, texts), int(raw["human"]), judge))
    return found


def correlations(judgements: Sequence[Judgement]) -> dict[str, dict[str, float]]:
    """Return each measure's mean, and its Pearson and Spearman correlation with people."""
    human = np.array([each.human for each in judgements], float)
    measures = {
        "F1": [token_f1(each.answer, [each.gold]) for each in judgements],
        "BLEU-1": [bleu_1(each.answer, [each.gold]) for each in judgements],
    }
    if all(each.judge is not None for each in judgements):
        measures["judge"] = [float(each.judge or 0) for each in judgements]
    return {
        name: {
            "mean": float(np.mean(values)),
            "Pearson": pearson(np.array(values), human),
            "Spearman": pearson(_ranks(np.array(values)), _ranks(human)),
        }
        for name, values in measures.items()
    }


def pearson(one: Values, other: Values) -> float:
    """Return Pearson's correlation; NaN where one of both does not vary."""
    if not one.std() or not other.std():
        return float("nan")
    return float(np.corrcoef(one, other)[0, 1])


def _ranks(values: Values) -> Values:
    """Return the ranks of values; equal ones have the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse])
