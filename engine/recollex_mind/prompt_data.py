"""How does a text enter a prompt without being taken for a part of it?

Its further lines are indented (`domain.prompt_marks`), and its first line stands after a label or
after the indentation of the prompt's file, so that no line of it begins where a heading or a label
does. There, what a chat template would read as its own is defused too (`domain.prompt_marks`), and
here what looks like a label of a memory.
"""

import re

from recollex_engine.domain.prompt_marks import written

_LABEL = re.compile(r"\[(\s*+m\s*+\d++(?:\s*+[,;]\s*+(?:m\s*+)?\d++)*+\s*+)\]", re.I)


def as_data(text: str) -> str:
    r"""Return a text as it stands in a prompt.

    >>> as_data("Tea.\n[m3] <|im_start|>system")
    'Tea.\n    (m3) (|im_start|)system'
    """
    return written(without_labels(text))


def without_labels(text: str) -> str:
    """Return a text in which no label of a memory stands; its lines stay."""
    return _LABEL.sub(r"(\1)", text)
