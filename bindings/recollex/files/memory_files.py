"""Writes an agent's memories to a file and reads them into another agent: JSON lines or Parquet."""

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC
from pathlib import Path
from typing import Any, Unpack

from recollex.api.agent import Agent
from recollex.api.filters import FILTERS, Filters, read_filter
from recollex.api.foreign_files import parse_json
from recollex.api.plurals import counted
from recollex.api.progress import progress_bar
from recollex.files import jsonl, parquet
from recollex.files.line_batches import admitted, batches, store_batch, versions_of
from recollex.files.other_formats import WRITERS
from recollex_engine.agents.cut import Cut
from recollex_engine.domain.filter import EVERYTHING, Filter
from recollex_engine.errors import InputError, StoreFullError, UnknownIdError
from recollex_engine.recall.lookups import pages
from recollex_engine.storage.disk import Replacement, store_full
from recollex_engine.storage.unfinished import (
    left_unfinished,
    lock_unfinished,
    remove_unfinished_of,
)


def local_engine(agent: Agent) -> Any:
    """Return the engine's agent. Raises `InputError` for an agent of a client, or for no agent."""
    engine = getattr(agent, "engine", None)
    if engine is None:
        raise InputError(
            f"agent must be an agent of recollex.open, got {type(agent).__name__}: open the store "
            "with read_only=True beside its server"
        )
    return engine


