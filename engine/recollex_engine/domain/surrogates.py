"""What becomes of half a surrogate pair, which no UTF-8 can hold?

A text that a tool, a model or a program has cut may end within an emoji, and Python, JSON and
JavaScript carry the half on. What others said is mended: the turns of a talk, the messages of a
conversation and of a framework, the lines of a file. Halves that belong together are joined, and
one that is alone becomes "?". What a program writes by itself is refused instead, with its name
(`checks.check_text`): a single text, an id, a tag, a filter, a question.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


def mended(value: T) -> T:
    r"""Return a text, or JSON values with texts, without halves of pairs; the same object if whole.

    Values that are nested too deeply stay as they are: their check refuses them. Cost: 0.1 us a
    text.

    >>> mended({"said": "half \ud83d", "both": "\ud83d\udccb" + "!"})
    {'said': 'half ?', 'both': '📋!'}
    """
    try:
        found: T = _mended(value)
    except RecursionError:
        return value
    return found


def mended_turns(turns: Sequence[Any], document: object) -> list[Any]:
    """Return the turns of a talk without halves of pairs; ids stay. The log says how many had one.

    document: the talk's name.
    """
    found = []
    broken = []
    for place, turn in enumerate(turns):
        new = mended(turn)
        if new is not turn and isinstance(new, dict):
            broken.append(place)
            if "id" in turn:
                new["id"] = turn["id"]
        found.append(new)
    if broken:
        logging.getLogger("recollex").warning(
            "%d of %d turns of %r had half of a surrogate pair, and have '?' now: the first is "
            "turns[%d]",
            len(broken),
            len(turns),
            document,
            broken[0],
        )
    return found


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else _mended_text(value)
    if isinstance(value, Mapping):
        items = [(_mended(name), _mended(each)) for name, each in value.items()]
        same = all(
            new[0] is old[0] and new[1] is old[1]
            for new, old in zip(items, value.items(), strict=True)
        )
        return value if same else dict(items)
    if isinstance(value, list | tuple):
        parts = [_mended(each) for each in value]
        same = all(new is old for new, old in zip(parts, value, strict=True))
        return value if same else parts
    return value


def _mended_text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return joined.encode("utf-8", "replace").decode()
    return text
