"""Markdown: a file, a folder of them, or the memory folder of an agent (``MEMORY.md``).

A section is a memory, with the headings above it as its context. It is named by its file and its
headings, ``notes/oslo.md#food/fish``; so a section that was edited replaces what it said, and its
history stays. A long section is divided between its blocks.

In a folder with a ``MEMORY.md`` (as of Claude Code, OpenClaw, Hermes), that file and the notes
beside and below it are an agent's memory: there each item of a list is a memory, and each
paragraph, named by its words. Items that only lead to another file are its index, and counted.

Times: ``date``, ``created`` or ``updated`` of the front matter (YAML), else a day in the file's
name, such as ``2024-05-04.md``. The time at which a file was written to disk is not used: each copy
has another. Other fields of the front matter are metadata; ``tags`` are tags. A file that
`recollex export` has written is one memory again.

Needs ``pip install 'recollex[markdown]'`` (markdown-it-py, PyYAML).
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from recollex.api.foreign_files import text_of
from recollex.files.imports.formats import Format
from recollex.files.imports.reading import FileReading, Object, files_below, files_of_kind, named
from recollex_engine.domain.checks import MAX_NAME
from recollex_engine.errors import InputError


# The sections of a text of Markdown, and the blocks of each, as CommonMark divides them.
@dataclass(slots=True)
class Section:
    """What stands under one heading, before the next. headings: above it, the highest first.

    blocks: a paragraph, a table, a fence and so on each; of a list, each item.
    """

    headings: tuple[str, ...]
    blocks: list[str] = field(default_factory=list)


def sections(text: str) -> Iterator[Section]:
    r"""Yield the sections of a text; one without blocks only if no other is below it.

    >>> [(each.headings, each.blocks) for each in sections("# Food\nFish.\n\n- tea\n- cake")]
    [(('Food',), ['Fish.', '- tea', '- cake'])]
    """
    from markdown_it import MarkdownIt

    lines = text.split("\n")
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.disable(["inline", "text_join"])  # only the blocks are looked at
    tokens = parser.parse(text)
    above: list[tuple[int, str]] = []
    section = Section(())
    for place, token in enumerate(tokens):
        if token.map is None:
            continue
        if token.type == "heading_open" and token.level == 0:
            depth = int(token.tag[1:])
            if section.blocks or (above and depth <= above[-1][0]):
                yield section
            title = " ".join(tokens[place + 1].content.split())
            above = [(level, each) for level, each in above if level < depth] + [(depth, title)]
            section = Section(tuple(each for _, each in above if each))
            continue
        is_list = token.type in ("bullet_list_open", "ordered_list_open")
        is_item = token.type == "list_item_open" and token.level == 1
        if (token.level == 0 and not is_list and token.type != "hr") or is_item:
            block = "\n".join(lines[token.map[0] : token.map[1]]).strip("\n").rstrip()
            if block:
                section.blocks.append(block)
    if section.blocks or above:
        yield section


SUFFIXES = (".md", ".markdown", ".mdx")
MEMORY = "memory.md"
"""The file, in capitals or not, by which a folder is an agent's memory."""
_LONG = 4_000
"""Characters of a section that is one memory; a longer one is divided between its blocks."""
_FRONT = re.compile(r"---[ \t]*\n(.*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_DAY = re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)")
_LINK_ALONE = re.compile(
    r"[-*+]\s+\[[^\]]*\]\((?=[^)]*\.md[#)])[^)]*\)(?:\s*(?:[-:\u2013\u2014].*)?)"
)
_MARKER = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_ENTRY = re.compile(r"^[ \t]*§[ \t]*$", re.MULTILINE)  # between the entries of Hermes
_FRONT_MOST = 100_000
"""Characters of a front matter that is read."""
_FRONT_DEPTH = 100
"""Levels of brackets in it: the scanner looks at all of them for each token."""
_TIMES = ("event_at", "at", "date", "created", "created_at", "updated", "updated_at")
_FIELDS = (
    "context",
    "document_id",
    "network",
    "speaker",
    "role",
    "valid_until",
    "recorded_at",
    "source",
    "trust",
)
"""Fields of a memory that the front matter of an exported file has, besides tags and entities."""


