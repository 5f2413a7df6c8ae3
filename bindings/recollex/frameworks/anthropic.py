"""Anthropic's memory tool (memory_20250818): a folder of files, each a memory with its history.

Needs ``pip install 'recollex[anthropic]'``.

What Anthropic's memory tool says of a file or folder, and its two edits of a text.
The words are those of its tool for a file system, which models have learned. A `ValueError` has the
words of the tool's error.
"""

import asyncio
import posixpath
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from recollex_engine.domain.question import MAX_LIMIT
from recollex_engine.errors import RecollexError

MOST_LINES = 999_999
_WIDTH = len(str(MOST_LINES))


def numbered(content: str, path: str, view_range: Sequence[int] | None) -> str:
    """Return the lines of a file with their numbers; view_range: [first, last], -1 for the end."""
    lines = content.split("\n")
    if len(lines) > MOST_LINES:
        raise ValueError(f"File {path} exceeds maximum line limit of {MOST_LINES:,} lines.")
    first = 0
    last = len(lines)
    if view_range and len(view_range) == 2:
        first = max(1, view_range[0]) - 1
        last = last if view_range[1] == -1 else view_range[1]
    shown = _lines(lines[first:last], first + 1)
    return f"Here's the content of {path} with line numbers:\n{shown}"


def listed(sizes: Mapping[str, int], path: str) -> str:
    """Return what a folder holds, two levels deep, without hidden items.

    sizes: path of a file within the folder -> its bytes. A folder's size is that of its files.

    >>> print(listed({"b/c.md": 2048, "a.md": 3}, "/memories"))
    Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:
    2.0K	/memories
    3B	/memories/a.md
    2K	/memories/b/
    2K	/memories/b/c.md
    """
    shown: dict[tuple[str, ...], int] = {}  # a folder's path ends with ""
    for file, size in sizes.items():
        parts = tuple(file.split("/"))
        for depth in (1, 2):
            if depth > len(parts) or parts[depth - 1].startswith("."):
                break
            place = parts if depth == len(parts) else (*parts[:depth], "")
            shown[place] = shown.get(place, 0) + size
    lines = [f"{_size(sum(sizes.values()))}\t{path}"]
    lines += [f"{_size(shown[place])}\t{path}/{'/'.join(place)}" for place in sorted(shown)]
    head = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden"
    return f"{head} items:\n" + "\n".join(lines)


def replaced(content: str, old: str, new: str, path: str) -> tuple[str, str]:
    """Return the text after a replacement, and what the tool says of it."""
    count = content.count(old)
    if count == 0:
        raise ValueError(
            f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
        )
    if count > 1:
        places = []
        at = content.find(old)
        while at != -1:
            places.append(str(content[:at].count("\n") + 1))
            at = content.find(old, at + 1)
        raise ValueError(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
            f"{', '.join(places)}. Please ensure it is unique"
        )
    line = content[: content.find(old)].count("\n")
    edited = content.replace(old, new)
    first = max(0, line - 2)
    shown = _lines(edited.split("\n")[first : line + 3], first + 1)
    return edited, (
        "The memory file has been edited. Here is the snippet showing the change "
        f"(with line numbers):\n{shown}"
    )


def inserted(content: str, after: int, text: str) -> str:
    """Return the text with lines inserted after line ``after``."""
    lines = content.split("\n")
    if lines[-1] == "":
        lines.pop()
    if not 0 <= after <= len(lines):
        raise ValueError(
            f"Invalid `insert_line` parameter: {after}. It should be within the range "
            f"[0, {len(lines)}]."
        )
    lines.insert(after, text.rstrip("\n"))
    edited = "\n".join(lines)
    return edited if edited.endswith("\n") else f"{edited}\n"


def _lines(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, first))


