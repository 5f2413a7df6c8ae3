"""The conversations that a write policy reads: their latest turns, and those not yet written."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from recollex.api.arguments import checked_id, optional_micros
from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.clock import Moment, from_micros
from recollex_engine.domain.statement import Statement
from recollex_engine.errors import InputError
from recollex_engine.models.embedder import EmbeddingProgress
from recollex_engine.recall.recall import Recall
from recollex_mind.talks import sessions
from recollex_mind.talks.write_policy import AssessedTurn, WritePolicy, check_metadata_free


@dataclass(frozen=True, slots=True)
class HeardTurn:
    """A turn in short-term or working memory of a conversation, as it would be written.

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
    """The conversations of an agent, from `Agent.sessions`, by their document ids.

    `Agent.retain_dialogue` with a policy adds turns to them. They live in this process: turns that
    are not written when it ends are lost, as in MemoTrace.

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

    def __init__(
        self,
        agent: AgentOrCut,
        recall: Callable[..., Recall],
        on_heard: Callable[[], None] | None = None,
    ) -> None:
        self._sessions = sessions.Sessions(agent)
        self._recall = recall
        self._on_heard = on_heard

    @property
    def heard(self) -> int:
        """The number of conversations whose turns are held."""
        return len(self._sessions)

    def short_term(self, document_id: str) -> list[HeardTurn]:
        """Return the latest turns of a conversation, written or not, in order.

        Raises `errors.UnknownIdError` for a document id that no policy has read.
        """
        session = self._talk(document_id).session
        return [_heard(turn, turn.place in session.kept) for turn in session.short_term]

    def working(self, document_id: str) -> list[HeardTurn]:
        """Return the turns of a conversation that wait to be written or dropped, in order.

        Raises `errors.UnknownIdError`.
        """
        return [_heard(turn, False) for turn in self._talk(document_id).session.working]

    def end(self, document_id: str, *, recorded_at: Moment | None = None) -> list[str]:
        """End a conversation's session, and return the ids of the memories that were written.

        The best turns of working memory are written as one memory, the others are dropped, and
        caps and budgets start again. A turn that comes after a silence of `WritePolicy.session_gap`
        ends the session, too. Raises `errors.UnknownIdError`.
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
        recorded_at: Moment | None = None,
        **options: Any,
    ) -> Recall:
        """Return `Agent.recall` within the policy's ``read_tokens``, after a backfill if needed.

        options: those of `Agent.recall`. If `backfill` writes something, the question is asked
        again; a cut of the past (``as_recorded``) does not show it, and its answer stays the same.
        """
        given = {"max_tokens": self._talk(document_id).policy.read_tokens} | options
        first = self._recall(query, **given)
        cut: CutClock | None = None
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
        cut: "CutClock | None" = None,
        recorded_at: Moment | None = None,
    ) -> list[str]:
        """Write the turns that are similar to a question which ``recall`` leaves open.

        A recall leaves its question open if it is empty, if its best memories are less similar to
        the question than ``backfill_score``, or if the question names a time and none of the
        memories is of that time. because: the caller found the question open itself: it abstained,
        or met a contradiction, such as `Fact.conflicts`. cut: the cut that was asked. Both are kept
        in the metadata of the memories. Returns the ids, most similar first; an empty list
        if the question is answered, or no turn is similar.
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

    def forget_expired(self, *, recorded_at: Moment | None = None) -> list[str]:
        """Forget the sensitive turns whose time to live is over, and return their ids.

        `retain_dialogue` with a policy does this itself, unless it is given ``recorded_at``.
        """
        return self._sessions.forget_expired(optional_micros(recorded_at, "recorded_at"))

    def write(
        self,
        document_id: str,
        statements: Iterable[Statement],
        policy: object,
        recorded_at: int | None,
        progress: EmbeddingProgress | None,
    ) -> list[str | None]:
        """Give statements to the session of a conversation; for `Agent.retain_dialogue`."""
        if not isinstance(policy, WritePolicy):
            raise InputError(
                f"policy must be a recollex.WritePolicy, got {type(policy).__name__}: "
                "policy=recollex.WritePolicy() is one"
            )
        heard = list(statements)
        for place, statement in enumerate(heard):
            check_metadata_free(statement, f"turns[{place}]")
        if self._on_heard is not None:
            self._on_heard()
        return self._sessions.write(document_id, heard, policy, recorded_at, progress)

    def _talk(self, document_id: object) -> sessions.PolicySession:
        return self._sessions.talk(checked_id(document_id, "document_id"))


Because = Literal["abstention", "temporal conflict"]
CutClock = Literal["as_recorded", "as_world"]


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
