"""Opens what another program wrote, a file, a folder or an archive, as a `Source`."""

import os
from datetime import tzinfo
from pathlib import Path
from typing import TextIO

from recollex.api.foreign_files import check_regular
from recollex.files.imports.places import PLACES, conversations, inside, place_of
from recollex.files.imports.reading import Reading
from recollex.files.imports.source import Source, Way
from recollex.files.imports.text_source import JSON, TEXTS, WITH_FACTS, of_content, of_text
from recollex_engine.errors import InputError

File = str | os.PathLike[str] | TextIO
FORMATS = (*(name for name in TEXTS if name not in WITH_FACTS), *PLACES, *WITH_FACTS)


def open_source(
    file: File,
    format: str | None,
    zone: tzinfo,
    document_id: str | None = None,
    recorded: bool = False,
    stamped: bool = False,
) -> Source:
    """Open a path, or a stream of text, and find its format if that is None.

    Raises `InputError` for a file of no known format, and `OSError` for one that cannot be read.
    """
    if format is not None and format not in FORMATS:
        raise InputError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")
    if isinstance(file, str | os.PathLike):
        path = Path(file)
        check_regular(path)
        reading = Reading(document_id or (path.name if path.is_dir() else path.stem))
        return _of_path(path, format, Way(reading, zone, recorded, stamped))
    if format in PLACES and format != "markdown":
        raise InputError(f"a file of the format {format} is read by its name, not as a stream")
    way = Way(Reading(document_id or "stdin"), zone, recorded, stamped)
    return of_text(file, format, way, document_id)


def _of_path(path: Path, format: str | None, way: Way) -> Source:
    reading = way.reading
    root = inside(path)
    if root.is_dir() and (format is None or format in JSON):
        content = conversations(root)
        if content is not None:
            return of_content(content, format, way)
    if (name := place_of(path, root, format)) is not None:
        place = PLACES[name]
        total = None if place.count is None else place.count(path)
        return way.of_objects(name, place.read(root, reading), total)
    stream = path.open(encoding="utf-8-sig", newline="")
    try:
        opened = of_text(stream, format, way, reading.document, path)
    except BaseException:
        stream.close()
        raise
    if opened.file is None:
        stream.close()
    return opened
