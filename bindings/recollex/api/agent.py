"""One agent's memory: the methods that retain and recall."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, overload

from recollex.api import dsl
from recollex.api.arguments import (
    as_list,
    as_names,
    checked_id,
    checked_note,
    micros_per_text,
    optional_micros,
)
from recollex.api.events import Events
from recollex.api.facts import Facts
from recollex.api.history import History
from recollex.api.memory_changes import MemoryChanges
from recollex.api.progress import progress_bar
from recollex.api.questions import read_kinds, read_question
from recollex.api.retain_at_times import retain_at_times
from recollex.api.sessions import Sessions
from recollex.api.statements import read_statements
from recollex.api.transaction import Transaction, alone
from recollex_engine.agents.cut import AgentOrCut, Cut
from recollex_engine.agents.stats import Stats
from recollex_engine.agents.verification import Verification, verify
from recollex_engine.clock import from_micros, to_micros
from recollex_engine.domain.checks import (
    MAX_NAME,
    check_count,
    check_embedding,
    check_flag,
    check_text,
)
from recollex_engine.domain.packing_options import Packing, find_packing
from recollex_engine.domain.roles import role_number
from recollex_engine.domain.statement import network_number
from recollex_engine.domain.turn import read_turn
from recollex_engine.errors import InputError
from recollex_engine.ranking.presets import DEFAULT, Preset, find_preset
from recollex_engine.recall.memory import Memory
from recollex_engine.recall.recall import Recall
from recollex_engine.talks.write_policy import WritePolicy


class Agent(History, MemoryChanges):
    """The memory of one agent, from `Store.agent`.

    Threads: any number may retain and recall at once.
    """

    def __init__(self, agent: AgentOrCut) -> None:
        super().__init__(agent)
        self.facts = Facts(agent, alone(agent))
        self.events = Events(agent, alone(agent))
        self.sessions = Sessions(agent, self.recall)

    @property
    def name(self) -> str:
        """The agent's id."""
        return self.engine.name

    def retain(
        self,
        text: str | Sequence[str],
        *,
        event_at: datetime | Sequence[datetime | None] | None = None,
        context: str | Sequence[str | None] | None = None,
        network: str | Sequence[str] = "world",
        document_id: str | Sequence[str | None] | None = None,
        entities: Sequence[str] | Sequence[Sequence[str]] = (),
        tags: Sequence[str] | Sequence[Sequence[str]] = (),
        metadata: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        id: str | Sequence[str | None] | None = None,
        valid_until: datetime | Sequence[datetime | None] | None = None,
        recorded_at: datetime | Sequence[datetime] | None = None,
        embedding: Any = None,
    ) -> list[str]:
        """Retain one text or many, as one transaction, and return their ids in order.

        Every option takes one value for all texts or, for a list of texts, a list of one for each.
        event_at: when it happened; now, if not given. network: "world", "agent" or "opinion".
        id: the caller's own. A memory with this id that is equal stays as it is; one that differs
        is replaced. valid_until: when it ceases to be so; no end, if not given.
        recorded_at: later than the last, for importing history. A list must not go back, and each
        run of equal times is one transaction.
        embedding: float[dimension], or an array of one row for each text; computed, if not given.

        A text of more than about 130 words is kept whole, and is indexed as passages.

        Raises `errors.InputError`; then nothing is retained.

        >>> import recollex, tempfile
        >>> from datetime import UTC, datetime
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> alice.retain(["Bob likes tea.", "Bob moved to Oslo."], id=["b1", "b2"],
        ...              event_at=datetime(2024, 3, 1, tzinfo=UTC), tags=["bob"])
        ['b1', 'b2']
        """
        statements = read_statements(
            text,
            event_at=event_at,
            id=id,
            network=network,
            context=context,
            document_id=document_id,
            entities=entities,
            tags=tags,
            metadata=metadata,
            valid_until=valid_until,
        )
        count, single = len(statements), isinstance(text, str)
        vectors = [embedding] if single and embedding is not None else embedding
        times = micros_per_text(recorded_at, "recorded_at", count)
        with progress_bar(count, "retaining") as progress:
            if len(set(times)) <= 1:
                at = times[0] if times else None
                return self.engine.writable().retain(statements, vectors, at, progress=progress)
            return retain_at_times(self.engine, statements, vectors, times, progress)

    @overload
    def retain_dialogue(
        self,
        turns: Iterable[Mapping[str, Any]],
        *,
        document_id: str,
        context: str | None = None,
        network: str = "world",
        tags: Sequence[str] = (),
        replace: bool = False,
        recorded_at: datetime | None = None,
        policy: None = None,
    ) -> list[str]: ...
    @overload
    def retain_dialogue(
        self,
        turns: Iterable[Mapping[str, Any]],
        *,
        document_id: str,
        context: str | None = None,
        network: str = "world",
        tags: Sequence[str] = (),
        recorded_at: datetime | None = None,
        policy: WritePolicy,
    ) -> list[str | None]: ...
    def retain_dialogue(
        self,
        turns: Iterable[Mapping[str, Any]],
        *,
        document_id: str,
        context: str | None = None,
        network: str = "world",
        tags: Sequence[str] = (),
        replace: bool = False,
        recorded_at: datetime | None = None,
        policy: WritePolicy | None = None,
    ) -> list[str] | list[str | None]:
        """Retain a conversation turn by turn, as one transaction; return an id for each turn.

        A turn is a dict with `speaker`, `text` and `at` (a datetime with a zone, or ISO 8601), or a
        message of a chat API with `role` and `content`. `caption` (of its picture), `id`,
        `metadata` and `valid_until` are optional. A turn with an id is kept once. Turns without an
        id are appended to the document. With ``replace`` the document becomes these turns, and
        turns that it holds already are not retained again.

        policy: retain only the turns that its triggers write, and mask or drop what is sensitive.
        The id of a turn is then that of the memory that holds it, or None if no memory does; see
        `sessions`.

        Raises `errors.InputError`; then nothing is retained.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> ids = alice.retain_dialogue([
        ...     {"speaker": "Ann", "text": "I got a puppy!", "at": "2024-05-04T10:00:00Z"},
        ...     {"speaker": "Ben", "text": "What is it called?", "at": "2024-05-04T10:00:20Z"},
        ... ], document_id="call-1")
        >>> alice.get(ids[0]).speaker
        'Ann'
        """
        check_text(document_id, "document_id", MAX_NAME)
        check_flag(replace, "replace")
        if replace and policy is not None:
            raise InputError("replace and policy do not go together: a policy keeps a part")
        if context is not None:
            check_text(context, "context", MAX_NAME)
        number, labels = network_number(network), as_names(tags, "tags")
        statements = [
            read_turn(turn, place, document_id, context, number, labels)
            for place, turn in enumerate(as_list(turns, "turns", "a list of dicts"))
        ]
        at = optional_micros(recorded_at, "recorded_at")
        with progress_bar(len(statements), "retaining") as progress:
            if policy is not None:
                return self.sessions.write(document_id, statements, policy, at, progress)
            return self.engine.writable().retain(
                statements,
                recorded_at=at,
                replace_document=document_id if replace else None,
                progress=progress,
            )

    def recall(
        self,
        query: str,
        *,
        thinking_budget: int = 100,
        max_tokens: int = 4096,
        networks: Sequence[str] | str | None = None,
        roles: Sequence[str] | str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        tags: Sequence[str] = (),
        where: Mapping[str, Any] | None = None,
        entities: Sequence[str] = (),
        document_id: str | None = None,
        now: datetime | None = None,
        exact: bool = False,
        query_embedding: Any = None,
        preset: Preset | str = DEFAULT,
        min_confidence: float = 0.0,
        explain: bool = False,
        as_recorded: datetime | None = None,
        as_world: datetime | None = None,
        pack: Packing | str | None = None,
    ) -> Recall:
        """Return the memories that answer ``query``, best first, within ``max_tokens``.

        thinking_budget: the most memories that each arm may find; more find more, and take longer.
        networks, roles (of the speakers), since and until (of the event's time), tags, where
        (metadata), entities and document_id are filters; a memory must meet all of them. now: the
        time that words such as "last week" in the query are relative to. exact: compare with every
        vector, even where an index is faster. query_embedding: float[dimension]; computed, if not
        given. preset: how to rank, one of `recollex.presets` or its name. min_confidence: in [0,
        1]; if `Recall.confidence`, the probability that there is an answer, is lower, no memories
        are returned. explain: fill in each arm's scores and what each part of the ranking added.
        A query that is all in "double quotes" returns the memories that hold these words in this
        order; quotes within a question raise such memories.
        as_recorded: recall as of this recorded time, without what was recorded later; see `at`.
        as_world: return only what was so at this time of the world, by today's knowledge: what had
        happened by then, and whose `valid_until`, if it has one, had not come. With both: what was
        believed at ``as_recorded`` about ``as_world``.
        pack: "subgraph" or a `Packing` also fills `Recall.subgraph` with the events and facts
        around these memories, and their evidence, within ``max_tokens`` of their own.

        Raises `errors.InputError`.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> ids = alice.retain(["Bob moved to Oslo.", "Ann plays the cello."])
        >>> alice.recall("Who makes music?", max_tokens=10)[0].text
        'Ann plays the cello.'
        """
        check_flag(explain, "explain")
        agent: AgentOrCut = self.engine
        if as_recorded is not None:
            agent = Cut.at(agent, to_micros(as_recorded, "as_recorded"))
        dimension = 0 if query_embedding is None else self.engine.dimension
        kinds = (
            read_kinds(networks, "networks", network_number),
            read_kinds(roles, "roles", role_number),
        )
        vector = None
        if query_embedding is not None:
            vector = check_embedding(query_embedding, "query_embedding", dimension)
        question = read_question(
            query,
            thinking_budget=thinking_budget,
            max_tokens=max_tokens,
            kinds=kinds,
            interval=(since, until),
            tags=tags,
            where=where,
            entities=entities,
            document_id=document_id,
            now=now,
            exact=exact,
            embedding=vector,
            as_world=as_world,
            min_confidence=min_confidence,
        )
        if (packing := find_packing(pack)) is not None:
            question = replace(question, packing=packing)
        return agent.recall(question, find_preset(preset), explain)

    def recall_many(self, /, queries: Iterable[str], **options: Any) -> list[Recall]:
        """Return a recall for each query, in order; the options are those of `recall`.

        query_embedding: an array of one row for each query. Raises `errors.InputError`.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> ids = alice.retain(["Bob moved to Oslo.", "Ann plays the cello."])
        >>> recalls = alice.recall_many(["Where is Bob?", "Who makes music?"], max_tokens=10)
        >>> [recall[0].text for recall in recalls]
        ['Bob moved to Oslo.', 'Ann plays the cello.']
        """
        questions = as_list(queries, "queries", "a list of str")
        given = options.pop("query_embedding", None)
        vectors = (
            [None] * len(questions)
            if given is None
            else as_list(given, "query_embedding", "a list of one row a query")
        )
        if len(vectors) != len(questions):
            raise InputError(
                f"query_embedding must have one row a query: {len(questions)} queries, "
                f"got {len(vectors)} rows"
            )
        return [
            self.recall(query, query_embedding=vector, **options)
            for query, vector in zip(questions, vectors, strict=True)
        ]

    def get(self, id: str) -> Memory:
        """Return the memory with this id, archived or not.

        Raises `errors.UnknownIdError` for an id that does not exist, or was forgotten or replaced.
        """
        return self.engine.get(checked_id(id))

    def list(self, *, after: str | None = None, limit: int = 100) -> list[Memory]:
        """Return up to ``limit`` memories in the order in which they were recorded.

        after: the id of the last memory of the page before.
        """
        check_count(limit, "limit", 1, 1_000_000)
        return self.engine.list(None if after is None else checked_id(after), limit)

    def transaction(
        self,
        *,
        by: str | None = None,
        why: str | None = None,
        recorded_at: datetime | None = None,
    ) -> Transaction:
        """Return a `with` block whose operations are recorded together, or not at all.

        by, why: of every operation, for the log. See `Transaction`.
        """
        return Transaction(self.engine, by, why, recorded_at)

    def apply(
        self,
        operations: Iterable[Mapping[str, Any]],
        *,
        by: str | None = None,
        why: str | None = None,
        recorded_at: datetime | None = None,
    ) -> int:
        """Record operations given as JSON objects, as one transaction; see `recollex.api.dsl`.

        Returns the number of records that they made; an operation that changes nothing makes none.
        Raises `errors.OperationError`, naming the operation that was refused; then nothing is
        recorded.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> alice.apply([{"op": "UPSERT_EDGE", "subject": "Alice", "predicate": "works_at",
        ...               "object": "Google", "valid": ["2023-11-06", None]}], by="doctest")
        1
        """
        at = optional_micros(recorded_at, "recorded_at")
        given = as_list(operations, "operations", "a list of dicts")
        parser = dsl.OperationParser(now=self.engine.clock)
        group = parser.parse_transaction(given, checked_note(by, why), at)
        write = self.engine.writable().transact
        return write(group.operations, group.notes, group.recorded_at, group.where)

    def stats(self) -> Stats:
        """Return how much the agent holds: memories, facts, bytes."""
        return self.engine.stats()

    def checkpoint(self) -> None:
        """Merge what was retained lately into the indexes now, not later in the background."""
        self.engine.writable().checkpoint()

    def verify(self) -> Verification:
        """Check the hash chain of the log, and the columns and indexes against the log."""
        with progress_bar(None, "verifying") as progress:
            return verify(self.engine, progress)

    def __repr__(self) -> str:
        moment = (
            f" as of {from_micros(self.engine.recorded_at)}" if isinstance(self.engine, Cut) else ""
        )
        return f"<recollex.Agent {self.name!r}{moment}>"
