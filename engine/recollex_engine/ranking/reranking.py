"""The interface of every reranker, and the stage of a recall that runs one.

A reranker gives each candidate a score; a `Combination` says how this score and the fused score
become one. So an irrelevant but recent memory overtakes a relevant one only if the caller chose a
combination that allows it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.checks import check_kind, check_number
from recollex_engine.errors import InputError, RerankError
from recollex_engine.ranking.candidates import Candidates
from recollex_kernels.fusing.reranking import ADD, MULTIPLY, REPLACE, combine

CombinationForm = Literal["replace", "add", "multiply"]
_FORMS = {"replace": REPLACE, "add": ADD, "multiply": MULTIPLY}


@dataclass(frozen=True, slots=True)
class Combination:
    """How a reranker's score r and the fused score become one.

    Equation. f is the fused score scaled to [0, 1] over the list, (s - min) / (max - min); r is
    unchanged if all scores of the list lie in [0, 1], else it is scaled in the same way:
        replace   r, as the reranker gave it
        add       f + weight * r
        multiply  f * (1 + weight * r)

    "multiply" boosts what is relevant already: a memory overtakes another only if its f is more
    than 1 / (1 + weight) of the other's. With "add" a weight of 1 can lift the last to the top.

    >>> Combination("multiply", 0.5)
    Combination(form='multiply', weight=0.5)
    """

    form: CombinationForm = "replace"
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.form not in get_args(CombinationForm):
            raise InputError(
                f"form must be one of {', '.join(get_args(CombinationForm))}, got {self.form!r}"
            )
        check_number(self.weight, "weight", 0, 1e6)


REPLACING = Combination("replace")
MULTIPLYING = Combination("multiply")


def check_combination(combination: object) -> None:
    """Raise `InputError` unless this is a `Combination`."""
    check_kind(combination, "combination", Combination, 'Combination("add")')


class Reranker(Protocol):
    """Scores each candidate by a closer look than an arm's.

    name: its name in traces and errors. combination: how its scores are combined with the fused
    ones, unless the caller chooses another way. A reranker may have a true attribute
    ``independent``: it then gives each candidate a score in [0, 1] that depends on the question and
    that candidate alone, so that not all candidates need a score. Where an attribute ``available``
    is false the stage is skipped, and the list stays.
    """

    @property
    def name(self) -> str:
        """The name in traces and errors."""

    @property
    def combination(self) -> Combination:
        """How its scores are combined with the fused ones by default."""

    def scores(self, candidates: Candidates) -> npt.NDArray[np.float64]:
        """Return float64[n], finite, higher for better. Raises `RerankError` if it cannot."""


def is_available(reranker: Reranker) -> bool:
    """Return whether the reranker can run on this machine; those that do not say so can."""
    return bool(getattr(reranker, "available", True))


@dataclass(frozen=True, slots=True)
class Reranked:
    """A list after a reranker: order int64[n], places in the given list; scores in that order.

    judged: how many candidates the reranker gave a score.
    """

    order: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]
    judged: int


Settled = Callable[[npt.NDArray[np.uint32], npt.NDArray[np.uint32]], bool]
"""Given the memories that lead the final list, and all others: returns whether none of the others
can be shown, in whatever order they follow."""

BLOCK = 16
"""Number of candidates that are scored between two tests of whether the rest can be shown."""


def rerank(
    candidates: Candidates,
    reranker: Reranker,
    combination: Combination | None = None,
    depth: int | None = None,
    settled: Settled | None = None,
) -> Reranked:
    """Return the candidates in the order of their combined scores.

    combination: None for the reranker's own. depth: how many of the best are scored, None for all;
    the others follow in their order, with the lowest score of these.

    settled: if given, candidates are scored in blocks, the best fused ones first, until the rest
    cannot be shown. For a fused score f and a reranker's r in [0, 1], "add" gives at most
    f + weight and "multiply" at most f * (1 + weight). Fused scores fall. So the scored candidates
    that reach the bound of the next candidate lead the final list in their final order. If these
    are `Settled`, what is shown is to the bit the same as if all had been scored. "replace" gives
    no bound, and neither does a reranker that is not independent: then all are scored.

    Ties keep the given order. The reranker is not called for an empty list.

    Raises:
        RerankError: it failed, or did not give one finite score for each candidate. The given list
            is unchanged.

    """
    head = candidates if depth is None else candidates.first(depth)
    if not len(head):
        return Reranked(np.arange(len(candidates)), candidates.scores.astype(np.float64), 0)
    how = combination or reranker.combination
    judged = len(head)
    if settled is None or how.form == "replace" or not getattr(reranker, "independent", False):
        found = checked_scores(reranker.scores(head), len(head), reranker.name)
    else:
        found, judged = _judge(candidates, head, reranker, how, settled)
    order, scores = _combined(head, found, how)
    rest = len(candidates) - len(head)
    if rest:
        order = np.append(order, np.arange(len(head), len(candidates)))
        scores = np.append(scores, np.full(rest, scores[-1]))
    return Reranked(order, scores, judged)


def _combined(
    head: Candidates, found: npt.NDArray[np.float64], how: Combination
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    return combine(head.scores.astype(np.float64), found, _FORMS[how.form], float(how.weight))


def _judge(
    candidates: Candidates,
    head: Candidates,
    reranker: Reranker,
    how: Combination,
    settled: Settled,
) -> tuple[npt.NDArray[np.float64], int]:
    """Return the scores of ``head``, 0 for those not scored, and the number of scored ones."""
    found = np.zeros(len(head), np.float64)
    for first in range(0, len(head), BLOCK):
        end = min(first + BLOCK, len(head))
        block = head.part(first, end)
        found[first:end] = checked_scores(reranker.scores(block), len(block), reranker.name)
        if not ((found[first:end] >= 0) & (found[first:end] <= 1)).all():
            raise RerankError(reranker.name, "scores of an independent reranker lie in [0, 1]")
        if end == len(head):
            break
        order, scores = _combined(head, found, how)
        best = np.append(found[:end], np.ones(len(head) - end))
        most = _bound(head, best, how, end)
        leads = (order < end) & (scores >= most)
        lead = int(np.argmin(leads)) if not leads.all() else len(leads)
        others = np.append(head.memories[order[lead:]], candidates.memories[len(head) :])
        if lead and settled(head.memories[order[:lead]], others):
            return found, end
    return found, len(head)


def _bound(head: Candidates, best: npt.NDArray[np.float64], how: Combination, judged: int) -> float:
    """Return the greatest score that a candidate after the first ``judged`` could reach."""
    order, scores = _combined(head, best, how)
    return float(scores[order >= judged].max())


def checked_scores(scores: object, count: int, name: str) -> npt.NDArray[np.float64]:
    """Return ``scores`` as float64[count]; raise `RerankError` if they are anything else."""
    try:
        found = np.asarray(scores, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise RerankError(name, f"its scores are not numbers ({error})") from error
    if found.shape != (count,):
        raise RerankError(
            name, f"expected {count} scores, one a text, got an array of shape {found.shape}"
        )
    if not np.isfinite(found).all():
        place = int(np.flatnonzero(~np.isfinite(found))[0])
        raise RerankError(name, f"scores must be finite, got {found[place]} for text {place}")
    return found
