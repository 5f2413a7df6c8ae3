"""Opens a store or an agent that exists, and never creates one."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import recollex
from recollex.cli.parser import Arguments, did_you_mean
from recollex.cli.terminal import printable, say
from recollex_engine.errors import InputError


@contextmanager
def existing_agent(
    arguments: Arguments, *, write: bool = False, **options: Any
) -> "Iterator[recollex.Agent | None]":
    """Give the named agent, or None after a message on standard error.

    The store is opened for reading unless ``write``, with the ``options`` of `recollex.open`.
    Neither a store nor an agent is created.
    """
    with existing_store(arguments, write=write, **options) as store:
        if store is None:
            yield None
            return
        known = store.agents()
        is_known = not is_unknown(arguments.agent, known, arguments)
        yield store.agent(arguments.agent) if is_known else None


@contextmanager
def existing_store(
    arguments: Arguments, *, write: bool = False, **options: Any
) -> "Iterator[recollex.Store | None]":
    """Give the named store, or None after a message on standard error."""
    if is_missing(arguments):
        yield None
        return
    with open_store(arguments, read_only=not write, **options) as store:
        yield store


def open_store(
    arguments: Arguments, dimension: int | None = None, **options: Any
) -> "recollex.Store":
    """Return the named store, opened with the model, key and language that the arguments name.

    dimension: of the vectors that are given, for an agent that has recorded nothing.
    """
    from recollex.cli.recorded_model import embedder_for

    check_folder(arguments.store)
    key = key_of(arguments)
    if (language := getattr(arguments, "language", None)) is not None:
        options["language"] = language
    embedder = embedder_for(arguments, key, dimension)
    return recollex.open(arguments.store, embedder=embedder, key=key, **options)


def key_of(arguments: Arguments) -> bytes | None:
    """Return the key that ``--key-file`` or the environment gives; None without both."""
    from recollex.api.keys import given_key

    return given_key(arguments.key_file)


def check_folder(store: str) -> None:
    """Raise `InputError` for a file, and for a folder that holds other files and no store."""
    folder = Path(store)
    if folder.is_file():
        raise InputError(f"{folder} is a file: a store is a folder")
    if folder.is_dir() and not _is_empty(folder) and not (folder / "store.json").exists():
        raise InputError(
            f"{folder} holds other files and no store: give a folder that is not there yet, such "
            f"as {folder / 'memory'}"
        )


def _is_empty(folder: Path) -> bool:
    """Return whether a folder holds nothing but the socket that a killed server leaves there."""
    return all(each.is_socket() for each in folder.iterdir())


def agent_to_write(
    store: "recollex.Store", arguments: Arguments, name: str | None = None
) -> "recollex.Agent":
    """Return the agent that the arguments name, or another of the store.

    Raises `InputError` if it is there already and has another language than the given one.
    """
    agent = store.agent(name or arguments.agent)
    has = agent.stats().language if arguments.language is not None else None
    if has not in (None, arguments.language):
        raise InputError(
            f"agent {agent.name!r} has the language {has!r}, got --language {arguments.language}: "
            "an agent's language is chosen when it is made"
        )
    return agent


def is_missing(arguments: Arguments) -> bool:
    """Return whether there is no store, after a message on standard error."""
    folder = Path(arguments.store)
    if not folder.exists() or (folder.is_dir() and _is_empty(folder)):
        say(f"there is no store at {arguments.store}: recollex retain makes one")
        return True
    return False


def is_unknown(name: str, known: list[str], arguments: Arguments) -> bool:
    """Return whether the store's ``known`` agents lack one, after a message on standard error."""
    if name in known:
        return False
    if known:
        hint = did_you_mean(name, [printable(each) for each in known])
        say(f"there is no agent {printable(name)!r} in {arguments.store}{hint}")
    else:
        say(f"{arguments.store} holds no agent yet: recollex retain makes one")
    return True


def language_model(arguments: Arguments) -> Any:
    """Return the language model that the arguments or the environment name; None if none."""
    if arguments.llm is None and not os.environ.get("RECOLLEX_LLM_MODEL"):
        return None
    return recollex.llm(arguments.llm, base_url=arguments.llm_url)
