"""What if a text is longer than a model reads? Its end is in no vector, and somebody is told."""

import warnings

ADVICE = "cut it shorter; Encoder.truncated(text) tells beforehand"


class TruncationWarning(UserWarning):
    """A text that was embedded is longer than the model reads: its vector knows its beginning."""


def warn_of(count: int, longest: int, model: str) -> None:
    """Warn, if ``count`` texts of a call were longer than the ``longest`` tokens that are read.

    The words are the same each time, so that Python shows them once.
    """
    if count:
        warnings.warn(
            f"a text is longer than the {longest} tokens that {model} reads: its end is in no "
            f"vector, and only its words find it; {ADVICE}",
            TruncationWarning,
            stacklevel=3,
        )
