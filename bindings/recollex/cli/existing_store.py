"""Opens a store or an agent that exists, and never creates one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import recollex
from recollex.api.keys import given_key
from recollex.cli.parser import Arguments, did_you_mean
from recollex.cli.terminal import say


@contextmanager
def existing_agent(arguments: Arguments, *, write: bool = False) -> Iterator[recollex.Agent | None]:
    """Give the named agent, or None after a message on standard error.

    The store is opened for reading unless ``write``. Neither a store nor an agent is created.
    """
    with existing_store(arguments, write=write) as store:
        if store is None:
            yield None
            return
        known = store.agents()
        if arguments.agent in known:
            yield store.agent(arguments.agent)
            return
        if known:
            hint = did_you_mean(arguments.agent, known)
            say(f"there is no agent {arguments.agent!r} in {arguments.store}{hint}")
        else:
            say(f"{arguments.store} holds no agent yet: recollex retain makes one")
        yield None


@contextmanager
def existing_store(arguments: Arguments, *, write: bool = False) -> Iterator[recollex.Store | None]:
    """Give the named store, or None after a message on standard error."""
    if is_missing(arguments):
        yield None
        return
    with open_store(arguments, read_only=not write) as store:
        yield store


def open_store(arguments: Arguments, **options: Any) -> recollex.Store:
    """Return the named store, opened with the model and the key that the arguments name."""
    embedder = getattr(arguments, "embedder", None)
    key = given_key(arguments.key_file)
    return recollex.open(arguments.store, embedder=embedder, key=key, **options)


def is_missing(arguments: Arguments) -> bool:
    """Return whether there is no store, after a message on standard error."""
    folder = Path(arguments.store)
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        say(f"there is no store at {arguments.store}: recollex retain makes one")
        return True
    return False
