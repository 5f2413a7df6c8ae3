"""Late interaction: how well do the tokens of a text answer each token of a question?"""

import numpy as np

from recollex_kernels.machine.jit import F64, I8, I64, kernel


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
