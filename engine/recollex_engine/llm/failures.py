"""What goes wrong with a language model: failures that pass, and those that stay."""

from recollex_engine.errors import LanguageModelError


class AttemptError(LanguageModelError):
    """An attempt failed, and another may succeed, after ``wait`` seconds at the earliest."""

    def __init__(self, what: str, reason: str = "failed", wait: float = 0.0) -> None:
        super().__init__(what, reason)
        self.wait = wait


def words_of(error: BaseException) -> str:
    """Return what a message quotes of an error."""
    return f"{type(error).__name__}: {error}"[:200]


def refused(model: str, why: object) -> LanguageModelError:
    """Return the error for a model that will not answer; asking again would not help."""
    return LanguageModelError(f"{model} refused to answer: {str(why)[:200]}", "refused")
