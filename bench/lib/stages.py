"""Where does a recall's time go? Its stages, from the trace of the recall."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import recollex
from bench.lib.rundata import percentiles


@dataclass
class Timed:
    """Microseconds of many recalls: for each stage, and from the call to the ids."""

    stages: dict[str, list[float]] = field(default_factory=dict)
    whole: list[float] = field(default_factory=list)

    def add(self, recall: recollex.Recall, spent: float) -> None:
        """Add the times of one recall."""
        for name, stage in recall.trace.stages.items():
            self.stages.setdefault(name, []).append(stage)
        self.whole.append(spent)

    def rows(self, names: Mapping[str, str], unit: float = 1.0) -> list[dict[str, Any]]:
        """Return one row for each stage, in the order of ``names`` (trace's name -> table's name).

        share: the sum of a stage's times over the sum of the whole recalls' times.
        """
        total = sum(self.whole)
        rows = []
        for name, shown in names.items():
            if spent := self.stages.get(name):
                rows.append({"stage": shown, **_scaled(spent, unit), "share": sum(spent) / total})
        return rows

    def total(self, shown: str, unit: float = 1.0) -> dict[str, Any]:
        """Return the row of whole recalls."""
        return {"stage": shown, **_scaled(self.whole, unit), "share": 1.0}


def _scaled(spent: Sequence[float], unit: float) -> dict[str, float]:
    return {name: value / unit for name, value in percentiles(spent).items()}


def timed(
    agent: recollex.Agent, questions: Iterable[Mapping[str, Any]], **options: Any
) -> tuple[Timed, list[recollex.Recall]]:
    """Ask every question, and return the times and the answers.

    Raises if an arm failed.
    """
    found, recalls = Timed(), []
    for question in questions:
        before = time.perf_counter_ns()
        recall = agent.recall(**question, **options)
        spent = (time.perf_counter_ns() - before) / 1000
        assert not recall.trace.errors, recall.trace.errors
        found.add(recall, spent)
        recalls.append(recall)
    return found, recalls
