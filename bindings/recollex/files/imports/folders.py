"""The files of a folder and of those below it, without what is hidden."""

from collections.abc import Iterator
from pathlib import Path

from recollex.api.foreign_files import is_regular
from recollex.files.imports.reading import FileReading
from recollex_engine.errors import InputError


def files_below(folder: Path, reading: FileReading | None = None) -> Iterator[Path]:
    """Yield the regular files in a folder and below it, sorted by their paths.

    A link is counted in ``reading``, not followed: it may lead out of the folder. So is a pipe or
    a device.
    """
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if hidden or (path.is_dir() and not path.is_symlink()):
            continue
        if is_regular(path):
            yield path
        elif reading is not None:
            reading.skip("link" if path.is_symlink() else "pipe, socket or device")


def files_of_kind(folder: Path, suffixes: tuple[str, ...], reading: FileReading) -> Iterator[Path]:
    """Yield the files whose names end so, and count the others. Raises `InputError` for none."""
    found = False
    for path in files_below(folder, reading):
        if path.suffix.lower() in suffixes:
            found = True
            yield path
        else:
            reading.skip(f"file {path.suffix.lower() or path.name}")
    if not found:
        raise InputError(f"the folder has no file that ends with {', '.join(suffixes)}")
