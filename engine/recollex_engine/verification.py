"""Is what lies on disk what the log says? Everything derived, compared with the log replayed."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from recollex_engine.agent import Agent
from recollex_engine.columns import DICTIONARIES, Columns, schema
from recollex_engine.errors import CorruptError
from recollex_engine.log_format import START
from recollex_engine.log_reader import LogFollower, Transaction
from recollex_engine.postings import Postings
from recollex_engine.replica import LOG, Replica
from recollex_engine.vectors_file import checksum


@dataclass(frozen=True, slots=True)
class Verification:
    """What was checked, and what is wrong: nothing, if `ok`."""

    operations: int
    memories: int
    passages: int
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def verify(agent: Agent, progress: Callable[[int], None] | None = None) -> Verification:
    """Return what differs between the agent's files and its log replayed from the beginning.

    Checks the hash chain, the checksum of every batch of vectors, every column and dictionary, the
    posting lists and the graphs. Reads everything once; cost about 20 us an operation.
    """
    view = agent.view()
    if view is None:
        return Verification(0, 0, 0, ())
    replica = agent.replica()
    problems: list[str] = []
    fresh = Columns(replica.folder / "none", None)
    follower = LogFollower(replica.folder / LOG, START, verify=True)
    try:
        for transaction in follower.read_new(view.op):
            _replay(fresh, transaction, replica, problems)
            if progress is not None:
                progress(len(transaction.operations))
    except CorruptError as error:
        problems.append(str(error))
    finally:
        follower.close()
    if fresh.op == view.op:
        _compare_columns(fresh, replica.columns, problems)
        _compare_indexes(fresh, replica, problems)
    elif not problems:
        problems.append(f"the log ends at operation {fresh.op}, readers were shown {view.op}")
    return Verification(fresh.op, fresh.memories, fresh.rows, tuple(problems))


def _replay(
    fresh: Columns, transaction: Transaction, replica: Replica, problems: list[str]
) -> None:
    """Apply ``transaction`` and check the vectors that it brought."""
    first = fresh.rows
    fresh.apply(transaction.operations, replica.rows_of_file)
    for operation in transaction.operations:
        said = (operation.payload or {}).get("vectors")
        if said is None:
            continue
        rows = replica.rows_of_file(first, first + said["rows"])
        if (found := checksum(rows)) != said["sha256"]:
            problems.append(
                f"vectors of rows {first} to {first + said['rows'] - 1}: the log has checksum "
                f"{said['sha256']}, the file has {found}"
            )


def _compare_columns(fresh: Columns, held: Columns, problems: list[str]) -> None:
    for name in schema():
        expected = fresh.array(name)
        found = held.array(name)[: len(expected)]
        if name == "closed_by":
            found = np.where(found > fresh.op, 0, found)  # closed since the verification began
        if not np.array_equal(expected, found):
            where = int(np.argmax(expected != found)) if len(found) == len(expected) else len(found)
            problems.append(f"column {name} differs from the log at item {where}")
    for name in DICTIONARIES:
        said, kept = fresh.dictionary[name], held.dictionary[name]
        for number in range(len(said)):
            if number >= len(kept) or said.string(number) != kept.string(number):
                problems.append(f"dictionary {name} differs from the log at number {number}")
                break
            if kept.get(said.string(number)) != number:
                problems.append(f"dictionary {name} does not find its number {number}")
                break


def _compare_indexes(fresh: Columns, replica: Replica, problems: list[str]) -> None:
    for segment in replica.segments:
        held = segment.postings
        terms = len(held.starts) - 1
        if held.end_row > fresh.rows:
            continue  # checkpointed since the verification began
        expected = Postings.build(
            fresh.array("term_offset"), fresh.array("term"), held.first_row, held.end_row, terms
        )
        problems += [
            f"segment {segment.number}: posting lists differ in {name}"
            for name in ("starts", "rows", "counts")
            if not np.array_equal(getattr(expected, name), getattr(held, name))
        ]
        graph = segment.hnsw
        if graph is not None and len(graph.index) != graph.end_row - graph.first_row:
            problems.append(
                f"segment {segment.number}: the graph holds {len(graph.index)} rows of "
                f"{graph.end_row - graph.first_row}"
            )
