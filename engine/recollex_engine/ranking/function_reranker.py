"""A reranker whose scores come from a Python function of the caller."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.checks import MAX_NAME, check_flag, check_text
from recollex_engine.errors import InputError, RecollexError, RerankError
from recollex_engine.ranking.candidates import Candidates
from recollex_engine.ranking.reranking import (
    REPLACING,
    Combination,
    check_combination,
    checked_scores,
)

Scoring = Callable[[str, list[str]], Sequence[float] | npt.NDArray[np.floating]]
"""Given the question and the texts, it returns a number for each text, higher for better."""


@dataclass(frozen=True, slots=True)
class FunctionReranker:
    """Calls a function of the caller: ``function(query, texts)`` returns a number for each text.

    The numbers may have any size; higher is better. dated: whether the texts begin with a date, as
    in TEMPR 3.3. If several threads recall at once, they call the function at once.

    >>> FunctionReranker(lambda query, texts: [len(text) for text in texts], name="length").name
    'length'
    """

    function: Scoring
    dated: bool = False
    name: str = "function"
    combination: Combination = REPLACING

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(f"function must be callable as f(query, texts), got {self.function!r}")
        check_flag(self.dated, "dated")
        check_text(self.name, "name", MAX_NAME)
        check_combination(self.combination)

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
