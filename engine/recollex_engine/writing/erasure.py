"""How are memories erased? Their bytes are taken out of every file of the agent.

::

    ERASE    {"version":1,"op":OP,"at":AT,"erasing":{...},"payload":{...}}    the intent

OP is the number that the operation `erase` will have, AT its recorded time. The order makes a crash
at any point leave the memories untouched, or lets the next opening for writing complete the work:

1. the intent is written; from here on the erasure takes place
2. MANIFEST is removed: the columns and indexes are not used any more
3. the files of the log are rewritten (`log.rewriting`): records become stubs (`erasure_plan`)
4. the rows of the vectors become zeros, in place
5. the counts of the memories are taken out of ACCESSES; all other files are removed: columns,
   posting lists, graphs, what a crash or a move left
6. the operation `erase` is appended to the log: who, why, how much, the checksum of the stubs, and
   the new checksums of the vectors
7. COMMIT is raised to that operation
8. the intent is removed

The steps are idempotent, so completing an erasure is doing all of them again. Processes that read
the log up to COMMIT, such as a backup, wait while there is an intent, and then find the stubs and
the operation together.
"""

import os
import shutil
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import orjson

from recollex_engine.domain.schema import ERASE
from recollex_engine.domain.settings import Settings, settings_of
from recollex_engine.errors import CorruptError, StoreFullError
from recollex_engine.log.format import Position, Record, open_payload, seal_payload
from recollex_engine.log.reader import LogFollower
from recollex_engine.log.rewriting import StubDigest, rewrite_log
from recollex_engine.log.writer import LogWriter
from recollex_engine.state.access_journal import FILE as ACCESSES
from recollex_engine.state.access_journal import AccessJournal
from recollex_engine.state.manifest import NAME as MANIFEST
from recollex_engine.state.replica import INTENT, LOG
from recollex_engine.storage.commit_word import CommitWord
from recollex_engine.storage.content_file import read_content, write_content
from recollex_engine.storage.disk import (
    flush,
    flush_folder,
    open_file,
    store_full,
    write_at,
)
from recollex_engine.storage.encryption import NAME as KEY
from recollex_engine.storage.encryption import cipher_for_writing
from recollex_engine.storage.formats import unknown_format
from recollex_engine.storage.vectors_file import HEADER_BYTES, VectorsReader, checksum, row_bytes
from recollex_engine.writing.erasure_plan import Erasing, ErasurePlan, Payload

VERSION = 1
KEPT = {"LOCK", "REEMBED", "COMMIT", "HEAD", ACCESSES, KEY, INTENT, LOG}
"""The log, and the files of an agent's folder that hold nothing of a memory. Beside these, only the
vectors are kept."""

_ZEROS = bytes(1 << 20)


@dataclass(frozen=True, slots=True)
class Intent:
    """An erasure that was begun: what it erases, and the operation that it will be.

    payload: the fields ``by``, ``why`` and the counts of that operation.
    """

    op: int
    recorded_at: int
    erasing: Erasing
    payload: Payload

    def write(self, folder: Path) -> None:
        """Write the intent; durable once this returns."""
        erasing = self.erasing
        value = {
            "version": VERSION,
            "op": self.op,
            "at": self.recorded_at,
            "everything": erasing.everything,
            "memories": _runs(erasing.memories),
            "documents": sorted(erasing.documents),
            "payload": self.payload,
        }
        write_content(folder / INTENT, orjson.dumps(value))

    @classmethod
    def read(cls, folder: Path) -> "Intent | None":
        """Return the intent in an agent's folder; None if no erasure was begun."""
        path = folder / INTENT
        try:
            value = orjson.loads(read_content(path))
        except FileNotFoundError:
            return None
        except orjson.JSONDecodeError as error:
            raise CorruptError(path, "an erasure's intent in JSON", str(error)) from error
        try:
            if value["version"] != VERSION:
                raise unknown_format(path, value["version"], VERSION)
            memories = (range(first, end) for first, end in value["memories"])
            erasing = Erasing(
                frozenset(memory for run in memories for memory in run),
                frozenset(value["documents"]),
                value["everything"],
            )
            return cls(value["op"], value["at"], erasing, value["payload"])
        except (KeyError, TypeError, ValueError) as error:
            raise CorruptError(path, "the fields of an erasure's intent", repr(error)) from error


def read_plan(log: Path, erasing: Erasing) -> tuple[ErasurePlan, Settings]:
    """Return the plan of an erasure, and the settings in force. Cost: reading the log."""
    plan = ErasurePlan(erasing)
    settings = None
    follower = LogFollower(log)

    def operations() -> Any:
        nonlocal settings
        for transaction in follower.read_new():
            for operation in transaction.operations:
                settings = settings_of(operation.kind, operation.payload) or settings
                yield operation

    try:
        plan.read(operations())
    finally:
        follower.close()
    if settings is None:
        raise CorruptError(log, "the settings of an agent", "none")
    return plan, settings