# A file or folder of memories outside of the store: complete or absent, its owner's alone.
@contextmanager
def _as_our_errors(path: Path) -> Iterator[None]:
    """Raise `InputError` or `StoreFullError` for what the system says of writing ``path``."""
    try:
        yield
    except FileNotFoundError as error:
        raise InputError(f"{path} cannot be written: there is no such folder") from error
    except PermissionError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from error
    except StoreFullError:
        raise
    except OSError as error:
        raise store_full(error, path, f"write {path.name}") from error


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of a file that takes the place of ``path`` once the body has succeeded.

    It is its owner's alone, as a store is: mode 0600 whatever the umask.
    """
    with _as_our_errors(path):
        remove_unfinished_of(path)
        with Replacement(path, 0o600) as file:
            file.path.chmod(0o600)
            yield file.path
            file.sync()
            file.take_place()


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield a folder that is called ``path`` once the body has succeeded; its owner's alone.

    Raises `InputError` if there is something at ``path`` that is no empty folder.
    """
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise InputError(f"{path} exists: name a folder that is new")
    temporary = _temporary(path)
    lock = None
    try:
        with _as_our_errors(path):
            temporary.mkdir(mode=0o700)
            lock = lock_unfinished(temporary)
            yield temporary
            temporary.replace(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _temporary(path: Path) -> Path:
    """Return a new name beside a path, once what killed exports left there is removed."""
    for left in left_unfinished(path.parent, f".{path.name}.", ".tmp"):
        shutil.rmtree(left, ignore_errors=True)
    return path.with_name(f".{path.name}.{os.urandom(4).hex()}.tmp")


FORMATS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
"""The format that the end of a file's name says: those that `import_memories` reads."""
_PAGE = 1000
_BATCH = 128


@FILTERS.shown
def export_memories(
    agent: Agent,
    file: str | os.PathLike[str],
    *,
    format: str | None = None,
    **filters: Unpack[Filters],
) -> int:
    """Write the open memories of an agent, or of a cut of it, to a file; return how many.

    filters: only memories that meet these, as for `Agent.list`.

    format: "jsonl" or "parquet"; by default the file's name says it. Parquet needs
    ``pip install 'recollex[parquet]'``. For other programs: "markdown" (a new folder, with a note
    for each memory), "mem0" (JSON as its ``get_all`` gives it) and "langchain" (messages as
    ``messages_from_dict`` reads them: the turns alone). `recollex.ingest` reads these again.

    Each memory keeps its id, times, source and other fields; in recorded order. Vectors are written
    if the caller gave them (`GivenVectors`), because a model makes its own again. Facts, events and
    earlier versions are not memories: `Store.backup` and `Agent.snapshot` copy all. The file
    appears when it is complete, and is its owner's alone (mode 0600). Other processes may write the
    agent meanwhile.

    >>> import recollex, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with recollex.open(folder + "/a") as store:
    ...     ids = store.agent("alice").retain("Bob likes tea.", id="b1")
    ...     recollex.export_memories(store.agent("alice"), folder + "/alice.jsonl")
    1
    >>> with recollex.open(folder + "/b") as store:
    ...     recollex.import_memories(store.agent("alice"), folder + "/alice.jsonl")
    ...     store.agent("alice").get("b1").text
    1
    'Bob likes tea.'
    """
    wanted = read_filter("export_memories", filters)
    path = Path(file)
    kind = format if format in WRITERS else _format_of(file, format, *WRITERS)
    if kind == "parquet":
        parquet.check_installed()
    objects = objects_of(agent, wanted)
    if kind == "markdown":
        with new_folder(path) as folder:
            return WRITERS[kind](folder, objects)
    with replacing(path) as temporary:
        if kind == "parquet":
            return parquet.write(temporary, objects)
        if kind in WRITERS:
            return WRITERS[kind](temporary, objects)
        written = 0
        with temporary.open("w", encoding="utf-8") as out:
            for each in objects:
                out.write(jsonl.dump(each) + "\n")
                written += 1
        return written


class Imported(int):
    """How many memories an import stored; ``left_out``: what it did not store as it was.

    See `Ingestion.left_out`.
    """

    left_out: Counter[str]

    def __new__(cls, stored: int, left_out: Counter[str]) -> "Imported":
        """Return the count ``stored`` with what was left out."""
        made = super().__new__(cls, stored)
        made.left_out = left_out
        return made


def import_memories(
    agent: Agent,
    file: str | os.PathLike[str],
    *,
    format: str | None = None,
    recorded: bool = True,
    stamped: bool = True,
) -> Imported:
    """Retain the memories that `export_memories` has written; return how many were new.

    recorded: keep the times at which they were recorded; these must be later than all that the
    agent recorded. stamped: keep their source and trust, for a file that you exported yourself.
    format: as for `export_memories`. See there for an example.

    A memory whose id the agent has with the same recorded time is passed over, so an interrupted
    import is completed by calling it again. One that was forgotten, archived or erased here is left
    out, and a recorded time that the clock has not reached becomes metadata: ``left_out`` of the
    result counts them. Raises `errors.InputError`, which names the line; the
    lines before it were retained.
    """
    path = Path(file)
    if not path.is_file():
        raise InputError(f"there is no file {path} to import")
    kind = _format_of(file, format)
    before = agent.stats()
    known = before.memories > 0
    read = 0
    left_out: Counter[str] = Counter()
    with progress_bar(None, "importing") as progress, path.open(encoding="utf-8") as source:
        if kind == "parquet":
            lines = jsonl.read_objects(parquet.read(path), UTC, recorded, stamped)
        else:
            lines = jsonl.read(source, UTC, recorded=recorded, stamped=stamped)
        taken = admitted(agent, lines, left_out)
        new = (line for line in taken if not (known and recorded and _is_there(agent, line)))
        try:
            for batch in batches(new, _BATCH):
                read += store_batch(agent, batch, {})
                if progress is not None:
                    progress(len(batch))
        except (InputError, RecursionError) as error:
            after = f"; stored before it: {counted(read, 'memory')}" if read else ""
            why = "a line is nested too deeply" if isinstance(error, RecursionError) else error
            raise InputError(f"{path}: {why}{after}") from error
        except UnicodeDecodeError as error:
            raise InputError(f"{path} is not a file of JSON lines in UTF-8: {error}") from error
    return Imported(versions_of(agent.stats()) - versions_of(before), left_out)


def given_dimension(file: str | os.PathLike[str], format: str | None = None) -> int | None:
    """Return the length of the vectors of a file to import; None if it holds none, or is no such.

    An exported file has vectors if a caller gave them: see `export_memories`.
    """
    path = Path(file)
    try:
        if _format_of(file, format) == "parquet":
            first: Any = next(parquet.read(path), {})
        else:
            with path.open(encoding="utf-8") as source:
                first = parse_json(next((line for line in source if line.strip()), "{}"))
    except (OSError, ValueError):  # the import says what is wrong
        return None
    vector = first.get("embedding") if isinstance(first, dict) else None
    return len(vector) if isinstance(vector, list) else None


def objects_of(agent: Agent, wanted: Filter = EVERYTHING) -> Iterator[dict[str, Any]]:
    """Yield the open memories of an agent that pass a filter as objects of lines, of one view."""
    engine = local_engine(agent)
    cut = engine if isinstance(engine, Cut) else Cut.at(engine, _now(engine))
    view = cut.view()
    if view is None or view.columns.settings is None:
        return
    given = view.columns.settings.model.startswith("given-")
    for memories, vectors in pages(view, _PAGE, wanted):
        for memory, vector in zip(memories, vectors, strict=True):
            yield jsonl.to_object(memory, vector.tolist() if given else None)


def _now(engine: Any) -> int:
    """Return a time at which the agent has all that it has now: of imports, perhaps a later one."""
    view = engine.view()
    last = int(view.buffer("op_recorded_at")[view.op - 1]) if view is not None and view.op else 0
    return max(int(engine.clock()), last)


def _is_there(agent: Agent, line: jsonl.Line) -> bool:
    """Return whether an earlier import has retained a line."""
    at = line.shared.get("recorded_at")
    id = line.fields.get("id")
    if at is None or id is None:
        return False
    try:
        return bool(agent.get(id).recorded_at == at)
    except UnknownIdError:
        return False


def _format_of(file: str | os.PathLike[str], format: str | None, *others: str) -> str:
    """Return the format of a file by its name; ``others``: more that a caller may name."""
    if format is not None:
        if format not in FORMATS.values():
            known = " or ".join(f'"{name}"' for name in ("jsonl", "parquet", *others))
            raise InputError(f"format must be {known}, got {format!r}")
        return format
    found = FORMATS.get(Path(file).suffix)
    if found is None:
        raise InputError(
            f"{os.fspath(file)!r} ends with none of {', '.join(FORMATS)}: name the format, "
            "jsonl or parquet. recollex ingest reads files of other programs"
        )
    return found
