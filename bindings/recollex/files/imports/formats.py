"""The table of formats: one row a format, ``FORMATS`` of the module that reads it.

To add one, write a module in this package with its row; nothing else lists formats. The command
line's help, the errors and the page docs/imports.md come from the rows.
"""

import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from recollex.files import imports
from recollex.files.imports.reading import FileReading

Kind = Literal["file", "folder", "archive", "lines", "text", "json"]
"""What `Format.matches` and `Format.read` are given: the path of a file or a folder, the root of a
ZIP archive; of a text the first line that is not empty, then all lines or the whole; a JSON value.
"""


@dataclass(frozen=True, slots=True)
class Format:
    """What another program writes, how it is recognised and read, and its line of help.

    name: as callers name it. kinds: as what it comes. file, becomes: what it is, and what is made
    of it. read: yields the objects of JSON lines (`files.jsonl`); with ``facts`` the operations of
    each entry. extra: of pip. guess: ``matches`` may take what is of another format; it is asked
    after those of the others. count: the number of objects of a path, where it is quickly known.
    """

    name: str
    kinds: tuple[Kind, ...]
    file: str
    becomes: str
    matches: Callable[[Any], bool]
    read: Callable[[Any, FileReading], Iterator[Any]]
    extra: str | None = None
    facts: bool = False
    guess: bool = False
    count: Callable[[Path], int] | None = None

    def line(self) -> str:
        """Return what the help and the pages say that a file of the format is."""
        needs = f"; needs `pip install 'recollex[{self.extra}]'`" if self.extra else ""
        return f"{self.file}{needs}"

    @property
    def is_text(self) -> bool:
        """Whether a file of the format is a text, so that a stream of it can be read."""
        return not {"lines", "text", "json"}.isdisjoint(self.kinds)


@cache
def formats() -> dict[str, Format]:
    """Return name -> row, in the order in which a file is compared with them."""
    found = [each.name for each in pkgutil.iter_modules(imports.__path__, f"{imports.__name__}.")]
    rows = [row for name in found for row in getattr(import_module(name), "FORMATS", ())]
    return {row.name: row for row in sorted(rows, key=lambda row: (row.guess, row.name))}


def of_kind(*kinds: Kind) -> list[Format]:
    """Return the formats that come as one of these."""
    return [row for row in formats().values() if not set(kinds).isdisjoint(row.kinds)]


def names() -> str:
    """Return the names of all formats, as errors and the help list them."""
    return ", ".join(sorted(formats()))
