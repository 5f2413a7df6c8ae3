"""How is a memory retained? A text, a list of texts, or the turns of a talk."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any, overload

from recollex.api.arguments import (
    Entities,
    as_list,
    as_names,
    micros_per_text,
    optional_micros,
    read_statements,
    refuse_text,
)
from recollex.api.progress import progress_bar
from recollex.api.sessions import Sessions
from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.clock import Moment, check_recorded_at
from recollex_engine.domain.checks import (
    MAX_NAME,
    check_embeddings,
    check_flag,
    check_text,
    mended_turns,
)
from recollex_engine.domain.statement import Statement, network_number
from recollex_engine.domain.trust import TurnStamps
from recollex_engine.domain.turn import read_turn, split_turn
from recollex_engine.errors import InputError
from recollex_engine.models.embedder import EmbeddingProgress
from recollex_mind.talks.write_policy import WritePolicy


# How is history imported? As a transaction for each time at which something was recorded.
def retain_at_times(
    agent: AgentOrCut,
    statements: list[Statement],
    vectors: Any,
    times: Sequence[int | None],
    progress: EmbeddingProgress | None,
) -> list[str]:
    """Retain statements recorded at several times, one transaction for each; return their ids.

    times: microseconds, one for each statement, which must not go back. vectors: one for each
    statement, or None. Raises `InputError`.
    """
    for place, (before, at) in enumerate(pairwise(times), start=1):
        if before is None or at is None or at < before:
            raise InputError(
                f"recorded_at must not go back and have no gaps, got item {place} earlier than "
                "the one before it, or None"
            )
    last = times[-1]
    assert last is not None
    check_recorded_at(last, agent.clock())  # before the first transaction
    if vectors is not None:
        vectors = check_embeddings(vectors, "embedding", len(statements), agent.dimension)
    ids: list[str] = []
    for at, run in groupby(range(len(times)), times.__getitem__):
        places = list(run)
        part = slice(places[0], places[-1] + 1)
        own = None if vectors is None else vectors[part]
        ids += agent.writable().retain(statements[part], own, at, progress=progress)
    return ids


class Retaining:
    """The methods of `Agent` that retain."""

    engine: AgentOrCut
    sessions: Sessions

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
        recorded_at: Moment | None = None,
        embedding: Any = None,
        source: str | None = None,
        trust: str | None = None,
    ) -> str:
        """Retain one text, and return its id. `retain_many` takes a list.

        event_at: when it happened; now, if not given. zone: where it was said ("Asia/Tokyo" or
        "+09:00"), so that "yesterday" is the day before there; that of event_at, if not given.
        network: "world", "agent" or "opinion".
        entities: names that the text may not have; a dict {"Google": "ORGANIZATION"} also says what
        they are: see `Entity.type`.
        id: the caller's own. A memory with this id that is equal stays as it is; one that differs
        is replaced. valid_until: when it ceases to be so; no end, if not given.
        recorded_at: later than the last, for importing history. embedding: float[dimension];
        computed, if not given.

        source: where the text comes from, as you vouch for it: "user", "assistant", "tool", "web"
        or a word of your own; unknown, if not given. trust: the level of a word of your own ("web",
        if not given), or a lower one for the four: see `Memory.trust`.

        A text of more than about 130 words is kept whole, and is indexed as passages.

        Raises `errors.InputError`; then nothing is retained.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> alice.retain("Bob likes tea.", id="b1", event_at="2024-03-01T00:00:00Z", tags=["bob"])
        'b1'
        """
        given: Any = text
        if not isinstance(given, str):
            refuse_text(given)
        statements = read_statements(
            [text],
            event_at=event_at,
            id=id,
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
        vectors = None if embedding is None else [embedding]
        at = optional_micros(recorded_at, "recorded_at")
        return self.engine.writable().retain(statements, vectors, at)[0]

    def retain_many(
        self,
        texts: Sequence[str],
        *,
        event_at: Moment | Sequence[Moment | None] | None = None,
        zone: str | Sequence[str | None] | None = None,
        context: str | Sequence[str | None] | None = None,
        network: str | Sequence[str] = "world",
        document_id: str | Sequence[str | None] | None = None,
        entities: Entities | Sequence[Entities] = (),
        tags: Sequence[str] | Sequence[Sequence[str]] = (),
        metadata: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        id: str | Sequence[str | None] | None = None,
        valid_until: Moment | Sequence[Moment | None] | None = None,
        recorded_at: Moment | Sequence[Moment] | None = None,
        embedding: Any = None,
        source: str | Sequence[str | None] | None = None,
        trust: str | Sequence[str | None] | None = None,
    ) -> list[str]:
        """Retain several texts, as one transaction, and return their ids in order.

        The options are those of `retain`: each is one value for all texts, or a list of one for
        each. embedding: an array of one row for each text. recorded_at: a list must not go back,
        and each run of equal times is one transaction.

        Raises `errors.InputError`; then nothing is retained.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> alice.retain_many(["Bob likes tea.", "Bob moved to Oslo."], id=["b1", "b2"],
        ...                   event_at="2024-03-01T00:00:00Z", tags=["bob"])
        ['b1', 'b2']
        """
        statements = read_statements(
            as_list(texts, "texts", "a list of str"),
            event_at=event_at,
            id=id,
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
        count = len(statements)
        times = micros_per_text(recorded_at, "recorded_at", count)
        with progress_bar(count, "retaining") as progress:
            if len(set(times)) <= 1:
                at = times[0] if times else None
                return self.engine.writable().retain(statements, embedding, at, progress=progress)
            return retain_at_times(self.engine, statements, embedding, times, progress)

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
        recorded_at: Moment | None = None,
        policy: None = None,
        source: str | Mapping[str, str] | None = None,
        trust: str | None = None,
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
        recorded_at: Moment | None = None,
        policy: WritePolicy,
        source: str | Mapping[str, str] | None = None,
        trust: str | None = None,
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
        recorded_at: Moment | None = None,
        policy: WritePolicy | None = None,
        source: str | Mapping[str, str] | None = None,
        trust: str | None = None,
    ) -> list[str] | list[str | None]:
        """Retain a conversation turn by turn, as one transaction; return an id for each turn.

        A turn is a dict with `speaker`, `text` and `at` (a datetime with a zone, or ISO 8601), or a
        message of a chat API with `role` and `content`. `caption` (of its picture), `id`,
        `metadata` and `valid_until` are optional. The result of a tool in another's message, as in
        Anthropic's API, is a turn of the tool, with an id of its own. A turn with an id is kept
        once. Turns without an id are appended to the document. With ``replace`` the document
        becomes these turns, and turns that it holds already are not retained again. Half of a
        surrogate pair in a turn becomes "?", and a line of the log "recollex" counts such turns.

        policy: retain only the turns that its triggers write, and mask or drop what is sensitive.
        The id of a turn is then that of the memory that holds it, or None if no memory does; see
        `sessions`.

        source, trust: of all turns, as for `retain`; no turn can give its own. A dict gives a
        source for each role, such as {"user": "user", "assistant": "assistant"}, where your own
        program set the roles; a turn without a role, or with another, has no source then.

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
        number = network_number(network)
        labels = as_names(tags, "tags")
        stamps = TurnStamps.read(source, trust)
        said = mended_turns(as_list(turns, "turns", "a list of dicts"), document_id)
        statements = [
            read_turn(each, place, document_id, context, number, labels, stamps)
            for place, turn in enumerate(said)
            for each in split_turn(turn)
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
