"""Does the agent hold an answer at all? A probability, computed from one recall.

The best memories are always similar to the question. What differs is how similar they are, and how
far they stand above the others. Five `Signs` measure this, and a logistic model makes one number of
them. Its weights were fitted by `bench.tables.abstention` on the development halves of LoCoMo,
RealMem, LifeBench, MuSiQue and 2Wiki. Each set has the same weight, and so have its answerable and
its unanswerable questions. So `confidence` is calibrated for agents that can answer half of their
questions: of the questions with confidence p, a share of about p has an answer. For another share,
adjust it by the odds.

It detects weak evidence and a wrong speaker, not a missing detail: a memory about the right subject
that lacks the one detail counts as an answer.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

STANDS_OUT_OF = 10
"""The rank with which the best memory is compared."""

BIAS = -3.37
LIKENESS = 2.42
LEAD = 0.51
NAMED = 0.46
MISATTRIBUTED = -1.97
UNKNOWN = -2.97


@dataclass(frozen=True, slots=True)
class Signs:
    """Five measures of whether a recall found an answer. Units: those of `Contextual`.

    likeness: the greatest semantic evidence; 0 is the semantic arm's cosine threshold, 1 that of
    the graph's entry points.
    lead: the score of the best memory by keyword and semantic evidence, less that of the tenth;
    less 0 if there is no tenth or its score is below 0.
    named, misattributed: how far the best memory of a speaker whom the question names stands above
    (named) or below (misattributed) the best memory of the other speakers. The score for the name
    itself is left out. Both are 0 unless both groups have a candidate.
    unknown: the share of the question's words, weighted by idf, that no memory holds.

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
        """The logarithm of the odds of `confidence`."""
        return (
            BIAS
            + LIKENESS * self.likeness
            + LEAD * self.lead
            + NAMED * self.named
            + MISATTRIBUTED * self.misattributed
            + UNKNOWN * self.unknown
        )


def read_signs(seen: npt.NDArray[np.float64], unknown: float) -> Signs:
    """Return the signs of a list with at least one candidate.

    seen: float64[3], how far the best candidates stand above the others (see `standing` in
    `recollex_kernels`): likeness, lead, and named or, if negative, misattributed. unknown: see
    `Signs`.
    """
    likeness, lead, ahead = seen.tolist()
    return Signs(likeness, lead, max(0.0, ahead), max(0.0, -ahead), unknown)
