"""Does the agent hold an answer at all? A probability, read off what one recall saw.

The best memories always look like the question; what differs is how much, and how they stand out.
Five `Signs` say so, and a logistic model makes one number of them. Its weights were fitted by
`bench.tables.abstention` on the development halves of LoCoMo, RealMem, LifeBench, MuSiQue and
2Wiki, each set counting as much as another and its answerable questions as much as those without
an answer. So `confidence` is calibrated where half of the questions have one: among those with
confidence p, about p do. Where other shares are the rule, move it by the odds.

What it knows is how evidence looks, not whether it answers: a memory about the very thing that
leaves the one detail out is taken for an answer.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

STANDS_OUT_OF = 10
"""The place with which the best memory is compared."""

BIAS = -3.37
LIKENESS = 2.42
LEAD = 0.51
NAMED = 0.46
MISATTRIBUTED = -1.97
UNKNOWN = -2.97


@dataclass(frozen=True, slots=True)
class Signs:
    """What a recall shows of whether it found an answer. Units: those of `Contextual`.

    likeness: the greatest semantic evidence; 0 is the cosine at which the arm cuts off, 1 the one
    at which the graph enters. lead: how far the best memory by keyword and semantic evidence stands
    above the tenth, or above 0 where there is no tenth or it lies below. named, misattributed: how
    far the best memory of a speaker whom the question names stands above the best of the other
    speakers, or below it, the name itself left out of the score; both 0 unless both have a
    candidate. unknown: the share of the question's words, by idf, that no memory holds.

    >>> good = Signs(likeness=2.1, lead=2.4, named=1.0, misattributed=0.0, unknown=0.0)
    >>> stray = Signs(likeness=0.6, lead=0.5, named=0.0, misattributed=0.0, unknown=0.7)
    >>> good.confidence > 0.9, stray.confidence < 0.1
    (True, True)
    """

    likeness: float
    lead: float
    named: float
    misattributed: float
    unknown: float

    @property
    def confidence(self) -> float:
        """The probability in (0, 1) that the agent holds an answer."""
        return 1 / (1 + math.exp(-max(-700.0, min(700.0, self.evidence))))

    @property
    def evidence(self) -> float:
        """The logarithm of the odds, of which `confidence` is made."""
        return (
            BIAS
            + LIKENESS * self.likeness
            + LEAD * self.lead
            + NAMED * self.named
            + MISATTRIBUTED * self.misattributed
            + UNKNOWN * self.unknown
        )


def read_signs(seen: npt.NDArray[np.float64], unknown: float) -> Signs:
    """Return the signs of candidates of which there is one at least.

    seen: float64[3], how the best of them stand out of `STANDS_OUT_OF`, see `standing` in
    `recollex_kernels`; unknown: see `Signs`.
    """
    likeness, lead, ahead = seen.tolist()
    return Signs(likeness, lead, max(0.0, ahead), max(0.0, -ahead), unknown)
