"""Which folder does an agent have? Its name as a file name, which no other agent has on any disk.

::

    agents/<name>/     a-z 0-9 _ . - as they are, all else percent-encoded: "Al" is %41l

Capitals are encoded because some disks (macOS, Windows shares) take "Alice" and "alice" for one
name.

How is an agent deleted? Its folder gets a name that no agent can have, and is removed then.

::

    .deleted-<number>/   in the store's folder: an agent that is deleted, and not wholly removed

A crash leaves the whole agent, or such a folder, which the next opening of the store for writing
removes, with what killed copies left (`storage.unfinished`).
"""

import contextlib
import os
import re
import secrets
import warnings
from pathlib import Path
from unicodedata import normalize
from urllib.parse import quote, unquote

from recollex_engine.domain.checks import check_text
from recollex_engine.errors import InputError, StoreFullError
from recollex_engine.storage.commit_word import DELETED, CommitWord
from recollex_engine.storage.disk import flush_folder, store_full
from recollex_engine.storage.unfinished import remove_unfinished
from recollex_engine.text.normal_form import normal_form
from recollex_engine.writing.reembedding import alone_in

LEFT_OVER = ".deleted-"


def delete_folder(store: Path, folder: Path) -> None:
    """Delete the agent in ``folder`` of the store at ``store``; no object has it open.

    Readers of other processes see that it was deleted. Raises `LockedError` while another process
    writes it, or moves it to another model, and `StoreFullError`: then it is as it was. Warns if it
    is deleted, but files of it could not be removed.
    """
    target = store / f"{LEFT_OVER}{secrets.token_hex(8)}"
    writes = "close that writer, then delete the agent"
    moves = "it is moved to another model: wait for it, then delete the agent"
    with alone_in(folder / "LOCK", writes), alone_in(folder / "REEMBED", moves):
        try:
            folder.rename(target)
            try:
                flush_folder(folder.parent)
                flush_folder(store)
            except OSError:
                target.rename(folder)
                raise
        except OSError as error:
            raise store_full(error, folder, "delete the agent") from error
        if (target / "COMMIT").exists():
            with (
                CommitWord(target / "COMMIT", writable=True) as word,
                contextlib.suppress(StoreFullError),  # the agent goes; readers miss its files
            ):
                word.op = DELETED
    remove_unfinished(store)
    try:
        remove_tree(target)
    except OSError as error:
        warnings.warn(
            f"the agent of {folder} is deleted, but files in {target} could not be removed "
            f"({error}): the next opening of the store for writing removes them",
            RuntimeWarning,
            stacklevel=3,
        )


def left_over(store: Path) -> list[Path]:
    """Return the folders of agents that were deleted and not wholly removed."""
    return sorted(store.glob(f"{LEFT_OVER}*"))


def remove_left_over(store: Path) -> None:
    """Remove them, and what killed copies left, as far as the disk permits.

    Openings for writing do so, and erasures: all of these may hold what is erased.
    """
    remove_unfinished(store)
    for folder in left_over(store):
        with contextlib.suppress(OSError):
            remove_tree(folder)


def remove_tree(folder: Path) -> None:
    """Remove a folder and all in it; another process may do so at once. Raises `OSError`."""
    for place, folders, names in os.walk(folder, topdown=False):
        for name in names:
            Path(place, name).unlink(missing_ok=True)
        for name in folders:
            _remove_folder(Path(place, name))
    _remove_folder(folder)


def _remove_folder(folder: Path) -> None:
    if folder.is_symlink():
        folder.unlink(missing_ok=True)
        return
    with contextlib.suppress(FileNotFoundError):
        folder.rmdir()


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


def kept_name(path: Path, name: str) -> str:
    """Return ``name`` as the store at ``path`` spells it: one agent in each spelling of Unicode.

    That is the spelling of an agent that holds something, the given one before others, or else
    NFC: stores may hold agents of other spellings, from before names were composed.

    >>> len(kept_name(Path("memory"), "Jose\u0301"))
    4
    """
    if not isinstance(name, str) or name.isascii() or len(name) > 4 * MAX_AGENT:
        return name  # `agent_folder` refuses what is no name
    composed = normal_form(name)
    for each in (name, composed, normalize("NFD", name)):
        with contextlib.suppress(InputError):
            if (agent_folder(path, each) / "log").is_dir():
                return each
    return composed


def _encoded(found: re.Match[str]) -> str:
    text = found[0]
    return text if text.startswith("%") else f"%{ord(text):02X}"


def agents_in(path: Path) -> list[str]:
    """Return the names of the agents that hold something in the store at ``path``, sorted."""
    folder = path / AGENTS
    if not folder.is_dir():
        return []
    return sorted(unquote(each.name) for each in folder.iterdir() if (each / "log").is_dir())