def erase_files(folder: Path, erasing: Erasing, end: Position) -> tuple[Position, Payload]:
    """Take what is erased out of every file: steps 2 to 5.

    ``end``: the position after the last transaction. Returns the new position, and the fields of
    the operation `erase` that depend on the files: ``left``, the number and checksum of the stubs,
    and ``vectors``, the batches with erased rows and their checksums. Cost: reading the log twice
    and writing it once.
    """
    (folder / MANIFEST).unlink(missing_ok=True)
    flush_folder(folder)
    plan, settings = read_plan(folder / LOG, erasing)
    stubs = _StubCount(plan, folder / LOG)
    after = rewrite_log(folder / LOG, end, stubs.left)
    vectors = _erase_rows(folder / settings.vectors_file, settings.dimension, plan)
    AccessJournal(folder / ACCESSES).erase(None if erasing.everything else erasing.memories)
    _remove_others(folder, settings)
    return after, {"left": stubs.said, "vectors": vectors}


def complete(folder: Path) -> None:
    """Complete an erasure that was begun; does nothing where there is none.

    The caller holds the agent's lock file, and nothing else of the agent. Raises `StoreFullError`;
    then the next call completes it.
    """
    intent = Intent.read(folder)
    if intent is None:
        return
    with LogWriter(folder / LOG) as log:
        if log.position.op < intent.op:
            finish(folder, intent, log)
        with CommitWord(folder / "COMMIT", writable=True) as word:
            word.op = log.position.op
    remove_intent(folder)


def finish(folder: Path, intent: Intent, log: LogWriter) -> None:
    """Erase from the files and append the operation `erase`, durably: steps 2 to 6."""
    said: Payload = {}

    def rewriting(end: Position) -> Position:
        after, found = erase_files(folder, intent.erasing, end)
        said.update(found)
        return after

    log.rewrite(rewriting)
    log.append(intent.recorded_at, [(ERASE, orjson.dumps(intent.payload | said))])
    log.sync()


def remove_intent(folder: Path) -> None:
    """Say that the erasure is complete: step 8."""
    (folder / INTENT).unlink(missing_ok=True)
    flush_folder(folder)


def begun(error: OSError, folder: Path) -> StoreFullError:
    """Return the error to raise for an erasure that failed after its intent was written."""
    reason = error.strerror or str(error)
    return StoreFullError(
        error.errno,
        f"the erasure was begun and could not be completed ({reason}); it is completed when the "
        "agent is opened for writing again: free space, close the store and open it",
        str(error.filename or folder),
    )


class _StubCount(StubDigest):
    """The stubs of a rewritten log, counted as they are made."""

    def __init__(self, plan: ErasurePlan, log: Path) -> None:
        super().__init__()
        self._plan = plan
        self._log = log
        self._cipher = cipher_for_writing(log)

    def left(self, record: Record) -> tuple[bytes | None] | None:
        """Return what is left of a record, as `rewrite_log` asks for it."""
        payload = open_payload(self._cipher, record, self._log)
        stored = record.payload
        if payload is not None:
            before = orjson.loads(payload)
            after = self._plan.left(record.kind.decode(), before)
            if after != before:
                payload = stored = orjson.dumps(after)
                if self._cipher is not None:
                    stored = seal_payload(
                        self._cipher,
                        record.op,
                        record.recorded_at,
                        record.kind,
                        payload,
                        left=True,
                    )
            elif record.erased is None:
                return None
        self.add(record.op, payload)
        return (stored,)


def _erase_rows(path: Path, dimension: int, plan: ErasurePlan) -> list[list[Any]]:
    """Set the rows to zeros, and all bytes after the last row; return the batches' checksums."""
    if not path.exists():  # its loss is found on opening
        return [[batch.first, batch.end, None] for batch in plan.touched_batches()]
    size = row_bytes(dimension, sealed=cipher_for_writing(path) is not None)
    fd = open_file(path, os.O_RDWR)
    try:
        spans = [
            (HEADER_BYTES + first * size, (end - first) * size) for first, end in plan.rows.tolist()
        ]
        whole = HEADER_BYTES + plan.batches.rows * size
        spans.append((whole, max(0, os.fstat(fd).st_size - whole)))
        for offset, length in spans:
            for at in range(offset, offset + length, len(_ZEROS)):
                part = min(len(_ZEROS), offset + length - at)
                write_at(fd, memoryview(_ZEROS)[:part], at, path)
        flush(fd)
    except OSError as error:
        raise store_full(error, path, f"erase rows of {path.name}") from error
    finally:
        os.close(fd)
    reader = VectorsReader(path, dimension)
    return [
        [batch.first, batch.end, checksum(reader.rows(batch.end)[batch.first :])]
        for batch in plan.touched_batches()
    ]


def _remove_others(folder: Path, settings: Settings) -> None:
    """Remove every file that can be made again, and what a crash or a move to a model left."""
    kept = KEPT | {settings.vectors_file}
    for name in os.listdir(folder):  # noqa: PTH208 - names alone
        if name in kept:
            continue
        path = folder / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    flush_folder(folder)


def _runs(memories: frozenset[int]) -> list[list[int]]:
    """Return the runs [first, end) of numbers that follow each other."""
    runs: list[list[int]] = []
    for _, each in groupby(enumerate(sorted(memories)), lambda pair: pair[1] - pair[0]):
        run = [memory for _, memory in each]
        runs.append([run[0], run[-1] + 1])
    return runs
