"""How is an agent deleted? Its folder gets a name that no agent can have, and is removed then.

::

    .deleted-<number>/   in the store's folder: an agent that is deleted, and not wholly removed

A crash leaves the whole agent, or such a folder, which the next opening of the store for writing
removes, with what killed copies left (`storage.unfinished`).
"""

import contextlib
import os
import secrets
import warnings
from pathlib import Path

from recollex_engine.errors import StoreFullError
from recollex_engine.storage.commit_word import DELETED, CommitWord
from recollex_engine.storage.disk import flush_folder, store_full
from recollex_engine.storage.unfinished import remove_unfinished
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
