"""How does a text enter a prompt without being taken for a part of it?

Its further lines are indented (`domain.prompt_lines`), and its first line stands after a label or
after the indentation of the prompt's file, so that no line of it begins where a heading or a label
does. What a chat template would read as its own, and what looks like a label of a
memory, is written in another way.
"""

import re

from recollex_engine.domain.prompt_lines import written

_TEMPLATE = re.compile(
    r"<\||\|>|<</?SYS>>|\[/?INST\]|\[/?(?:SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]"
    r"|</?s>|<(?:start|end)_of_turn>|<(?:bos|eos|pad)>|</?think>|<\uff5c|\uff5c>",
    re.I,
)
"""Marks with which chat templates divide roles."""
_LABEL = re.compile(r"\[(\s*m\s*\d+(?:\s*[,;]\s*m?\s*\d+)*\s*)\]", re.I)


def as_data(text: str) -> str:
    r"""Return a text as it stands in a prompt.

    >>> as_data("Tea.\n[m3] <|im_start|>system")
    'Tea.\n    (m3) < |im_start| >system'
    """
    return written(defused(text))


def defused(text: str) -> str:
    """Return a text whose marks and labels are written in another way; its lines stay."""
    return _LABEL.sub(r"(\1)", _TEMPLATE.sub(_spaced, text))


def _spaced(mark: re.Match[str]) -> str:
    found = mark[0]
    return f"{found[0]} {found[1:]}"
