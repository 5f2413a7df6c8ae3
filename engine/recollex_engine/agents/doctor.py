"""What is wrong with a store, what of it can be mended, and what cannot?

The log and the vectors are the truth. What follows from them is built again: columns, indexes,
COMMIT, a torn tail, an erasure that was begun, the vectors of a model. A damaged log is not
changed. What it says before the damage can be copied to another store.
"""

import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from recollex_engine.agents.agent import Agent
from recollex_engine.agents.folder_names import agent_folder, agents_in, left_over, remove_tree
from recollex_engine.agents.snapshot import copy_log, replay
from recollex_engine.agents.store import Store, create_store, write_store_file
from recollex_engine.agents.verification import verify
from recollex_engine.clock import DRIFT, from_micros, system_clock
from recollex_engine.domain.settings import Settings, settings_of
from recollex_engine.errors import CorruptError, EncryptionError, InputError, RecollexError
from recollex_engine.log.files import plain_path
from recollex_engine.log.format import Position
from recollex_engine.log.reader import LogFollower
from recollex_engine.models.embedder import Embedder, EmbeddingProgress, StandIn
from recollex_engine.state.manifest import NAME as MANIFEST
from recollex_engine.state.replica import LOG
from recollex_engine.storage.disk import copy_file, flush_folder, system_errors
from recollex_engine.storage.encryption import Cipher, open_key, share_key
from recollex_engine.storage.lock import WriterLock, is_locked
from recollex_engine.storage.unfinished import INSIDE, left_unfinished, unfinished_folder

