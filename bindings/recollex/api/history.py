"""Time travel over one agent's memory: its past states, its log and their differences."""

import builtins
import os
from collections.abc import Sequence
from typing import Self

from recollex.api.arguments import checked_id, one_or_more, optional_micros
from recollex.api.progress import progress_bar
from recollex_engine.agents import logbook, snapshot
from recollex_engine.agents.cut import AgentOrCut, Cut
from recollex_engine.agents.logbook import Difference, LogEntry
from recollex_engine.clock import Moment, to_micros
from recollex_engine.errors import InputError
from recollex_engine.recall.memory import Memory
from recollex_engine.storage.lock import absolute


class History:
    """The methods of `Agent` that read the past."""

    def __init__(self, agent: AgentOrCut) -> None:
        self.engine = agent

    def at(self, as_recorded: Moment) -> Self:
        """Return this agent as of a recorded time: what it knew then, read-only.

        It has every method of an agent; those that write raise `errors.ReadOnlyError`. Its recalls
        equal, to the bit (scores, order, token counts), those of a store to which nothing was added
        after that time. Their ``now`` is that time, and vectors are scanned exactly.

        At a time before the first retain the agent knows nothing. Raises `errors.InputError` for a
        time in the future. Memories that are retained afterwards change nothing here, unless they
        are given a ``recorded_at`` that is earlier than the cut (it must be later than all that
        was recorded).

        >>> import recollex, tempfile
        >>> from datetime import UTC, datetime
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> for day, words in enumerate(["Bob lives in Oslo.", "Bob moved to Rome."], start=1):
        ...     ids = alice.retain(words, id="home", recorded_at=datetime(2024, 5, day, tzinfo=UTC))
        >>> alice.at(datetime(2024, 5, 1, 12, tzinfo=UTC)).get("home").text
        'Bob lives in Oslo.'
        """
        return type(self)(Cut.at(self.engine, to_micros(as_recorded, "as_recorded")))

    def history(self, id: str) -> list[Memory]:
        """Return every version of a memory, oldest first; `closed` of each says how it ended.

        Forgotten memories have no history. Raises `errors.UnknownIdError`.
        """
        return self.engine.history(checked_id(id))

    def log(
        self,
        *,
        since: Moment | None = None,
        until: Moment | None = None,
        op: str | Sequence[str] | None = None,
    ) -> builtins.list[LogEntry]:
        """Return the operations of this agent's log, in order.

        since, until: return those recorded in [since, until). op: kinds of operation, such as
        "forget" or "upsert_edge".

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> ids = alice.retain("Bob likes tea.", id="b1")
        >>> alice.archive("b1", by="ann", why="He stopped.")
        >>> [(entry.kind, entry.ids, entry.by, entry.why) for entry in alice.log(op="archive")]
        [('archive', ('b1',), 'ann', 'He stopped.')]
        """
        first = optional_micros(since, "since")
        end = optional_micros(until, "until")
        if first is not None and end is not None and first >= end:
            raise InputError(
                f"since must be earlier than until, got {since} and {until}: swap them"
            )
        kinds = None if op is None else one_or_more(op, "op")
        return list(logbook.entries(self.engine, first, end, kinds))

    def diff(self, earlier: Moment, later: Moment | None = None) -> Difference:
        """Return the difference of what was known at two recorded times.

        later: now, by default. Raises `errors.InputError` if ``earlier`` is after ``later``.

        >>> import recollex, tempfile
        >>> from datetime import UTC, datetime
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> ids = alice.retain("Bob lives in Oslo.", recorded_at=datetime(2024, 5, 1, tzinfo=UTC))
        >>> [memory.text for memory in alice.diff(datetime(2024, 4, 1, tzinfo=UTC)).added]
        ['Bob lives in Oslo.']
        """
        first = to_micros(earlier, "earlier")
        end = optional_micros(later, "later")
        if end is not None and first > end:
            raise InputError(
                f"earlier must not be after later, got {earlier} and {later}: swap them"
            )
        before = Cut.at(self.engine, first).view()
        after = (self.engine if end is None else Cut.at(self.engine, end)).view()
        return logbook.difference(before, after)

    def snapshot(self, as_recorded: Moment, path: str | os.PathLike[str]) -> None:
        """Make a store in the folder ``path`` that holds this agent as of a recorded time.

        Its log is the beginning of this log, byte for byte. So it answers as `at` does, and can be
        written to. The folder may hold a store that lacks this agent; for any other content this
        raises `errors.InputError`.

        >>> import recollex, tempfile
        >>> from datetime import UTC, datetime
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> for day, words in enumerate(["Bob lives in Oslo.", "Bob moved to Rome."], start=1):
        ...     ids = alice.retain(words, id="home", recorded_at=datetime(2024, 5, day, tzinfo=UTC))
        >>> folder = tempfile.mkdtemp()
        >>> alice.snapshot(datetime(2024, 5, 1, 12, tzinfo=UTC), folder)
        >>> recollex.open(folder).agent("alice").get("home").text
        'Bob lives in Oslo.'
        """
        op = self.engine.op_at(to_micros(as_recorded, "as_recorded"))
        with progress_bar(op, "copying", "operations") as progress:
            snapshot.snapshot(self.engine, op, absolute(path), progress)
