"""Stores that a bench needs, made once and opened again by the next run.

They are in a folder that the caller names (by default beside the model's cache), one for each
corpus and size: ``made-up-100000``, ``irc-10000``. A store of another format version is made again.
"""

import argparse
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import recollex
from bench.lib import made_up
from bench.lib.rundata import cache_folder
from recollex import errors

AGENT = "bench"


def home() -> Path:
    """Return the folder where benches keep stores and indexes that take long to make."""
    return cache_folder() / "bench"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--stores", type=Path, default=home(), help="folder of stores that runs share"
    )


@contextmanager
def kept(
    folder: Path,
    name: str,
    embedder: Any,
    fill: Callable[[recollex.Agent], None],
) -> Iterator[recollex.Agent]:
    """Yield the agent of the store ``folder/name``, with complete indexes; fill it if it is new.

    A graph of a million memories takes minutes. After an interruption its build continues.
    """
    path = folder / name
    if not _usable(path, embedder):
        making = folder / f".{name}-{os.getpid()}"
        started = time.perf_counter()
        with recollex.open(making, embedder=embedder, durability="off") as store:
            fill(store.agent(AGENT))
        shutil.rmtree(path, ignore_errors=True)
        making.rename(path)
        print(f"made {path} in {time.perf_counter() - started:.0f} s", flush=True)
    with recollex.open(path, embedder=embedder, durability="off") as store:
        agent = store.agent(AGENT)
        agent.checkpoint()
        yield agent


def _usable(path: Path, embedder: Any) -> bool:
    if not path.exists():
        return False
    try:
        with recollex.open(path, embedder=embedder) as store:
            return store.agent(AGENT).stats().memories > 0
    except (errors.FormatError, errors.CorruptError):
        return False


@contextmanager
def made_up_store(folder: Path, rows: int) -> Iterator[recollex.Agent]:
    """Yield an agent that holds ``rows`` memories of `made_up`, without semantic links."""

    def fill(agent: recollex.Agent) -> None:
        for batch in made_up.batches(rows):
            agent.retain_many(**batch.fields())

    embedder = recollex.GivenVectors(made_up.DIMENSION, links=False)
    with kept(folder, f"made-up-{rows}", embedder, fill) as agent:
        yield agent


def ids(agent: recollex.Agent) -> list[str]:
    """Return the ids of an agent's memories in the order in which they were recorded."""
    found: list[str] = []
    while page := agent.list(after=found[-1] if found else None, limit=100_000):
        found += [memory.id for memory in page]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", nargs="+", type=int, required=True)
    add_arguments(parser)
    arguments = parser.parse_args()
    for rows in arguments.rows:
        with made_up_store(arguments.stores, rows) as agent:
            print(agent.stats())


if __name__ == "__main__":
    main()
