"""What if a text is longer than a model reads? Its end is in no vector, and a warning says so."""

import warnings

ADVICE = "cut it shorter; Encoder.truncated(text) tells beforehand"


class TruncationWarning(UserWarning):
    """An embedded text is longer than the model reads: its vector represents only its beginning."""


def warn_of(count: int, longest: int, model: str) -> None:
    """Warn if ``count``, the texts of a call with more than ``longest`` tokens, is not 0.

    The message is the same each time, so that Python shows it once.
    """
    if count:
        warnings.warn(
            f"a text is longer than the {longest} tokens that {model} reads: its end is in no "
            f"vector, and only its words find it; {ADVICE}",
            TruncationWarning,
            stacklevel=3,
        )
