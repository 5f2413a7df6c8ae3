"""PDF: a page is a memory, named by its file and its number, ``report.pdf#page=3``.

The document is the file, the context its title; the number of the page and of all pages are
metadata. The time is that at which the document was made, as it says itself. A page without a text,
such as a scanned one, is counted. Needs ``pip install 'recollex[pdf]'`` (pypdf).
"""

from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from recollex.files.imports.formats import Format
from recollex.files.imports.reading import FileReading, Object, files_below, files_of_kind
from recollex_engine.errors import InputError

_MAGIC = b"%PDF-"
_SUFFIX = ".pdf"
_BROKEN = (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError)
_OPENING = 1024
"""Bytes at the beginning of a file among which its mark may stand (ISO 32000, Annex H)."""


def matches(path: Path) -> bool:
    """Return whether a path is a PDF, or a folder that has some."""
    if path.is_dir():
        return any(each.suffix.lower() == _SUFFIX for each in files_below(path))
    with path.open("rb") as file:
        return _MAGIC in file.read(_OPENING)


def read(path: Path, reading: FileReading) -> Iterator[Object]:
    """Yield the pages of a file, or of those of a folder. Raises `InputError`."""
    if find_spec("pypdf") is None:
        raise InputError("a PDF needs pypdf: pip install 'recollex[pdf]'")
    if not path.is_dir():
        yield from _pages(path, path.name, reading)
        return
    for file in files_of_kind(path, (_SUFFIX,), reading):
        yield from _pages(file, file.relative_to(path).as_posix(), reading)


def _pages(path: Path, name: str, reading: FileReading) -> Iterator[Object]:
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, PyPdfError

    try:
        document = PdfReader(path)
        if document.is_encrypted and not document.decrypt(""):
            raise InputError(f"{name} is encrypted: save it without a password")
        pages = list(document.pages)
        about = document.metadata
    except DependencyError as error:
        raise InputError(f"{name} is encrypted: pip install 'recollex[crypto]'") from error
    except (PyPdfError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"{name} is no PDF that can be read: {error}") from error
    at = _time(about)
    for number, page in enumerate(pages, 1):
        try:
            text = page.extract_text()
        except (*_BROKEN, PyPdfError):
            reading.skip("page that cannot be read")
            continue
        memory = {
            "id": f"{name}#page={number}",
            "text": text.replace("\x00", "").strip(),
            "event_at": at,
            "document_id": name,
            "context": str((about and about.title) or "").strip(),
            "metadata": {"page": number, "pages": len(pages)}
            | ({"author": str(about.author)} if about and about.author else {}),
        }
        yield from reading.checked(memory, "page")


def _time(about: Any) -> str | None:
    """Return when a document was made, or changed, by what it says; None if it does not."""
    for name in ("creation_date", "modification_date"):
        with suppress(ValueError, TypeError, AttributeError):
            if (at := getattr(about, name)) is not None:
                return str(at.isoformat())
    return None


FORMATS = (
    Format(
        "pdf",
        ("file", "folder"),
        "a file or a folder of them",
        "a page is a memory; its number is metadata, and the end of its id",
        matches,
        read,
        extra="pdf",
        guess=True,
    ),
)
