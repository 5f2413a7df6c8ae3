"""Which folder does an agent have? Its name as a file name, which no other agent has on any disk.

::

    agents/<name>/     a-z 0-9 _ . - as they are, all else percent-encoded: "Al" is %41l

Capitals are encoded because some disks (macOS, Windows shares) take "Alice" and "alice" for one
name.
"""

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

    Raises `InputError` for a name that cannot be a folder.

    >>> agent_folder(Path("memory"), "Alice B").name
    '%41lice%20%42'
    """
    check_text(name, "agent_id", MAX_AGENT)
    quoted = quote(name, safe="")
    if quoted.startswith("."):
        quoted = "%2E" + quoted[1:]
    safe = _CAPITAL_OR_ESCAPE.sub(_encoded, quoted)
    if len(safe) > 255:
        raise InputError(f"agent_id takes {len(safe)} bytes as a folder's name, at most 255")
    return path / AGENTS / safe


def _encoded(found: re.Match[str]) -> str:
    text = found[0]
    return text if text.startswith("%") else f"%{ord(text):02X}"


def agents_in(path: Path) -> list[str]:
    """Return the names of the agents that hold something in the store at ``path``, sorted."""
    folder = path / AGENTS
    if not folder.is_dir():
        return []
    return sorted(unquote(each.name) for each in folder.iterdir() if (each / "log").is_dir())
