"""What if a text is longer than a model reads? Its end is in no vector, and a warning says so."""

import warnings
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")

ADVICE = "cut it shorter; Encoder.truncated(text) tells beforehand"


class TruncationWarning(UserWarning):
    """An embedded text is longer than the model reads: its vector represents only its beginning."""


_cut_by_us: ContextVar[bool] = ContextVar("cut_by_us", default=False)


def unwarned(work: Callable[Given, Result], *args: Given.args, **more: Given.kwargs) -> Result:
    """Return ``work(*args, **more)``, whose texts are passages that the caller cannot cut shorter.

    It gives no `TruncationWarning`. It runs in a copy of the context, so an interrupt at any moment
    leaves the caller's warnings on.
    """
    context = copy_context()
    context.run(_cut_by_us.set, True)
    return context.run(work, *args, **more)


def warn_of(count: int, longest: int, model: str) -> None:
    """Warn if ``count``, the texts of a call with more than ``longest`` tokens, is not 0.

    The message is the same each time, so that Python shows it once.
    """
    if count and not _cut_by_us.get():
        warnings.warn(
            f"a text is longer than the {longest} tokens that {model} reads: its end is in no "
            f"vector, and only its words find it; {ADVICE}",
            TruncationWarning,
            stacklevel=3,
        )
