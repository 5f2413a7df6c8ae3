"""The talks that a write policy listens to: what was heard lately, what waits, what is missing."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from recollex.api.arguments import checked_id, optional_micros
from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.clock import from_micros
from recollex_engine.domain.statement import Statement
from recollex_engine.errors import InputError
from recollex_engine.models.embedder import Progress
from recollex_engine.recall.recall import Recall
from recollex_engine.talks import sessions
from recollex_engine.talks.write_policy import WritePolicy
from recollex_engine.talks.write_session import AssessedTurn


@dataclass(frozen=True, slots=True)
class HeardTurn:
    """A turn in one of a talk's tiers, as it would be written.

    salience: how much it tells, in [0, 1]. events: the kinds of event that it states. written:
    whether a memory holds it.
    """

    text: str
    speaker: str | None
    at: datetime
    salience: float
    events: tuple[str, ...]
    written: bool


class Sessions:
    """The talks of an agent, from `Agent.sessions`, by the document id of `retain_dialogue`.

    They live in this process: what waits in them when it ends is gone, as MemoTrace wants it.

    >>> import recollex, tempfile
    >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
    >>> turns = [{"speaker": "Ann", "text": text, "at": "2024-05-04T10:00:00Z"} for text in
    ...          ("Hi there!", "I moved to Bergen in March.", "I grew up by the sea with Eve.")]
    >>> ids = alice.retain_dialogue(turns, document_id="call-1", policy=recollex.WritePolicy())
    >>> [id is not None for id in ids]
    [False, True, False]
    >>> [turn.text for turn in alice.sessions.working("call-1")]
    ['Ann: I grew up by the sea with Eve.']
    """

    def __init__(self, agent: AgentOrCut, recall: Callable[..., Recall]) -> None:
        self._sessions = sessions.Sessions(agent)
        self._recall = recall

    @property
    def heard(self) -> int:
        """How many talks a policy has listened to, and still holds something of."""
        return len(self._sessions)

    def short_term(self, document_id: str) -> list[HeardTurn]:
        """Return the latest turns of a talk, written or not, in order.

        Raises `errors.UnknownIdError` for a talk that no policy has listened to.
        """
        session = self._talk(document_id).session
        return [_heard(turn, turn.place in session.kept) for turn in session.short_term]

    def working(self, document_id: str) -> list[HeardTurn]:
        """Return the turns of a talk that wait to be written or dropped, in order."""
        return [_heard(turn, False) for turn in self._talk(document_id).session.working]

    def end(self, document_id: str, *, recorded_at: datetime | None = None) -> list[str]:
        """End a talk's session, and return the ids of what its periodic write made.

        The best of working memory is written as one memory, the rest dropped; caps and budgets
        begin anew. A silence of `WritePolicy.session_gap` does the same when the next turn comes.
        """
        return self._sessions.end(
            checked_id(document_id), optional_micros(recorded_at, "recorded_at")
        )

    def recall(
        self,
        /,
        query: str,
        *,
        document_id: str,
        recorded_at: datetime | None = None,
        **options: Any,
    ) -> Recall:
        """Return `Agent.recall` within the policy's ``read_tokens``, after a backfill if need be.

        options: those of `Agent.recall`. Where `backfill` writes something, the question is asked
        again; a cut of the past (``as_recorded``) does not see it, and is answered as it was.
        """
        given = {"max_tokens": self._talk(document_id).policy.read_tokens} | options
        first = self._recall(query, **given)
        cut: Cut | None = None
        if options.get("as_recorded") is not None:
            cut = "as_recorded"
        elif options.get("as_world") is not None:
            cut = "as_world"
        written = self.backfill(first, document_id=document_id, cut=cut, recorded_at=recorded_at)
        return self._recall(query, **given) if written else first

    def backfill(
        self,
        recall: Recall,
        *,
        document_id: str,
        because: "Because | None" = None,
        cut: "Cut | None" = None,
        recorded_at: datetime | None = None,
    ) -> list[str]:
        """Write the turns of a talk's tiers that bear on a question which ``recall`` leaves open.

        That is: it is empty, its best memories are less like the question than ``backfill_score``,
        or the question names a time of which none of them speaks. because: the caller says so
        itself, having abstained or found a contradiction, such as `Fact.conflicts`. cut: under
        which the question was asked. Both are kept in the memories' metadata. Returns the ids, in
        order of likeness; none where the question is answered, or nothing bears on it.
        """
        if because not in (None, "abstention", "temporal conflict"):
            raise InputError(
                f"because must be 'abstention', 'temporal conflict' or None, got {because!r}"
            )
        if cut not in (None, "as_recorded", "as_world"):
            raise InputError(f"cut must be 'as_recorded', 'as_world' or None, got {cut!r}")
        return self._sessions.backfill(
            checked_id(document_id),
            recall,
            because,
            cut,
            optional_micros(recorded_at, "recorded_at"),
        )

    def forget_expired(self, *, recorded_at: datetime | None = None) -> list[str]:
        """Forget the sensitive turns whose time is over, and return their ids.

        `retain_dialogue` with a policy does it by itself unless it is given ``recorded_at``.
        """
        return self._sessions.forget_expired(optional_micros(recorded_at, "recorded_at"))

    def write(
        self,
        document_id: str,
        statements: Iterable[Statement],
        policy: object,
        recorded_at: int | None,
        progress: Progress | None,
    ) -> list[str | None]:
        """Hear statements; for `Agent.retain_dialogue`."""
        if not isinstance(policy, WritePolicy):
            raise InputError(
                f"policy must be a recollex.WritePolicy, got {type(policy).__name__}: "
                "policy=recollex.WritePolicy() is one"
            )
        heard = list(statements)
        for place, statement in enumerate(heard):
            sessions.check_metadata_free(statement, f"turns[{place}]")
        return self._sessions.write(document_id, heard, policy, recorded_at, progress)

    def _talk(self, document_id: object) -> sessions.Talk:
        return self._sessions.talk(checked_id(document_id, "document_id"))


Because = Literal["abstention", "temporal conflict"]
Cut = Literal["as_recorded", "as_world"]


def _heard(turn: AssessedTurn, written: bool) -> HeardTurn:
    statement = turn.statement
    return HeardTurn(
        statement.text,
        statement.speaker,
        from_micros(turn.said_at),
        turn.salience,
        turn.events,
        written,
    )
