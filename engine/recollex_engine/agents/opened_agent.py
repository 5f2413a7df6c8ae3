"""How does a process have an agent open? Its files are opened when they are used, and may rest."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar
from weakref import WeakSet

from recollex_engine.agents.agent_files import AgentFiles
from recollex_engine.agents.heard_talks import HeardTalks
from recollex_engine.agents.log_head import end_of
from recollex_engine.agents.open_agents import OpenAgents
from recollex_engine.agents.readable_agent import ReadableAgent
from recollex_engine.clock import from_micros
from recollex_engine.domain.question import Question
from recollex_engine.errors import InputError
from recollex_engine.log.format import START, Head
from recollex_engine.ranking.presets import Preset
from recollex_engine.recall.recall import Recall
from recollex_engine.state.access_journal import FILE as ACCESSES
from recollex_engine.state.access_journal import AccessJournal
from recollex_engine.state.replica import Replica
from recollex_engine.state.view import View
from recollex_engine.writing.store_context import StoreContext
from recollex_engine.writing.writer import Unsettled, Writer

Written = TypeVar("Written")


class OpenedAgent(ReadableAgent):
    """One agent's memory in one folder, open in this process.

    Threads: any number may call any method.
    """

    def __init__(
        self,
        name: str,
        folder: Path,
        context: StoreContext,
        key: bytes | None,
        opened: OpenAgents,
    ) -> None:
        super().__init__(name, folder, context)
        self.heard: WeakSet[HeardTalks] = WeakSet()
        self._open_agents = opened
        self.files: AgentFiles = AgentFiles(
            name, folder, context, key, partial(opened.add, self), opened.make_room
        )
        self.journal: AccessJournal = AccessJournal(folder / ACCESSES, self.files.check_place)

    @property
    def last_used(self) -> int:
        """A number that grows with each use; of all agents."""
        return self.files.usage.last_used

    @property
    def in_use(self) -> bool:
        """Whether a call is in progress, or work in the background."""
        return self.files.is_busy

    @property
    def has_failed(self) -> bool:
        """Whether closing the files failed, which no caller has been told yet."""
        return self.files.has_failed

    def rest(self) -> bool:
        """Close the files until the next use, unless they are in use; return whether."""
        rests = self.files.rest()
        if rests:
            self._facts = None  # it holds the columns
        return rests

    @property
    def is_closed(self) -> bool:
        """Whether the agent was closed for good, or deleted, as far as is known."""
        return self.files.is_closed

    def using(self) -> AbstractContextManager[None]:
        """Keep the files open during the body."""
        return self.files

    @contextmanager
    def being_deleted(self) -> Iterator[None]:
        """Close the files; keep every call waiting until the body has ended, and refuse it then.

        If the body raises, the agent is as before.
        """
        with self.files.being_deleted():
            self._open_agents.discard(self)
            yield
            self._facts = None

    def settled(self, work: Callable[[Writer], Written]) -> Written:
        """Return ``work(writer)``, with a writer whose log was opened again if that is needed."""
        with self.files:
            self.files.check_place()
            while True:
                try:
                    return work(self.files.writer())
                except Unsettled:
                    continue

    def check_open(self) -> None:
        """Raise `ClosedError` once the agent was closed."""
        self.files.check_open()

    def view(self, op: int | None = None) -> View | None:
        """Return the view of now, or of operation ``op``; None before the first retain."""
        return self.files.view(op)

    def recall(self, question: Question, preset: Preset, explain: bool = False) -> Recall:
        """Return the memories for ``question``; that they were returned is counted, if asked for.

        A recall of a cut is not counted.
        """
        found = super().recall(question, preset, explain)
        if self.context.accesses.is_on:
            self.context.accesses.note(self.journal, found.ordinals)
        return found

    def replica(self) -> Replica:
        """Return the replica that `view` reads, in the use in progress; after there is one."""
        with self.files:
            return self.files.replica()

    def head(self) -> Head:
        """Return the end of the log; of an agent that can be written, it is on the disk by then."""
        self.files.check_open()
        if self.files.are_there and not self.context.read_only:
            return self.settled(end_of)
        return Head.of(START if self.view() is None else self.replica().position)

    def op_at(self, recorded_at: int) -> int:
        """Return the last operation recorded by a time; 0 if there was none.

        Raises `InputError` for a time that is later than all recorded times and than the clock:
        more may be recorded by then.
        """
        view = self.view()
        if view is not None and view.op:
            last = int(view.buffer("op_recorded_at")[view.op - 1])
            if recorded_at <= last:
                return view.columns.op_at(recorded_at)
        if recorded_at > (now := self.clock()):
            raise InputError(
                f"as_recorded must not be in the future: it is {from_micros(now)} by the clock, "
                f"got {from_micros(recorded_at)}"
            )
        if self.files.opens_writer:
            return self.settled(lambda writer: writer.op_at(recorded_at))
        return view.op if view is not None else 0

    def close(self) -> None:
        """Finish pending work and release lock file and memory; a second call does nothing."""
        self._open_agents.discard(self)
        try:
            self.files.close()
        finally:
            self._facts = None  # it holds the columns
