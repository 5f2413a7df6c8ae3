"""Do the files on disk match the log? All derived data, compared with a replay of the log.

Do the versions of facts and events keep MemoTrace's invariants ("L1 layer", Invariants)?
After any operation at most one version of an id is open. The recorded starts of an id's versions
never decrease. So a snapshot that takes the greatest recorded start of each id takes its open
version.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from recollex_engine.agents.log_head import HeadCheck
from recollex_engine.agents.readable_agent import ReadableAgent
from recollex_engine.agents.snapshot import busy
from recollex_engine.domain.schema import CLOSED, CODE, DICTIONARIES, ERASE, schema
from recollex_engine.errors import CorruptError, RecollexError, without_paths
from recollex_engine.log.format import START, Head, HeadFile
from recollex_engine.log.reader import LogFollower
from recollex_engine.log.rewriting import problem_of_stubs, read_stubs, said_of_stubs
from recollex_engine.state.applying import apply
from recollex_engine.state.column_set import NONE
from recollex_engine.state.columns import Columns
from recollex_engine.state.file_sizes import FileSizes
from recollex_engine.state.integrity import parts_of_indexes
from recollex_engine.state.postings import ARRAYS, Postings
from recollex_engine.state.read_replica import is_erasing
from recollex_engine.state.replica import LOG, UNREADABLE, Replica
from recollex_engine.state.vector_batches import VectorBatches
from recollex_engine.storage.lock import is_locked


def problems_of(columns: Columns) -> list[str]:
    """Return the violations, one line each; an empty list if there are none.

    Cost: 30 ms for a million versions.
    """
    found = []
    for kind in ("fact", "event"):
        ids, previous, op, closed = (
            columns.array(f"{kind}_{name}") for name in ("id", "previous", "op", "closed_by")
        )
        span = "fact" if kind == "fact" else "span"
        start = columns.array(f"{span}_start")
        end = columns.array(f"{span}_end")
        count = len(ids)
        if not count:
            continue
        strings = columns.dictionary[f"{kind}_ids"]
        older = previous.astype(np.int64)
        has = older != NONE
        places = np.flatnonzero(has)
        wrong = {
            "ends before it starts": np.flatnonzero(end <= start),
            "is closed before it is recorded": np.flatnonzero((closed > 0) & (closed < op)),
            "follows a version recorded later": places[op[older[places]] > op[places]],
            "follows a version of another id": places[ids[older[places]] != ids[places]],
            "is open beside the one before it": places[
                (closed[older[places]] == 0) | (closed[older[places]] > op[places])
            ],
        }
        firsts = np.flatnonzero(~has)
        begun = firsts[np.unique(ids[firsts], return_index=True)[1]]
        wrong["begins an id that has a version"] = np.setdiff1d(firsts, begun)
        for what, versions in wrong.items():
            for version in versions[:3].tolist():
                id = strings.string(int(ids[version]))
                found.append(f"{kind} {id!r}: version {version} {what}")
        if np.any(np.diff(op.astype(np.int64)) < 0):
            found.append(f"the versions of {kind}s are not in recorded order")
    return found


_ATTEMPTS = 20
_RETRY_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Verification:
    """How much was checked, and the problems found: none if `ok`.

    Columns, indexes and vectors can be made again: if MANIFEST is removed, opening for writing
    rebuilds them from the log, and embeds the texts whose vectors are damaged.
    """

    operations: int
    memories: int
    passages: int
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether there are no problems."""
        return not self.problems


def verify(
    agent: ReadableAgent,
    progress: Callable[[int], None] | None = None,
    head: Head | None = None,
) -> Verification:
    """Return the differences between the agent's files and a replay of its log.

    Checks that the log holds the operations in HEAD and in ``head``, the hash chain, the checksum
    of every batch of vectors, every column and dictionary, every array of the posting lists, the
    rows of the graphs, the checksums of both and the invariants of facts. The links of a graph
    depend on the order of threads, so only the checksum covers them. All data are read once; cost:
    about 20 us for an operation. Begins again if memories were erased meanwhile, and raises
    `LockedError` after `_ATTEMPTS`.
    """
    with agent.using():
        for _ in range(_ATTEMPTS):
            # Before the view: an erasure in this process may replace both in between.
            replica = None if agent.view() is None else agent.replica()
            found = _verify(agent, replica, progress, head)
            if found.ok or replica is None or not _was_erased(replica):
                return found
            time.sleep(_RETRY_SECONDS)
    raise busy(agent.folder)


def _was_erased(replica: Replica) -> bool:
    """Return whether a writer is erasing memories, or has since the replica was opened."""
    if is_erasing(replica.folder):
        return is_locked(replica.folder / "LOCK")  # else the erasure was interrupted: a problem
    try:
        return replica.was_superseded()
    except RecollexError:  # the log is damaged, which the problems say
        return False