def is_memory_folder(path: Path) -> bool:
    """Return whether a folder is the memory of an agent."""
    return path.is_dir() and any(file.name.lower() == MEMORY for file in path.iterdir())


def matches(given: Path | str) -> bool:
    """Return whether a path is a file of Markdown by its name, or a folder that has some.

    Also whether a text whose first line is given is Markdown: a heading, or front matter.
    """
    if isinstance(given, str):
        return re.match(r"#{1,6} \S|---\s*$", given) is not None
    if given.is_dir():
        return any(each.suffix.lower() in SUFFIXES for each in files_below(given))
    return given.suffix.lower() in SUFFIXES


def check_installed() -> None:
    """Raise `InputError` unless the parsers can be imported."""
    for module in ("markdown_it", "yaml"):
        if find_spec(module) is None:
            raise InputError("Markdown needs its parsers: pip install 'recollex[markdown]'")


def read(given: Path | str, reading: FileReading) -> Iterator[Object]:
    """Yield the memories of a text, a file, or of those of a folder. Raises `InputError`."""
    check_installed()
    if isinstance(given, str):
        yield from read_text(given, reading.document, reading)
        return
    if not given.is_dir():
        is_memory = given.name.lower() == MEMORY
        yield from read_text(text_of(given.resolve()), given.name, reading, is_memory)
        return
    is_memory = is_memory_folder(given)
    for file in files_of_kind(given, SUFFIXES, reading):
        name = file.relative_to(given).as_posix()
        yield from read_text(text_of(file), name, reading, is_memory)


def read_text(
    text: str, name: str, reading: FileReading, is_memory: bool = False
) -> Iterator[Object]:
    """Yield the memories of one text. name: of its file, within what is imported."""
    check_installed()
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    front, body = _front_matter(text, reading)
    shared = _shared(front, name, reading)
    if not body.strip():
        reading.skip("file without a text")
    elif _is_exported(front):
        yield from reading.checked({**shared, "id": str(front["id"]), "text": body.strip()}, "file")
    else:
        read_body = _items if is_memory else _sections
        for each in read_body(body, name, reading):
            yield from reading.checked({**shared, **each}, "section")


def _sections(text: str, name: str, reading: FileReading) -> Iterator[Object]:
    """Yield a section each, or parts of a long one, named by the headings."""
    seen: Counter[str] = Counter()
    for section in sections(text):
        anchor = "/".join(_slug(heading) for heading in section.headings)
        seen[anchor] += 1
        reading.skip("heading without a text", not section.blocks)
        id = f"{name}#{anchor}" + (f"-{seen[anchor]}" if seen[anchor] > 1 else "")
        for place, part in enumerate(_parts(section.blocks), 1):
            yield {
                "id": _bounded(id, f"/{place}" if place > 1 else ""),
                "text": part,
                "context": " / ".join(section.headings),
            }


def _items(text: str, name: str, reading: FileReading) -> Iterator[Object]:
    """Yield an item of a list each, or another block, named by the words."""
    found: list[tuple[str, str]] = []
    for entry in _ENTRY.split(text) if _ENTRY.search(text) else [text]:
        for section in sections(entry):
            reading.skip("heading without a text", not section.blocks)
            for block in section.blocks:
                if _LINK_ALONE.fullmatch(block):
                    reading.skip("item of an index")
                    continue
                found.append((" / ".join(section.headings), _MARKER.sub("", block, count=1)))
    words = named((f"{context}\n{block}" for context, block in found), name)
    for (context, block), (id, _) in zip(found, words, strict=True):
        yield {"id": id, "text": block, "context": context}


