"""How good is a ranked list? Measures of one list, and the interval of a mean over many.

A list holds ids, best first; ``evidence`` is the set that proves the answer and is not empty. Gains
are binary. All measures lie in [0, 1], and their cost is proportional to k.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

RESAMPLES = 2000
SEED = 20251122
CHUNK = 1 << 22  # numbers that a bootstrap draws at once


def recall_at(k: int, found: Sequence[str], evidence: Collection[str]) -> float:
    """Return the share of the evidence among the first ``k``."""
    return sum(id in evidence for id in found[:k]) / len(evidence)


def all_at(k: int, found: Sequence[str], evidence: Collection[str]) -> float:
    """Return 1 where the first ``k`` hold all of the evidence, else 0."""
    return float(sum(id in evidence for id in found[:k]) == len(evidence))


def precision_at(k: int, found: Sequence[str], evidence: Collection[str]) -> float:
    """Return the share of ``k`` places that hold evidence; places after the list's end do not."""
    return sum(id in evidence for id in found[:k]) / k


def ndcg_at(k: int, found: Sequence[str], evidence: Collection[str]) -> float:
    """Return the discounted gain of the first ``k`` over that of the best possible list.

    Equation (Jarvelin and Kekalainen, 2002, with gain 1 and the logarithm to base 2):
        sum over places p from 1 that hold evidence of 1 / log2(p + 1), over the same for
        evidence at places 1 to min(k, number of evidence)
    """
    gain = sum(_discount(place) for place, id in enumerate(found[:k]) if id in evidence)
    return gain / sum(_discount(place) for place in range(min(k, len(evidence))))


def reciprocal_rank(found: Sequence[str], evidence: Collection[str]) -> float:
    """Return 1 / the place of the first evidence, or 0 if there is none."""
    return next((1 / place for place, id in enumerate(found, 1) if id in evidence), 0.0)


def _discount(place: int) -> float:
    return 1 / math.log2(place + 2)


def documents(found: Iterable[str], document_of: Mapping[str, str]) -> list[str]:
    """Return the documents of a list of turns, each at the place of its best turn."""
    return list(dict.fromkeys(document_of[id] for id in found))


Measure = Callable[[Sequence[str], Collection[str]], float]


def measure(name: str) -> Measure:
    """Return a measure by its name in the tables.

    >>> measure("R@2")(["a", "b", "c"], {"b", "c"})
    0.5
    """
    if name == "MRR":
        return reciprocal_rank
    kind, _, written = name.partition("@")
    by_kind = {"R": recall_at, "All": all_at, "NDCG": ndcg_at, "P": precision_at}
    if kind not in by_kind or not written.isdigit():
        raise ValueError(f"no measure {name!r}: MRR, or one of {', '.join(by_kind)} with @k")
    function, k = by_kind[kind], int(written)
    return lambda found, evidence: function(k, found, evidence)


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and its 95 % interval; n: the number of values."""

    mean: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"


def bootstrap(values: ArrayLike, resamples: int = RESAMPLES, seed: int = SEED) -> Interval:
    """Return the mean of ``values`` and its 95 % percentile-bootstrap interval (Efron, 1979).

    The same values give the same interval: draws depend on ``seed`` and the number of values alone.
    No values give zeros. Cost: ``resamples`` times the number of values.
    """
    data = np.asarray(values, np.float64)
    if not len(data):
        return Interval(0.0, 0.0, 0.0, 0)
    low, high = np.quantile(resampled_means(data, resamples, seed), (0.025, 0.975))
    return Interval(float(data.mean()), float(low), float(high), len(data))


def resampled_means(
    values: NDArray[np.float64], resamples: int = RESAMPLES, seed: int = SEED
) -> NDArray[np.float64]:
    """Return the means of ``resamples`` samples of ``values``, drawn with replacement."""
    generator = np.random.default_rng(seed)
    count = len(values)
    rows = max(1, CHUNK // count)
    means = [
        values[generator.integers(0, count, (min(rows, resamples - first), count))].mean(axis=1)
        for first in range(0, resamples, rows)
    ]
    return np.concatenate(means)


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean that one configuration adds to another on the same queries.

    p: the share of samples in which it adds nothing (one-sided). lower: the difference is above
    this bound in 95 of 100 samples (one-sided, for non-inferiority).
    """

    interval: Interval
    lower: float
    p: float

    def not_inferior(self, margin: float) -> bool:
        """Return whether the loss is at most ``margin``, at the 5 % level."""
        return self.lower > -margin

    def __str__(self) -> str:
        return f"{self.interval.mean:+.3f} [{self.interval.low:+.3f}, {self.interval.high:+.3f}]"


def paired(
    ours: ArrayLike, theirs: ArrayLike, resamples: int = RESAMPLES, seed: int = SEED
) -> Difference:
    """Return the paired bootstrap of ``ours - theirs``, values of the same queries in one order.

    Queries are drawn, not values, so a query that is hard for both does not widen the interval.
    """
    first, second = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    if first.shape != second.shape or not len(first):
        raise ValueError(f"pairs are needed, got {first.shape} and {second.shape}")
    means = resampled_means(first - second, resamples, seed)
    low, lower, high = np.quantile(means, (0.025, 0.05, 0.975))
    mean = float((first - second).mean())
    return Difference(
        Interval(mean, float(low), float(high), len(first)),
        float(lower),
        float((means <= 0).mean()),
    )


def auroc(scores: ArrayLike, positive: ArrayLike) -> float:
    """Return the probability that a positive scores above a negative; ties count half.

    NaN if one of the kinds is missing. Cost: a sort.
    """
    values, truth = np.asarray(scores, np.float64), np.asarray(positive, bool)
    positives, negatives = int(truth.sum()), int((~truth).sum())
    if not positives or not negatives:
        return math.nan
    _, inverse, count = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(count) - (count - 1) / 2)[inverse]  # from 1, ties share their mean
    below = ranks[truth].sum() - positives * (positives + 1) / 2
    return float(below / (positives * negatives))


def risk_coverage(
    confidence: ArrayLike, correct: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return coverage and risk when answering only where confidence reaches each of its values.

    Coverage is the share of queries answered, ascending to 1; risk the mean of ``1 - correct``
    among them (El-Yaniv and Wiener, 2010). Equal confidences are answered together.
    """
    sure, right = np.asarray(confidence, np.float64), np.asarray(correct, np.float64)
    order = np.argsort(-sure, kind="stable")
    answered = np.arange(1, len(sure) + 1)
    risk = np.cumsum(1 - right[order]) / answered
    last = np.append(np.diff(sure[order]) != 0, True) if len(sure) else np.empty(0, bool)
    return (answered / max(1, len(sure)))[last], risk[last]


def area_under_risk(confidence: ArrayLike, correct: ArrayLike) -> float:
    """Return the mean risk over coverage from 0 to 1: less is better."""
    coverage, risk = risk_coverage(confidence, correct)
    return float((risk * np.diff(coverage, prepend=0.0)).sum())
