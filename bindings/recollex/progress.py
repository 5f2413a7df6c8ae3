"""Progress bars for long work, on a terminal only."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LONG = 200
"""Items from which work is worth a bar."""


@contextmanager
def progress_bar(
    total: int | None, label: str, unit: str = "memories"
) -> Iterator[Callable[[int], None] | None]:
    """Give a function that is told how many more items are done; None where nobody watches."""
    if (total is not None and total < LONG) or not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm

    with tqdm(total=total, desc=label, unit=f" {unit}", leave=False, file=sys.stderr) as bar:
        yield bar.update
