"""The prompts that are sent to language models: files of this folder, each version for ever.

A file is named by the prompt and its version, ``think-1.txt``. A line in brackets begins a message
of that role; ``${name}`` is replaced by a value, and every name must be given::

    [system]
    You answer for ${who}.
    [user]
    ${question}

A value is never read as a part of the file: a role or a name in it stays text. A version that has
been used is not edited, because logs name it; a change is a new file.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template

from recollex_engine.errors import InputError

_ROLE = re.compile(r"^\[(system|user|assistant)\]\n", re.M)
_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Prompt:
    """One version of a prompt. name: such as "think-1". parts: the role and text of each message.

    >>> Prompt("hello-1", (("user", "Say hello to ${who}."),)).render(who="Ann")
    ({'role': 'user', 'content': 'Say hello to Ann.'},)
    """

    name: str
    parts: tuple[tuple[str, str], ...]

    @property
    def names(self) -> frozenset[str]:
        """The names of the values that it takes."""
        return frozenset(
            name for _, text in self.parts for name in Template(text).get_identifiers()
        )

    def render(self, **values: str) -> tuple[Mapping[str, str], ...]:
        """Return the messages. Raises `InputError` unless exactly the values it takes are given."""
        if values.keys() != self.names:
            raise InputError(
                f"the prompt {self.name} takes {', '.join(sorted(self.names)) or 'no values'}, "
                f"got {', '.join(sorted(values)) or 'none'}"
            )
        return tuple(
            {"role": role, "content": Template(text).substitute(values)}
            for role, text in self.parts
        )


@cache
def find_prompt(name: str) -> Prompt:
    """Return the prompt of a file, such as "think-1". Raises `InputError` if there is none."""
    try:
        written = (_FOLDER / f"{name}.txt").read_text("utf-8")
    except OSError as error:
        raise InputError(f"there is no prompt {name!r}") from error
    _, *parts = _ROLE.split(written)
    roles = parts[::2]
    texts = parts[1::2]
    return Prompt(name, tuple(zip(roles, (text.rstrip("\n") for text in texts), strict=True)))
