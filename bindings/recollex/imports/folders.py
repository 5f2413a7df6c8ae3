"""The files of a folder and of those below it, without what is hidden."""

from collections.abc import Iterator
from pathlib import Path

from recollex.imports.reading import Reading
from recollex_engine.errors import InputError


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder and below it, sorted by their paths."""
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if not hidden and path.is_file():
            yield path


def files_of_kind(folder: Path, suffixes: tuple[str, ...], reading: Reading) -> Iterator[Path]:
    """Yield the files whose names end so, and count the others. Raises `InputError` for none."""
    found = False
    for path in files_below(folder):
        if path.suffix.lower() in suffixes:
            found = True
            yield path
        else:
            reading.skip(f"file {path.suffix.lower() or path.name}")
    if not found:
        raise InputError(f"the folder has no file that ends with {', '.join(suffixes)}")
