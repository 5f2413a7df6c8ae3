"""A reranker that asks a Python function of the caller's for the scores."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recollex_engine.errors import RecollexError, RerankError
from recollex_engine.ranking.candidates import Candidates
from recollex_engine.ranking.reranking import REPLACING, Combination, checked_scores

Scoring = Callable[[str, list[str]], Sequence[float] | npt.NDArray[np.floating]]
"""Given the question and the texts, returns a number for each text, higher for better."""


@dataclass(frozen=True, slots=True)
class FunctionReranker:
    """Asks a function of the caller's: ``function(query, texts)`` returns a number a text.

    The numbers may be of any size; more is better. dated: whether the texts are dated as
    TEMPR 3.3 shows them. The function may be called from several threads at once, if recalls are.

    >>> FunctionReranker(lambda query, texts: [len(text) for text in texts], name="length").name
    'length'
    """

    function: Scoring
    dated: bool = False
    name: str = "function"
    combination: Combination = REPLACING

    def scores(self, candidates: Candidates) -> npt.NDArray[np.float64]:
        """Return the function's numbers, float64[n], finite.

        Raises:
            RerankError: the function failed, or its answer is not one finite number a text.

        """
        texts = candidates.dated_texts if self.dated else candidates.texts
        try:
            found = self.function(candidates.query, list(texts))
        except RecollexError:
            raise
        except Exception as error:
            raise RerankError(self.name, f"{type(error).__name__}: {error}") from error
        return checked_scores(found, len(texts), self.name)
