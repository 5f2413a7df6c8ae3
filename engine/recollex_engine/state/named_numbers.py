"""Do the numbers in operations of a log name what exists? Kernels index by them unchecked.

The chain of a log says that nothing was changed since, not that one of ours wrote it.
"""

from collections.abc import Sequence

from recollex_engine.domain.schema import NONE


def check_below(what: str, numbers: Sequence[int], end: int, *, first: int = 0) -> None:
    """Raise `ValueError` unless all ``numbers`` lie in [first, end)."""
    if numbers and not first <= min(numbers) <= max(numbers) < end:
        raise ValueError(
            f"{what} must lie in [{first}, {end}), got {min(numbers)} to {max(numbers)}"
        )


def check_earlier(
    what: str, numbers: Sequence[int], of: Sequence[int], *, none: bool = False
) -> None:
    """Raise `ValueError` unless each number lies in [0, its item of ``of``), or is `NONE`."""
    for number, end in zip(numbers, of, strict=True):
        if not 0 <= number < end and not (none and number == NONE):
            raise ValueError(f"{what} must lie in [0, {end}), got {number}")