def _parts(blocks: list[str]) -> Iterator[str]:
    """Yield the blocks of a section together, up to `_LONG` characters at once."""
    part: list[str] = []
    size = 0
    for block in blocks:
        if part and size + len(block) > _LONG:
            yield "\n\n".join(part)
            part = []
            size = 0
        part.append(block)
        size += len(block)
    if part:
        yield "\n\n".join(part)


def _front_matter(text: str, reading: FileReading) -> tuple[dict[str, Any], str]:
    """Return the fields of the front matter and the text after it."""
    found = _FRONT.match(text)
    if found is None:
        return {}, text
    try:
        front = _parsed(found[1] or "")
    except ValueError:
        reading.skip("front matter that is no YAML")
        return {}, text[found.end() :]
    if front is None:
        return {}, text[found.end() :]
    if not isinstance(front, dict):
        return {}, text  # a line across the page
    return {str(key): value for key, value in front.items()}, text[found.end() :]


def _parsed(written: str) -> Any:
    """Return what YAML says. Raises `ValueError`, also for an alias and beyond the bounds.

    Aliases are not read: nine lines of them name a billion values.
    """
    import yaml

    if len(written) > _FRONT_MOST:
        raise ValueError(f"{len(written)} characters")
    try:
        depth = 0
        for token in yaml.scan(written):
            depth += isinstance(token, yaml.FlowSequenceStartToken | yaml.FlowMappingStartToken)
            depth -= isinstance(token, yaml.FlowSequenceEndToken | yaml.FlowMappingEndToken)
            if depth > _FRONT_DEPTH or isinstance(token, yaml.AliasToken):
                raise ValueError("an alias, or too many levels")
        return yaml.safe_load(written)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(error) from error


def _is_exported(front: dict[str, Any]) -> bool:
    """Return whether a file is a memory that `recollex export` has written."""
    return {"id", "network"} <= front.keys()


def _shared(front: dict[str, Any], name: str, reading: FileReading) -> Object:
    """Return what all memories of a file have."""
    exported = _is_exported(front)
    shared: Object = {} if exported else {"document_id": name}
    at = next((front[each] for each in _TIMES if front.get(each)), None) or _day(name)
    if at is not None:
        shared["event_at"] = reading.time(_plain(at))
    for each in _FIELDS if exported else ():
        if front.get(each):
            shared[each] = str(_plain(front[each]))
    for each in ("tags", "entities") if exported else ("tags",):
        given = front.get(each)
        names = given.replace(",", " ").split() if isinstance(given, str) else given
        shared[each] = [str(item) for item in names or () if item is not None]
    known = {"tags", "metadata", *_TIMES, *(("id", "entities", *_FIELDS) if exported else ())}
    given = front.get("metadata")
    more = given if isinstance(given, dict) else {} if given is None else {"metadata": given}
    rest = {key: value for key, value in front.items() if key not in known}
    shared["metadata"] = _plain(more | rest)
    if "speaker" in shared or "role" in shared:
        shared["at"] = shared.pop("event_at", None)
        shared.pop("entities", None)  # those of a turn are found by its words
    return shared


def _plain(value: Any) -> Any:
    """Return a value of YAML as JSON has it."""
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(each) for each in value]
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def _day(name: str) -> str | None:
    """Return the last day that the path of a file names, None if it names none."""
    found = [each for each in _DAY.findall(name) if _is_day(each)]
    return found[-1] if found else None


def _is_day(written: str) -> bool:
    try:
        date.fromisoformat(written)
    except ValueError:
        return False
    return True


def _slug(heading: str) -> str:
    """Return a heading as the end of a link: "What's new?" is "whats-new"."""
    return re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", heading.strip().lower()))


def _bounded(id: str, end: str) -> str:
    return id[: MAX_NAME - len(end)] + end


FORMATS = (
    Format(
        "markdown",
        ("file", "folder", "text"),
        "a file, a folder of them, or an agent's memory folder",
        "a section is a memory; of a memory folder, an item of a list",
        matches,
        read,
        extra="markdown",
        guess=True,
    ),
)
