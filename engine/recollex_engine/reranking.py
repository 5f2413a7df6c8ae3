"""What is the one interface behind which every reranker stands?

A reranker gives each candidate a score; a `Combination` says what becomes of the fused score that
it had. So an irrelevant but recent memory cannot leap over a relevant one unless that is asked for.
"""

from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import numpy as np
import numpy.typing as npt

from recollex_engine.candidates import Candidates
from recollex_engine.errors import InputError, RerankError
from recollex_engine.question import check_number
from recollex_kernels.rerank import ADD, MULTIPLY, REPLACE, combine

Form = Literal["replace", "add", "multiply"]
_FORMS = {"replace": REPLACE, "add": ADD, "multiply": MULTIPLY}


@dataclass(frozen=True, slots=True)
class Combination:
    """How a reranker's score r and the fused score become one.

    Equation, f the fused score brought to [0, 1] over the list, (s - min) / (max - min); r as it
    is where all of the list lies in [0, 1], else brought there in the same way:
        replace   r, as the reranker gave it
        add       f + weight * r
        multiply  f * (1 + weight * r)

    "multiply" lifts what is relevant already: a memory overtakes another only if its f is more
    than 1 / (1 + weight) of the other's. With "add" a weight of 1 can lift the last to the top.

    >>> Combination("multiply", 0.5)
    Combination(form='multiply', weight=0.5)
    """

    form: Form = "replace"
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.form not in get_args(Form):
            raise InputError(f"form must be one of {', '.join(get_args(Form))}, got {self.form!r}")
        check_number(self.weight, "weight", 0, 1e6)


REPLACING = Combination("replace")
MULTIPLYING = Combination("multiply")


class Reranker(Protocol):
    """What looks at each candidate more closely than an arm can.

    name: by which the trace and errors call it. combination: what its scores are meant for,
    unless the caller says otherwise.
    """

    @property
    def name(self) -> str:
        """The name in traces and errors."""

    @property
    def combination(self) -> Combination:
        """How its scores meet the fused ones by default."""

    def scores(self, candidates: Candidates) -> npt.NDArray[np.float64]:
        """Return float64[n], finite, higher for better. Raises `RerankError` if it cannot."""


@dataclass(frozen=True, slots=True)
class Reranked:
    """A list after a reranker: order int64[n], places in the given list; scores in that order."""

    order: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]


def rerank(
    candidates: Candidates,
    reranker: Reranker,
    combination: Combination | None = None,
    depth: int | None = None,
) -> Reranked:
    """Return the candidates in the order that the reranker and the fused scores come to.

    combination: None for the reranker's own. depth: how many of the best are looked at, None for
    all; the others follow in the order they had, with the lowest score of those.

    Ties keep the order given. The reranker is not asked about an empty list.

    Raises:
        RerankError: it failed, or did not give one finite score for each candidate. The list that
            was given still stands.

    """
    head = candidates if depth is None else candidates.first(depth)
    if not len(head):
        return Reranked(np.arange(len(candidates)), candidates.scores.astype(np.float64))
    how = combination or reranker.combination
    found = checked_scores(reranker.scores(head), len(head), reranker.name)
    order, scores = combine(
        head.scores.astype(np.float64), found, _FORMS[how.form], float(how.weight)
    )
    rest = len(candidates) - len(head)
    if rest:
        order = np.append(order, np.arange(len(head), len(candidates)))
        scores = np.append(scores, np.full(rest, scores[-1]))
    return Reranked(order, scores)


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
