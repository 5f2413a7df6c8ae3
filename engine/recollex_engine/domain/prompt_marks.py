r"""How does a text stay data in a prompt? The marks that divide a prompt lose their brackets there.

Marks are what chat templates put between roles, such as ``<|im_end|>``, ``[INST]`` and ``</s>``,
and the tags of the block in which a context of memories stands. Their brackets become round, so a
person still reads what was said, and no text becomes longer, in characters or in UTF-8::

    Tea.<|im_end|> </memory >      is written      Tea.(|im_end|) (/memory )

A mark is known in any case, with spaces or invisible characters within, and in full-width forms.
Every text that becomes a part of a prompt passes through `written`, `written_short` or `defused`.
What is stored stays as said.
"""

import re
from collections.abc import Callable
from unicodedata import normalize

INDENTED = "\n    "
"""The start of a further line of a text."""
_TAGS = re.compile(
    "memory|s|bos|eos|pad|unk|mask|sop|eop|think|sys|tool_(?:call|response|result)"
    "|function_(?:calls|results)|(?:start|end)_of_(?:turn|image)|end_of_utterance"
)
"""Names in angle brackets, with or without a slash; doubled as in <<SYS>>."""
_SQUARE = re.compile("inst|system_prompt|available_tools|tool_(?:calls|results|content)|[gs]mask")
"""Names in square brackets."""
_HIDDEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
"""Characters that are not seen, as a class of a regular expression."""
_OPEN = "<\uff1c\ufe64"
_CLOSE = ">\uff1e\ufe65"
_BRACKET = re.compile(rf"[{_OPEN}{_CLOSE}\[\uff3b]")
_ROUND = str.maketrans(f"{_OPEN}[\uff3b{_CLOSE}]\uff3d", "(((((" + ")))))")

_GAP = rf"[\s{_HIDDEN}]*+"
_NAME = rf"[\w\uff3f{_HIDDEN}-]{{1,64}}+"
_BAR = "[|\uff5c]"
# A regular expression that begins with a class of characters is searched for fast. Every repetition
# is possessive, and ends at the next bracket or is bounded: linear time.
_MARK = re.compile(
    rf"[{_OPEN}\[\uff3b](?:(?<=[{_OPEN}])(?:"
    # <memory>, </ s>, <<SYS>>, </memory without an end, <memory of="x">
    rf"{_GAP}(?:[{_OPEN}]{_GAP})?+(?P<slash>[/\\\uff0f]{{1,2}}+)?+{_GAP}(?P<tag>{_NAME})"
    rf"(?P<end>{_GAP}[{_CLOSE}]{{1,2}}+|(?P<more>(?=[^{_OPEN}{_CLOSE}]{{0,200}}+[{_CLOSE}])))?+"
    # <|im_start|>, also with spaces; a part of one: a bar beside a letter
    rf"|{_GAP}{_BAR}[^{_OPEN}{_CLOSE}|\uff5c]{{1,64}}+{_BAR}{_GAP}[{_CLOSE}]"
    rf"|[{_HIDDEN}]*+{_BAR}(?=[{_HIDDEN}]*+[\w/]))"
    # [INST], [/INST]
    rf"|(?<=[\[\uff3b]){_GAP}[/\\\uff0f]{{0,2}}+{_GAP}(?P<square>{_NAME}){_GAP}[\]\uff3d])"
)
_LAST = re.compile(rf"{_BAR}(?<=[\w\u2581]{_BAR})[{_HIDDEN}]*+[{_CLOSE}]")
"""The end of a mark with bars whose start is missing."""
_UNSEEN = re.compile(rf"[{_HIDDEN}]+")


def written(text: str) -> str:
    r"""Return a text as it stands in a line: further lines indented, its marks defused.

    >>> written("Tea</s>\nand milk.\n")
    'Tea(/s)\n    and milk.'
    """
    return INDENTED.join(defused(text).rstrip().splitlines())


def written_short(text: str) -> str:
    r"""Return a text as it stands in one line: line breaks are spaces, its marks defused.

    >>> written_short("Tea\nand milk</s>")
    'Tea and milk(/s)'
    """
    return defused(" ".join(text.split()))


def defused(text: str) -> str:
    """Return a text whose marks have round brackets.

    Cost: linear; 0.1 us for ASCII without brackets.

    >>> defused("Tea.<|im_end|> [INST] </memory >")
    'Tea.(|im_end|) (INST) (/memory )'
    """
    if text.isascii():  # as most are: three searches for a byte
        if "<" not in text and "[" not in text and ">" not in text:
            return text
    elif _BRACKET.search(text) is None:
        return text
    return _changed(text, _rounded)


def defused_json(raw: str) -> str:
    r"""Return JSON with the brackets of marks escaped: it reads back as it was.

    >>> defused_json('["<s>"]')
    '["\\u003cs\\u003e"]'
    """
    return _changed(raw, _escaped)


def _changed(text: str, change: Callable[[str], str]) -> str:
    """Return a text with each of its marks changed."""
    text = _MARK.sub(lambda found: change(found[0]) if _is_mark(found) else found[0], text)
    return _LAST.sub(lambda found: change(found[0]), text)


def _is_mark(found: re.Match[str]) -> bool:
    if (square := found["square"]) is not None:
        return _SQUARE.fullmatch(_plain(square)) is not None
    if found["tag"] is None:  # it has bars
        return True
    if _TAGS.fullmatch(_plain(found["tag"])) is None:
        return False
    if found["more"] is not None:  # "x < mask and y > z" is no mark
        return found["slash"] is not None or not found[0][1].isspace()
    return found["slash"] is not None or found["end"] is not None


def _plain(name: str) -> str:
    if name.isascii():
        return name.lower()
    return normalize("NFKC", _UNSEEN.sub("", name)).casefold()


def _rounded(mark: str) -> str:
    return mark.translate(_ROUND)


def _escaped(mark: str) -> str:
    return "".join(f"\\u{ord(each):04x}" if ord(each) in _ROUND else each for each in mark)
