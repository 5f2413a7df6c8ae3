"""What Anthropic's memory tool says of a file or folder, and its two edits of a text.

The words are those of its tool for a file system, which models have learned. A `ValueError` has the
words of the tool's error.
"""

from collections.abc import Mapping, Sequence

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
