"""Does the agent hold an answer at all? A probability, computed from one recall.

The best memories are always similar to the question. What differs is how similar they are, and how
far they stand above the others. Six `Signs` measure this, and a logistic model makes one number of
them. Its weights were fitted by `bench.tables.abstention` on the development halves of fifteen sets
of conversations, documents and languages, in whole and in stretches of 5 to 1,000 memories. Each
set has the same weight, and so have its answerable and its unanswerable questions; those about the
wrong person count twice. So `confidence` is calibrated for agents that can answer half of their
questions: of the questions with confidence p, a share of about p has an answer. For another share,
adjust it by the odds.

The best of many memories is similar to any question, so the number of memories counts against it.
If the question names one of several speakers who were found, whose words stand above tells more
than how similar they are: the likeness and the unknown words are then not read.

A question whose letters are mostly not Latin has no confidence: what was fitted on some scripts was
not calibrated on others.

It detects weak evidence and a wrong speaker; a missing detail on a subject that the memories speak
of, it detects less well.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

SHOWN = 0.1
"""The least confidence with which a recall is put before a model by default, see `shows`."""
UNHEARD = 0.5
"""The share of unknown words up to which it is put there anyway: cosines of a model without
measured thresholds say little."""
STANDS_OUT_OF = 10
"""The rank with which the best memory is compared."""

BIAS = -1.21
LIKENESS = 1.25
LEAD = 0.8
UNKNOWN = -0.59
NAMED_BIAS = 0.46
"""The bias if a speaker is named."""
NAMED_LEAD = 0.18
"""The weight of the lead if a speaker is named."""
NAMED = 0.43
MISATTRIBUTED = -0.67
SIZE = -0.19
"""Weight of the logarithm of the number of memories."""


@dataclass(frozen=True, slots=True)
class Signs:
    """Six measures of whether a recall found an answer. Units: those of `Contextual`.

    likeness: the greatest semantic evidence; 0 is the semantic arm's cosine threshold, 1 that of
    the graph's entry points.
    lead: the score of the best memory by keyword and semantic evidence, less that of the tenth;
    less 0 if there is no tenth or its score is below 0.
    named, misattributed: how far the best memory of a speaker whom the question names stands above
    (named) or below (misattributed) the best memory of the other speakers. The score for the name
    itself is left out. Both are 0 unless both groups have a candidate.
    unknown: the share of the question's words, weighted by idf, that no memory holds.
    memories: the number of memories of the view, with a filter that of those it admits.

    >>> good = Signs(2.1, 2.4, named=0.0, misattributed=0.0, unknown=0.0, memories=100)
    >>> stray = Signs(0.6, 0.5, named=0.0, misattributed=0.0, unknown=0.7, memories=100)
    >>> good.confidence > 0.9, stray.confidence < 0.1
    (True, True)
    """

    likeness: float
    lead: float
    named: float
    misattributed: float
    unknown: float
    memories: int

    @property
    def confidence(self) -> float:
        """The probability in (0, 1) that the agent holds an answer."""
        return 1 / (1 + math.exp(-max(-700.0, min(700.0, self.evidence))))

    @property
    def evidence(self) -> float:
        """The logarithm of the odds of `confidence`."""
        size = SIZE * math.log(max(1, self.memories))
        if self.named or self.misattributed:
            ahead = NAMED * self.named + MISATTRIBUTED * self.misattributed
            return NAMED_BIAS + NAMED_LEAD * self.lead + ahead + size
        found = LIKENESS * self.likeness + LEAD * self.lead + UNKNOWN * self.unknown
        return BIAS + found + size


def shows(confidence: float | None, signs: Signs | None, least: float | None) -> bool:
    """Return whether what was recalled is put before a model; what has no confidence is.

    least: the bound of the confidence, in [0, 1]. By default it is `SHOWN` where more than
    `UNHEARD` of the question's words are in no memory; and a confidence of 0 is too little.
    """
    if confidence is None or least is not None:
        return confidence is None or confidence >= (least or 0.0)
    heard = signs is None or signs.unknown <= UNHEARD
    return confidence >= SHOWN or (heard and confidence > 0)


NOTHING_FOUND = Signs(0.0, 0.0, named=0.0, misattributed=0.0, unknown=0.0, memories=0)
"""The signs of a recall without a candidate; its confidence is 0."""


def read_signs(seen: npt.NDArray[np.float64], unknown: float, memories: int) -> Signs:
    """Return the signs of a list with at least one candidate.

    seen: float64[3], how far the best candidates stand above the others (see `standing` in
    `recollex_kernels`): likeness, lead, and named or, if negative, misattributed.
    unknown, memories: see `Signs`.
    """
    likeness, lead, ahead = seen.tolist()
    return Signs(likeness, lead, max(0.0, ahead), max(0.0, -ahead), unknown, memories)
