"""What goes wrong with a language model: failures that pass, and those that stay."""

from collections.abc import Iterator
from contextlib import contextmanager

from recollex_engine.errors import LanguageModelError, RecollexError


class AttemptError(LanguageModelError):
    """An attempt failed, and another may succeed, after ``wait`` seconds at the earliest."""

    def __init__(self, what: str, reason: str = "failed", wait: float = 0.0) -> None:
        super().__init__(what, reason)
        self.wait = wait


def words_of(error: BaseException) -> str:
    """Return what a message quotes of an error."""
    return f"{type(error).__name__}: {error}"[:200]


@contextmanager
def as_attempt(model: str) -> Iterator[None]:
    """Let errors of ours pass, and make an `AttemptError` of any other.

    Those are of a client's library, at an answer that it did not expect.
    """
    try:
        yield
    except RecollexError:
        raise
    except Exception as error:
        raise AttemptError(f"{model} did not answer: {words_of(error)}") from error


def refused(model: str, why: object) -> LanguageModelError:
    """Return the error for a model that will not answer; asking again would not help."""
    return LanguageModelError(f"{model} refused to answer: {str(why)[:200]}", "refused")