Load = Callable[[Settings], Embedder]
"""Loads the model of an agent; called if texts must be embedded again."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was wrong with one agent, or with the store itself (``agent`` is None).

    operations, memories: how many the agent has. found: the problems. left: those that could not
    be mended, or were not to be. salvaged: the operations that were copied to another store.
    """

    agent: str | None
    operations: int = 0
    memories: int = 0
    found: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    salvaged: int = 0

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong now."""
        return not self.left


@dataclass(frozen=True, slots=True)
class _Log:
    """A log as it was read: where its intact part ends, its settings there, and what follows."""

    end: Position
    settings: Settings | None
    damage: str | None
    torn: int


def examine_store(path: Path, *, repair: bool) -> Diagnosis:
    """Return what is wrong with a store's own files.

    Raises `InputError` where there is no store, `FormatError` for one of another version.
    """
    if not (path / "store.json").exists() and not agents_in(path):
        raise InputError(f"there is no store at {path}")
    found = []
    left = []
    try:
        if not (path / "store.json").exists():
            found.append("store.json is missing")
            if repair:
                create_store(path)
        else:
            Store(path, _no_model, read_only=True).close()
    except CorruptError as error:
        found.append(str(error))
        if repair:
            write_store_file(path)
    if not repair:
        left += found
    for folder in left_unfinished(path, INSIDE):
        found.append(f"{folder} was left by a copy that was interrupted")
        if repair:
            with system_errors(folder):
                shutil.rmtree(folder)
        else:
            left.append(f"{found[-1]}: the next opening for writing removes it")
    for folder in left_over(path):
        found.append(f"{folder} was left by a deletion that was interrupted")
        if repair:
            with system_errors(folder):
                remove_tree(folder)
        else:
            left.append(f"{found[-1]}: the next opening for writing removes it")
    return Diagnosis(None, found=tuple(found), left=tuple(left))


def examine_agent(
    path: Path,
    name: str,
    load: Load,
    *,
    repair: bool,
    salvage: Path | None = None,
    progress: EmbeddingProgress | None = None,
    key: bytes | None = None,
) -> Diagnosis:
    """Return what is wrong with agent ``name`` of the store at ``path``; mend it with ``repair``.

    salvage: a store to which the operations before the damage of a log are copied. key: of an
    encrypted agent. Warnings of the opening are problems found. Cost: that of `verify`, and of
    building what is damaged.
    """
    folder = agent_folder(path, name)
    try:
        cipher = open_key(folder, key)
    except (EncryptionError, CorruptError) as error:
        return Diagnosis(name, found=(str(error),), left=(str(error),))
    opened = _Opened(path, name, key, cipher)
    log = _read_log(folder)
    if log.damage is not None:
        refused = log.damage + (
            f"; operations 1 to {log.end.op} before that are whole: salvage copies them to another "
            "store, and a backup may have the rest"
        )
        saved = 0
        if salvage is not None and log.end.op:
            saved = _salvage(opened, log, salvage, load, progress)
        return Diagnosis(name, log.end.op, 0, (log.damage,), (refused,), saved)
    if log.settings is None:
        return Diagnosis(name)
    stand_in = _stand_in(log.settings, load)
    found = _torn(log, folder)
    memories, problems = _verified(opened, stand_in)
    found += problems
    left = found
    if found and repair:
        left = _mend(opened, stand_in)
        if not left:
            memories, left = _verified(opened, stand_in)
    ahead = _ahead(log.end)
    return Diagnosis(name, log.end.op, memories, (*found, *ahead), (*left, *ahead))


def _read_log(folder: Path) -> _Log:
    follower = LogFollower(folder / LOG, verify=True)
    settings = None
    damage = None
    try:
        for transaction in follower.read_new():
            for operation in transaction.operations:
                settings = settings_of(operation.kind, operation.payload) or settings
    except (RecollexError, OSError) as error:
        damage = str(error)
    finally:
        follower.close()
    end = follower.position
    torn = 0
    with suppress(FileNotFoundError):
        torn = max(0, plain_path(folder / LOG, end.file).stat().st_size - end.offset)
    return _Log(end, settings, damage, torn)


def _torn(log: _Log, folder: Path) -> list[str]:
    if not log.torn or is_locked(folder / "LOCK"):
        return []
    return [f"{log.torn} bytes after the last transaction of the log: it was never acknowledged"]


def _ahead(end: Position) -> list[str]:
    """Return what is wrong with a log whose recorded times the clock has not reached."""
    if end.recorded_at <= system_clock() + DRIFT:
        return []
    return [
        f"the log ends at {from_micros(end.recorded_at)}, which the clock has not reached, and "
        "later writes follow it: replay with clamp_times copies the agent to another store"
    ]


@dataclass(frozen=True, slots=True)
class _Opened:
    """An agent that is examined, unlocked as long as its cipher is held."""

    path: Path
    name: str
    key: bytes | None
    cipher: Cipher | None

    @property
    def folder(self) -> Path:
        return agent_folder(self.path, self.name)

    @contextmanager
    def agent(self, embedder: Embedder, *, read_only: bool) -> Iterator[Agent]:
        with closing(Store(self.path, lambda: embedder, read_only=read_only)) as store:
            yield store.agent(self.name, self.key)


def _verified(opened: _Opened, embedder: Embedder) -> tuple[int, list[str]]:
    """Return the number of an agent's memories, and its problems, warnings included."""
    problems: list[str] = []
    memories = 0
    with warnings.catch_warnings(record=True) as told, ExitStack() as stack:
        warnings.simplefilter("always")
        try:
            agent = stack.enter_context(opened.agent(embedder, read_only=True))
            found = verify(agent)
            memories = found.memories
            problems += found.problems
            stack.close()  # what was not compared yet is compared
        except (RecollexError, OSError) as error:
            problems.append(str(error))
    warned = (str(each.message) for each in told if each.category is RuntimeWarning)
    return memories, [*dict.fromkeys(warned), *problems]


def _mend(opened: _Opened, embedder: Embedder) -> list[str]:
    """Let a writer build everything that follows from log and vectors; return what it refused."""
    folder = opened.folder
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            with WriterLock(folder / "LOCK"):
                (folder / MANIFEST).unlink(missing_ok=True)
                flush_folder(folder)
            with opened.agent(embedder, read_only=False) as agent:
                agent.checkpoint()
        except (RecollexError, OSError) as error:
            return [str(error)]
    return []


def _salvage(
    opened: _Opened, log: _Log, path: Path, load: Load, progress: EmbeddingProgress | None
) -> int:
    """Copy the whole part of a damaged log to the store at ``path``, with vectors."""
    folder = opened.folder
    settings = log.settings
    with unfinished_folder(_made(path), INSIDE) as place:
        copy = share_key(place, folder)
        copy_log(folder / LOG, place / LOG, log.end)
        if settings is not None:
            with suppress(FileNotFoundError):
                copy_file(folder / settings.vectors_file, place / settings.vectors_file)

        def embedder() -> Embedder:
            assert settings is not None
            return _stand_in(settings, load)

        try:
            return replay(place, path, opened.name, embedder, progress, opened.key)
        finally:
            del copy


def _stand_in(settings: Settings, load: Load) -> Embedder:
    return StandIn(settings.model, settings.dimension, partial(load, settings))


def _made(path: Path) -> Path:
    create_store(path)
    return path


def _no_model() -> Embedder:
    raise InputError("no model is needed to look at a store")
