"""Several operations that are recorded together, at one time, or not at all."""

from collections.abc import Mapping, Sequence
from types import EllipsisType, TracebackType
from typing import Any

from recollex.api.arguments import (
    Entities,
    checked_note,
    one_or_more,
    optional_micros,
    read_amendment,
    read_changes,
    read_statements,
)
from recollex.api.events import EventOperations
from recollex.api.fact_operations import FactOperations, Submit
from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.clock import Moment
from recollex_engine.domain.ids import random_id
from recollex_engine.domain.memory_operations import Archive, Correct, Forget, Retain
from recollex_engine.domain.operations import Operation
from recollex_engine.domain.trust import stamp
from recollex_engine.errors import InputError


class Transaction:
    """Operations that are gathered, and recorded when the block of `Agent.transaction` ends.

    After an exception in the block nothing is recorded. If an operation is refused, nothing is
    recorded either, and `errors.OperationError` names the operation. Ids are known at once, so a
    fact may cite a memory that the same transaction retains.

    >>> import recollex, tempfile
    >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
    >>> with alice.transaction(by="importer", why="first call") as tx:
    ...     memory = tx.retain("Alice joined Google.")
    ...     fact = tx.facts.add("Alice", "works_at", "Google", evidence=memory)
    >>> alice.facts.get(fact).why
    'first call'
    """

    def __init__(
        self,
        agent: AgentOrCut,
        by: str | None,
        why: str | None,
        recorded_at: Moment | None,
    ) -> None:
        self._agent = agent
        self._note = checked_note(by, why)
        self._recorded_at = optional_micros(recorded_at, "recorded_at")
        self._operations: list[Operation] = []
        self._notes: list[dict[str, str]] = []
        self.facts: FactOperations = FactOperations(self._submit, agent.clock, agent.locale)
        self.events: EventOperations = EventOperations(self._submit, agent.clock, agent.locale)

    def retain(
        self,
        text: str,
        *,
        event_at: Moment | None = None,
        zone: str | None = None,
        context: str | None = None,
        network: str = "world",
        document_id: str | None = None,
        entities: Entities = (),
        tags: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        id: str | None = None,
        valid_until: Moment | None = None,
        source: str | None = None,
        trust: str | None = None,
    ) -> str:
        """Retain a text, as `Agent.retain` does, and return its id."""
        (statement,) = read_statements(
            [text],
            event_at=event_at,
            id=random_id() if id is None else id,
            network=network,
            zone=zone,
            context=context,
            document_id=document_id,
            entities=entities,
            tags=tags,
            metadata=metadata,
            valid_until=valid_until,
            source=source,
            trust=trust,
        )
        self._submit(Retain(statement))
        return str(statement.id)

    def forget(self, id: str | Sequence[str]) -> None:
        """Forget memories, as `Agent.forget` does."""
        self._submit(Forget(one_or_more(id, "id")))

    def archive(self, id: str | Sequence[str]) -> None:
        """Archive memories, as `Agent.archive` does."""
        self._submit(Archive(one_or_more(id, "id")))

    def correct(
        self,
        id: str,
        text: str,
        *,
        event_at: Moment | None = None,
        network: str | None = None,
        context: str | None = None,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        valid_until: Moment | None = None,
        source: str | None = None,
        trust: str | None = None,
    ) -> None:
        """Correct a memory that existed before the transaction, as `Agent.correct` does."""
        changes = read_changes(
            event_at, network, context, tags, metadata, valid_until, stamp(source, trust)
        )
        self._submit(Correct(id, text, changes))

    def amend(
        self,
        id: str,
        *,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        valid_until: Moment | EllipsisType | None = ...,
        zone: str | None = None,
    ) -> None:
        """Amend a memory that existed before the transaction, as `Agent.amend` does."""
        self._submit(Correct(id, None, read_amendment(tags, metadata, valid_until, zone)))

    def _submit(
        self,
        operation: Operation,
        by: str | None = None,
        why: str | None = None,
        recorded_at: Moment | None = None,
    ) -> None:
        if recorded_at is not None:
            raise InputError("a transaction has one recorded_at: give it to transaction()")
        self._operations.append(operation)
        own = self._note if by is None and why is None else self._note | checked_note(by, why)
        self._notes.append(own)

    def __enter__(self) -> "Transaction":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        operations = self._operations
        notes = self._notes
        # `facts` keeps this object, and it keeps `facts`
        self._operations = []
        self._notes = []
        if kind is None:
            where = [
                f"operation {place} ({operation.word})"
                for place, operation in enumerate(operations, 1)
            ]
            self._agent.writable().transact(operations, notes, self._recorded_at, where)


def alone(agent: AgentOrCut) -> Submit:
    """Return a function that records each operation as a transaction of its own."""

    def submit(
        operation: Operation, by: str | None, why: str | None, recorded_at: Moment | None
    ) -> None:
        note = checked_note(by, why)
        at = optional_micros(recorded_at, "recorded_at")
        agent.writable().transact([operation], [note], at)

    return submit
