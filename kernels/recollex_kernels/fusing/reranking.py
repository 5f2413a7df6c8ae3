"""Reranking after fusion: Memora's heuristic, two scores combined, late interaction."""

import numpy as np

from recollex_kernels.machine.jit import F64, I8, I64, kernel
from recollex_kernels.machine.top_k import best_first, unit


# Late interaction: how well do the tokens of a text answer each token of a question?
@kernel
def maxsim(query: I8, tokens: I8, starts: I64, out: F64) -> None:
    """Write into ``out`` the mean over the query's tokens of the best of each text's tokens.

    Equation (Khattab and Zaharia, ColBERT, SIGIR 2020, section 3.3, divided by Q):
        out[i] = 1/Q  sum_q  max_{t in text i}  <query[q], tokens[t]> / 127^2
    A text without tokens has 0, and so has every text where the query has none. The products are
    summed in whole numbers, so a score does not depend on the texts beside it.

    Shapes, for Q tokens of the query, T tokens of n texts, D components:
        query   int8[Q, D]     127 for 1; of length 1 before it was rounded
        tokens  int8[T, D]     likewise
        starts  int64[n + 1]   tokens of text i are starts[i]:starts[i + 1]
        out     float64[n]     in [-1, 1], up to rounding

    Cost: O(Q T D), 6 us for a text of 36 tokens and a query of 9, at D = 384.
    """
    count, dimension = query.shape
    for i in range(starts.shape[0] - 1):
        total = np.int64(0)
        if starts[i + 1] > starts[i]:
            for q in range(count):
                best = np.int32(-(2**31))
                for t in range(starts[i], starts[i + 1]):
                    dot = np.int32(0)
                    for d in range(dimension):
                        dot += np.int32(query[q, d]) * np.int32(tokens[t, d])
                    best = max(best, dot)
                total += best
        out[i] = total / (16129.0 * max(1, count))


_DAY = 86_400_000_000.0
_YEAR = 5.902633333401366  # ln(1 + 365)

REPLACE = 0
ADD = 1
MULTIPLY = 2


@kernel
def _age(now: int, time: int) -> float:
    """Return Memora's ``log(1 + days_old) / log(1 + 365)``: 0 today and later, 1 after a year."""
    days = (np.float64(now) - np.float64(time)) / _DAY
    return float(np.log1p(max(0.0, days)) / _YEAR)


@kernel
def memora_heuristic(
    semantic: F64,
    keyword: F64,
    times: I64,
    accesses: I64,
    now: int,
    semantic_weight: float,
    keyword_weight: float,
    recency_weight: float,
    frequency_weight: float,
) -> F64:
    """Return the heuristic score of each memory, as it is printed.

    Equation (Memora 3.3.1), whose weights are 0.6, 0.4, 0.2 and 0.1:
        score = w_s * semantic / max semantic + w_k * keyword / max keyword
                + w_r * log(1 + days_old) / log(1 + 365) + w_f * min(1, accesses / 100)
    A maximum that is not above 0 leaves its term out. The paper calls the third term a recency
    boost; it grows with age. A memory of the future is 0 days old.

    Shapes: semantic, keyword float64[n], finite; times int64[n] and now in microseconds;
    accesses int64[n]. Cost: O(n), 3 us for 100.
    """
    n = times.shape[0]
    most_semantic = 0.0
    most_keyword = 0.0
    for i in range(n):
        most_semantic = max(most_semantic, semantic[i])
        most_keyword = max(most_keyword, keyword[i])
    out = np.empty(n, np.float64)
    for i in range(n):
        score = recency_weight * _age(now, times[i])
        score += frequency_weight * min(1.0, accesses[i] / 100)
        if most_semantic > 0:
            score += semantic_weight * (semantic[i] / most_semantic)
        if most_keyword > 0:
            score += keyword_weight * (keyword[i] / most_keyword)
        out[i] = score
    return out


@kernel
def boosts(
    times: I64, accesses: I64, now: int, recency_weight: float, frequency_weight: float
) -> F64:
    """Return what each memory's age and use are worth, in [0, recency + frequency weight].

    Equation (Memora 3.3.1, its recency turned round):
        boost = w_r * max(0, 1 - log(1 + days_old) / log(1 + 365)) + w_f * min(1, accesses / 100)
    which falls from w_r today to 0 after a year.

    Shapes: as for `memora_heuristic`. Cost: O(n), 3 us for 100.
    """
    out = np.empty(times.shape[0], np.float64)
    for i in range(times.shape[0]):
        out[i] = recency_weight * max(0.0, 1.0 - _age(now, times[i]))
        out[i] += frequency_weight * min(1.0, accesses[i] / 100)
    return out


@kernel
def combine(fused: F64, reranked: F64, form: int, weight: float) -> tuple[I64, F64]:
    """Return the new order as places in the given list, and the scores in that order.

    Equation, f = unit(fused) (see `top_k`), r = reranked where all of it lies in [0, 1], else
    unit(reranked):
        REPLACE   score = reranked
        ADD       score = f + weight * r
        MULTIPLY  score = f * (1 + weight * r)
    With MULTIPLY, a place whose f is at least 1 + weight times another's stays before it whatever
    the reranker says, and one with f = 0 overtakes nothing. Order: higher score, ties as given.

    Shapes: fused, reranked float64[n], finite. Cost: O(n log n), 5 us for 100.
    """
    if form == REPLACE:
        order = best_first(reranked)
        return order, reranked[order]
    bounded = reranked
    for i in range(reranked.shape[0]):
        if not 0 <= reranked[i] <= 1:
            bounded = unit(reranked)
            break
    scores = unit(fused)
    for i in range(scores.shape[0]):
        if form == ADD:
            scores[i] += weight * bounded[i]
        else:
            scores[i] *= 1 + weight * bounded[i]
    order = best_first(scores)
    return order, scores[order]
