"""What every reader of a file shares: counting what is left out, times, and contents of messages.

A reader (`formats.Format.read`) counts in ``reading`` what it does not understand, and never drops
it in silence.

Paragraphs of a text that has no ids: each gets one that is made of its document and its words.
So a paragraph keeps its id when others are written before it, and one that is changed is another.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from hashlib import blake2b
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from recollex.api.foreign_files import is_regular
from recollex_engine.domain.checks import MAX_NAME, MAX_TEXT, mended
from recollex_engine.domain.turn import read_content, split_turn
from recollex_engine.errors import InputError

_EMPTY_LINE = re.compile(r"\n[ \t]*\n")


def paragraphs(text: str, document: str) -> Iterator[tuple[str, str]]:
    r"""Yield the id and the words of each paragraph of a text.

    >>> [words for _, words in paragraphs("Likes tea.\n\nLives in Oslo.", "notes")]
    ['Likes tea.', 'Lives in Oslo.']
    """
    yield from named((part.strip() for part in _EMPTY_LINE.split(text)), document)


def named(texts: Iterator[str], document: str) -> Iterator[tuple[str, str]]:
    """Yield the id and the words of each text that is not empty."""
    seen: Counter[str] = Counter()
    for words in texts:
        if words:
            seen[words] += 1
            yield str(uuid5(NAMESPACE_URL, f"{seen[words]} {document} {words}")), words


Object = dict[str, Any]
"""A memory or a turn, with the fields of a line; see `api.jsonl`."""
PICTURE = "[picture]"


@dataclass(slots=True)
class FileReading:
    """How one file is read, and what is counted meanwhile.

    document: of turns that name none, "" for the file's name; has_name: False for a stream that has
    none. zone: of times without an offset. recorded, stamped: keep the recorded time, and the
    source and trust, of each line. left_out: what was not kept, or kept as a note
    such as "[picture]", and how often. untimed: turns and memories without a time of their own.
    columns: of a table, what each was taken for.
    """

    document: str = ""
    zone: tzinfo = UTC
    recorded: bool = False
    stamped: bool = False
    has_name: bool = True
    left_out: Counter[str] = field(default_factory=Counter)
    untimed: int = 0
    columns: dict[str, str] = field(default_factory=dict)
    _seen: dict[str, list[bytes]] = field(default_factory=dict, repr=False)

    def skip(self, what: str, count: int = 1) -> None:
        """Count something that is left out."""
        if count:
            self.left_out[what] += count

    def time(self, written: object) -> str | None:
        """Return a time, in ISO 8601 or in seconds since 1970, as ISO 8601; None if it is none."""
        if isinstance(written, str):
            try:
                return datetime.fromisoformat(written.strip()).isoformat()
            except ValueError:
                pass
        elif isinstance(written, int | float) and not isinstance(written, bool):
            seconds = written / 1000 if abs(written) > 1e11 else written
            try:
                return datetime.fromtimestamp(seconds, UTC).isoformat()
            except (ValueError, OverflowError, OSError):
                pass
        if written not in (None, ""):
            self.skip("time that cannot be read")
        return None

    def content(self, content: object) -> str:
        """Return the text of a message's content: a str, or parts that chat APIs know."""
        parts = content if isinstance(content, list) else [content]
        lines = []
        for part in parts:
            if part is None:
                continue
            try:
                said = read_content([part], "content").strip()
            except InputError:
                kind = part.get("type") if isinstance(part, dict) else type(part).__name__
                self.skip(f"part of type {kind}")
                continue
            if said == PICTURE:
                self.skip("picture")
            lines.append(said)
        return "\n".join(line for line in lines if line)

    def turns(self, message: Object) -> Iterable[Object]:
        """Yield a message whose content is a str or parts as turns that can be retained.

        Results of tools in it are turns of the tool.
        """
        for turn in split_turn(message):
            turn["content"] = self.content(turn["content"])
            yield from self.checked(turn, "message")

    def checked(self, each: Object, what: str) -> Iterable[Object]:
        """Yield an object that can be retained; count one without a text, or with too long a one.

        Absent fields are left out, and one without a time is counted. An id that stands again in
        the file is counted if it names the same text, and else gets a number: "m1", "m1#2".
        """
        whole = {name: value for name, value in each.items() if value not in (None, "", [], {})}
        kept = mended(whole)
        if kept is not whole:
            self.skip(f"{what} with broken characters")
        text = kept.get("text", kept.get("content"))
        if not (isinstance(text, str) and text.strip()) and "tool_calls" not in kept:
            self.skip(f"{what} without a text")
            return
        if isinstance(text, str) and len(text) > MAX_TEXT:
            self.skip(f"{what} of more than {MAX_TEXT:,} characters")
            return
        for name in ("context", "document_id", "name", "speaker", "id"):
            if name in kept:
                kept[name] = str(kept[name])[:MAX_NAME]
        if "id" in kept and not self._is_new(kept):
            self.skip(f"{what} that stands twice")
            return
        if "at" not in kept and "event_at" not in kept:
            self.untimed += 1
        yield kept

    def _is_new(self, kept: Object) -> bool:
        """Return whether an object was not read before; give it an id of its own if it needs one.

        Of each id the digests of its texts are kept: 150 bytes or so for a memory.
        """
        said = f"{kept.get('text', kept.get('content'))} {kept.get('tool_calls')}"
        digest = blake2b(said.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        seen = self._seen.setdefault(kept["id"], [])
        if digest in seen:
            return False
        seen.append(digest)
        if len(seen) > 1:
            end = f"#{len(seen)}"
            kept["id"] = kept["id"][: MAX_NAME - len(end)] + end
        return True


def as_dict(value: object) -> dict[str, Any]:
    """Return a dict as it is, and an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return a list as it is, and an empty one for anything else."""
    return value if isinstance(value, list) else []


# The files of a folder and of those below it, without what is hidden.
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