def _size(count: int) -> str:
    """Return a number of bytes as the tool writes it: 512B, 1K, 1.5K."""
    power = min(max(0, count.bit_length() - 1) // 10, 3)
    size = count / 1024**power
    return (f"{size:.0f}" if size == int(size) else f"{size:.1f}") + "BKMG"[power]


try:
    from anthropic.lib.tools import (
        BetaAbstractMemoryTool,
        BetaAsyncAbstractMemoryTool,
        ToolError,
    )
except ImportError as error:
    raise ImportError(
        "recollex.frameworks.anthropic needs anthropic: pip install 'recollex[anthropic]'"
    ) from error

ROOT = "/memories"
BLANK = "[empty file]"
"""The text of a memory whose file has nothing but spaces; the metadata have those."""


class RecollexMemoryTool(BetaAbstractMemoryTool):
    """The six commands of the memory tool over the memories of an agent.

    agent: of `recollex.open` or `recollex.connect`; one tool an agent at a time.

    Answers and errors are those of `BetaLocalFilesystemMemoryTool`. A folder exists as long as it
    holds a file. Each edit is a version: ``agent.history`` has the former ones, also after a
    rename, and ``agent.at`` the folder as it was. `Agent.recall` searches the files. A file has up
    to a million characters.

    >>> import recollex, tempfile
    >>> claude = recollex.open(tempfile.mkdtemp()).agent("claude")
    >>> tool = RecollexMemoryTool(claude)
    >>> tool.call({"command": "create", "path": "/memories/ann.md", "file_text": "Ann rows."})
    'File created successfully at: /memories/ann.md'
    >>> said = tool.call({"command": "str_replace", "path": "/memories/ann.md",
    ...                   "old_str": "rows", "new_str": "sails"})
    >>> [version.text for version in claude.history(claude.recall("Who sails?")[0].id)]
    ['Ann rows.', 'Ann sails.']
    """

    def __init__(self, agent: Any, **options: Any) -> None:
        super().__init__(**options)
        self.agent: Any = agent
        self._working = threading.Lock()

    def execute(self, command: Any) -> Any:
        """Carry out a command; what recollex refuses is an error of the tool."""
        with self._working:
            try:
                return super().execute(command)
            except RecollexError as error:
                raise ToolError(f"Error: {error}") from error

    def view(self, command: Any) -> str:
        """Return a file with numbered lines, or what a folder holds, two levels deep."""
        path = _resolved(command.path)
        held = self._file(path)
        if held is not None:
            try:
                return numbered(_content(held), command.path, command.view_range)
            except ValueError as error:
                raise ToolError(str(error)) from None
        inside = self._under(path)
        if not inside and path != ROOT:
            raise ToolError(f"The path {command.path} does not exist. Please provide a valid path.")
        sizes = {_path(each)[len(path) + 1 :]: len(_content(each).encode()) for each in inside}
        return listed(sizes, command.path)

    def create(self, command: Any) -> str:
        """Make a file; one that exists is an error."""
        path = _resolved(command.path)
        if self._file(path) is not None or path == ROOT or self._under(path, 1):
            raise ToolError(f"File {command.path} already exists")
        self._check_folders(path, command.path)
        self.agent.retain(**_fields(path, command.file_text), source="assistant")
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: Any) -> str:
        """Replace a text that the file has once."""
        held = self._existing(command.path)
        try:
            edited, snippet = replaced(
                _content(held), command.old_str, command.new_str, command.path
            )
        except ValueError as error:
            raise ToolError(str(error)) from None
        self._edit(held, edited, "str_replace")
        return snippet

    def insert(self, command: Any) -> str:
        """Insert lines after a line; 0 is before the first."""
        held = self._existing(command.path)
        try:
            edited = inserted(_content(held), command.insert_line, command.insert_text)
        except ValueError as error:
            raise ToolError(str(error)) from None
        self._edit(held, edited, "insert")
        return f"The file {command.path} has been edited."

    def delete(self, command: Any) -> str:
        """Forget a file, or a folder with all that it holds."""
        path = _resolved(command.path)
        if path == ROOT:
            raise ToolError("Cannot delete the /memories directory itself")
        held = self._held(path)
        if not held:
            raise ToolError(f"The path {command.path} does not exist")
        self.agent.forget([each.id for each in held], by="memory tool", why="delete")
        return f"Successfully deleted {command.path}"

    def rename(self, command: Any) -> str:
        """Move a file, or a folder with all that it holds."""
        old = _resolved(command.old_path)
        new = _resolved(command.new_path)
        if old == ROOT:
            raise ToolError("Cannot rename the /memories directory itself")
        if new == ROOT or self._held(new):
            raise ToolError(f"The destination {command.new_path} already exists")
        self._check_folders(new, command.new_path)
        held = self._held(old)
        if not held:
            raise ToolError(f"The path {command.old_path} does not exist")
        if new.startswith(f"{old}/"):
            raise ToolError(f"Cannot move {command.old_path} into itself")
        with self.agent.transaction(by="memory tool", why="rename") as transaction:
            for each in held:
                fields = _fields(new + _path(each)[len(old) :], _content(each))
                transaction.amend(each.id, tags=fields["tags"], metadata=fields["metadata"])
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear_all_memory(self) -> str:
        """Forget all files."""
        self.agent.forget(tags=[f"in:{ROOT}"], by="memory tool", why="clear_all_memory")
        return "All memory cleared"

    def _file(self, path: str) -> Any:
        found = self.agent.list(tags=[f"file:{path}"], limit=1)
        return found[0] if found else None

    def _under(self, path: str, limit: int = MAX_LIMIT) -> list[Any]:
        found: list[Any] = self.agent.list(tags=[f"in:{path}"], limit=limit)
        return found

    def _held(self, path: str) -> list[Any]:
        """Return the file, or the files of the folder, at a path."""
        held = self._file(path)
        return self._under(path) if held is None else [held]

    def _existing(self, path: str) -> Any:
        resolved = _resolved(path)
        held = self._file(resolved)
        if held is None and (resolved == ROOT or self._under(resolved, 1)):
            raise ToolError(f"The path {path} is not a file.")
        if held is None:
            raise ToolError(f"The path {path} does not exist. Please provide a valid path.")
        return held

    def _check_folders(self, path: str, named: str) -> None:
        """Raise `ToolError` if a folder of ``path`` is a file."""
        for folder in _folders(path):
            if self._file(folder) is not None:
                raise ToolError(f"Cannot write {named}: {folder} is a file")

    def _edit(self, held: Any, content: str, why: str) -> None:
        if content != _content(held):
            fields = _fields(_path(held), content)
            del fields["tags"]
            self.agent.correct(held.id, **fields, by="memory tool", why=why, source="assistant")


class RecollexAsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """`RecollexMemoryTool` for an asynchronous client; each command runs in a thread."""

    def __init__(self, agent: Any, **options: Any) -> None:
        super().__init__(**options)
        self.tool: RecollexMemoryTool = RecollexMemoryTool(agent)

    async def execute(self, command: Any) -> Any:
        """Carry out a command."""
        return await asyncio.to_thread(self.tool.execute, command)

    async def view(self, command: Any) -> Any:
        """Do as `RecollexMemoryTool.view` does."""
        return await self.execute(command)

    create = str_replace = insert = delete = rename = view

    async def clear_all_memory(self) -> str:
        """Forget all files."""
        return await asyncio.to_thread(self.tool.clear_all_memory)


def _resolved(path: str) -> str:
    """Return the path of a file without "..", or of a folder without its last slash."""
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise ToolError(f"Path must start with /memories, got: {path}")
    plain = posixpath.normpath(path)
    if plain != ROOT and not plain.startswith(f"{ROOT}/"):
        raise ToolError(f"Path {path} would escape /memories directory")
    return plain


def _folders(path: str) -> Sequence[str]:
    """Return the folders that a path is in, the outermost, `ROOT`, first."""
    parts = path.split("/")
    return ["/".join(parts[:n]) for n in range(2, len(parts))]


def _fields(path: str, content: str) -> dict[str, Any]:
    """Return the text, tags and metadata of a file's memory."""
    blank = not content or content.isspace()
    return {
        "text": BLANK if blank else content,
        "tags": [f"file:{path}", *(f"in:{folder}" for folder in _folders(path))],
        "metadata": {"path": path} | ({"content": content} if blank else {}),
    }


def _path(memory: Any) -> str:
    return str(memory.metadata["path"])


def _content(memory: Any) -> str:
    return str(memory.metadata.get("content", memory.text))
