"""Which folder does an agent have? Its name as a file name, which no other agent has on any disk.

::

    agents/<name>/     a-z 0-9 _ . - as they are, all else percent-encoded: "Al" is %41l

Capitals are encoded because some disks (macOS, Windows shares) take "Alice" and "alice" for one
name. Earlier versions left capitals as they are; such a folder keeps its name.
"""

import contextlib
import os
import re
from pathlib import Path
from urllib.parse import quote, unquote

from recollex_engine.domain.checks import check_text
from recollex_engine.errors import InputError

AGENTS = "agents"
"""The folder of a store that holds the agents' folders."""
MAX_AGENT = 80
"""Maximum number of characters of an agent's name."""
_CAPITAL_OR_ESCAPE = re.compile("%..|[A-Z]")


def agent_folder(path: Path, name: str) -> Path:
    """Return the folder of agent ``name`` in the store at ``path``, made or not.

    Raises `InputError` for a name that cannot be a folder, or that only differs in capitals from
    the folder of an earlier version, on a disk that takes both for one. Cost: 2 us; where a folder
    of an earlier version has capitals, that of listing the folders.

    >>> agent_folder(Path("memory"), "Alice B").name
    '%41lice%20%42'
    """
    check_text(name, "agent_id", MAX_AGENT)
    former = quote(name, safe="")
    if former.startswith("."):
        former = "%2E" + former[1:]
    safe = _CAPITAL_OR_ESCAPE.sub(_encoded, former)
    if len(safe) > 255:
        raise InputError(f"agent_id takes {len(safe)} bytes as a folder's name, at most 255")
    folder, earlier = path / AGENTS / safe, path / AGENTS / former
    if safe != former:
        is_earlier = not folder.exists() and earlier.exists() and not _is_of_another(earlier)
        return earlier if is_earlier else folder
    if _is_of_another(folder):
        raise InputError(
            f"agent_id {name!r} differs only in capitals from an agent in {path / AGENTS}, and "
            "this disk takes the names of their folders for one: choose another name"
        )
    return folder


def _encoded(found: re.Match[str]) -> str:
    text = found[0]
    return text if text.startswith("%") else f"%{ord(text):02X}"


def _is_of_another(folder: Path) -> bool:
    """Return whether ``folder`` exists under a name with other capitals alone."""
    other = folder.with_name(folder.name.swapcase())
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        if other != folder and other.samefile(folder):  # a disk that does not tell capitals apart
            return folder.name not in os.listdir(folder.parent)  # noqa: PTH208 - names alone
    return False


def agents_in(path: Path) -> list[str]:
    """Return the names of the agents that hold something in the store at ``path``, sorted."""
    folder = path / AGENTS
    if not folder.is_dir():
        return []
    return sorted(unquote(each.name) for each in folder.iterdir() if (each / "log").is_dir())