def _verify(
    agent: ReadableAgent,
    replica: Replica | None,
    progress: Callable[[int], None] | None,
    head: Head | None,
) -> Verification:
    follower = LogFollower(agent.folder / LOG, START, verify=True)
    heads = HeadCheck(follower, HeadFile(agent.folder / LOG).read(), head)
    view = agent.view()
    if view is None or replica is None:
        return Verification(0, 0, 0, tuple(map(without_paths, heads.problems())))
    try:
        FileSizes().check(replica)
    except CorruptError as error:  # its pages cannot be read
        return Verification(0, 0, 0, (without_paths(str(error)),))
    problems: list[str] = []
    fresh = Columns(replica.folder / "none", None)
    batches = VectorBatches()
    with contextlib.closing(follower), _named(problems, "the log"):
        for transaction in follower.read_new(view.op):
            heads.note()
            apply(fresh, transaction.operations, replica.rows_of_file)
            for operation in transaction.operations:
                batches.add(operation)
            if progress is not None:
                progress(len(transaction.operations))
        problems += heads.problems()
    with _named(problems, "the vectors"):
        _compare_vectors(batches, replica, problems)
    if not problems:
        with _named(problems, "what is left of erased operations"):
            _compare_stubs(replica, view.op, problems)
    if fresh.op == view.op:
        with _named(problems, "the columns"):
            fresh.code_rows(replica.rows_of_file, needed=True)
            _compare_columns(fresh, replica.columns, problems)
        with _named(problems, "the indexes"):
            _compare_indexes(fresh, replica, problems)
        with _named(problems, "the facts"):
            problems += problems_of(fresh)
    elif not problems:
        problems.append(f"the log ends at operation {fresh.op}, readers were shown {view.op}")
    return Verification(fresh.op, fresh.memories, fresh.rows, tuple(map(without_paths, problems)))


@contextlib.contextmanager
def _named(problems: list[str], what: str) -> Iterator[None]:
    """Make a problem of any error that damaged data raise in the body."""
    try:
        yield
    except RecollexError as error:
        problems.append(str(error))
    except (*UNREADABLE, MemoryError, OSError) as error:
        problems.append(f"{what} cannot be read: {error!r}")


def _compare_vectors(batches: VectorBatches, replica: Replica, problems: list[str]) -> None:
    if not batches.in_force:
        return
    try:
        replica.rows_of_file(0, batches.rows)
        assert replica.vectors is not None
        damaged = batches.damaged(replica.vectors)
    except CorruptError as error:
        problems.append(str(error))
        return
    for batch, found in damaged:
        problems.append(
            f"vectors of rows {batch.first} to {batch.end - 1}: the log has checksum "
            f"{batch.sha256}, the file has {found}"
        )


def _compare_stubs(replica: Replica, op: int, problems: list[str]) -> None:
    """Compare what is left of erased operations with the checksum in the log."""
    if is_erasing(replica.folder):
        problems.append("an erasure was begun: opening the agent for writing completes it")
        return
    stubs, last, before = read_stubs(replica.folder / LOG, ERASE, op)
    if not stubs.count:
        return
    if (problem := problem_of_stubs(stubs.said, before, said_of_stubs(last))) is not None:
        problems.append(problem)


def _compare_columns(fresh: Columns, held: Columns, problems: list[str]) -> None:
    for name in schema():
        if name in CODE and not len(held.array(name)):
            continue  # few rows may have no codes
        expected = fresh.array(name)
        found = held.array(name)[: len(expected)]
        if name in CLOSED:
            found = np.where(found > fresh.op, 0, found)  # closed since the verification began
        if not np.array_equal(expected, found):
            where = int(np.argmax(expected != found)) if len(found) == len(expected) else len(found)
            problems.append(f"column {name} differs from the log at item {where}")
    for name in DICTIONARIES:
        said = fresh.dictionary[name]
        kept = held.dictionary[name]
        for number in range(len(said)):
            if number >= len(kept) or said.string(number) != kept.string(number):
                problems.append(f"dictionary {name} differs from the log at number {number}")
                break
            if kept.get(said.string(number)) != number:
                problems.append(f"dictionary {name} does not find its number {number}")
                break


def _compare_indexes(fresh: Columns, replica: Replica, problems: list[str]) -> None:
    for segment in replica.indexes.segments:
        held = segment.postings
        terms = len(held.starts) - 1
        if held.end_memory > fresh.memories:
            continue  # checkpointed since the verification began
        began = fresh.array("first_row")[held.first_memory : held.end_memory + 1]
        offsets = fresh.array("term_offset")[began]
        lengths = fresh.array("words")[held.first_memory : held.end_memory]
        expected = Postings.build(offsets, fresh.array("term"), lengths, held.first_memory, terms)
        problems += [
            f"segment {segment.number}: posting lists differ in {name}"
            for name in ARRAYS
            if not np.array_equal(getattr(expected, name), getattr(held, name))
        ]
    for graph in replica.indexes.graphs:
        try:
            graph.rows_of_slots()
        except CorruptError as error:
            problems.append(str(error))
    if replica.manifest is not None and not replica.damaged:
        for parts in parts_of_indexes(replica.indexes, replica.manifest, replica.folder):
            problems += [str(damage) for part in parts if (damage := part.damage()) is not None]
