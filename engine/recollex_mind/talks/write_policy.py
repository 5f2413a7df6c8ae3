"""Which turns of a talk are written? MemoTrace's write triggers, every threshold a parameter.

A `WritePolicy` says what is written; a `write_session.WriteSession` keeps the tiers and the spent
budgets. No model runs here: `salience` and `sensitive_slots` look at words.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, get_args

from recollex_engine.domain.checks import check_count, check_names, check_number
from recollex_engine.errors import InputError
from recollex_mind.talks.salience import EVENTS, Features, SalienceWeights, salience
from recollex_mind.talks.sensitive_slots import KINDS

TRIGGERS = ("event", "salience", "periodic", "backfill")
MOST = 1_000_000_000
"""The greatest number of turns, tokens or writes that a parameter may allow."""

Handling = Literal["keep", "mask", "expire", "drop"]
"""What happens to a sensitive slot. "keep": it stays. "mask": the name of its kind replaces it.
"expire": its turn is kept for `sensitive_for`. "drop": its turn is ignored. If a turn has several
slots, "drop" has priority."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePolicy:
    """Which turns of a talk become memories (MemoTrace, "Write triggers", "Budgets & GC").

    Every turn enters short-term memory, which is never written as such. A turn is then written (by
    a trigger), parked in working memory, or dropped. Both tiers exist in this process only.

    - event (strong): the turn's words state one of the kinds in ``events``, see `salience.EVENTS`.
    - salience (soft): its `salience.salience` is at least ``keep``. A turn with ``drop`` or less is
      not parked either.
    - periodic: at the end of a session, or when the topic changes, the best turns of working memory
      are written as one memory, and the rest is dropped.
    - backfill: an unanswered question writes the turns that are relevant to it; see `Sessions`.

    triggers: those in use.
    keep, drop: the thresholds of salience. The five weights are those of
    `salience.SalienceWeights`; novelty_share and question_factor: see `salience.salience`.
    event_cap, salience_cap, periodic_cap, backfill_cap: writes per session, None for no cap.
    cooldown: number of turns after a write by salience during which salience writes no other.
    write_tokens: a session's budget; periodic_tokens of it are reserved for the periodic write.
    backfill_tokens: a session's further budget for backfill. read_tokens: a question's budget.
    short_term_turns, working_turns: the sizes of the tiers.
    session_gap: a silence that ends a session.
    topic_turns, topic_cosine: the topic changes when the mean vector of the last topic_turns turns
    and that of as many turns before them have a cosine below topic_cosine; None: never. On LoCoMo
    1 % of the places within a session are below 0.5.
    backfill_score: the cosine below which a memory does not answer a question, and below which a
    turn is not relevant to it.
    secrets, cards, emails, phones, addresses: what happens to each kind of sensitive slot;
    sensitive_for: how long "expire" keeps a turn.

    The caps of three events and of one periodic write, and the budgets of 120 and 600 tokens, are
    the paper's.

    >>> WritePolicy().write_tokens, WritePolicy(triggers=("event",)).triggers
    (120, ('event',))
    """

    triggers: tuple[str, ...] = TRIGGERS
    events: tuple[str, ...] = EVENTS
    keep: float = 0.4
    drop: float = 0.15
    name_weight: float = 0.1
    number_weight: float = 0.2
    date_weight: float = 0.4
    personal_weight: float = 0.1
    word_weight: float = 0.5
    novelty_share: float = 0.3
    question_factor: float = 0.3
    event_cap: int | None = 3
    salience_cap: int | None = None
    periodic_cap: int | None = 1
    backfill_cap: int | None = 3
    cooldown: int = 1
    write_tokens: int = 120
    periodic_tokens: int = 40
    backfill_tokens: int = 60
    read_tokens: int = 600
    short_term_turns: int = 12
    working_turns: int = 24
    session_gap: timedelta = timedelta(hours=1)
    topic_turns: int = 4
    topic_cosine: float | None = 0.5
    backfill_score: float = 0.4
    secrets: Handling = "mask"
    cards: Handling = "mask"
    emails: Handling = "expire"
    phones: Handling = "expire"
    addresses: Handling = "expire"
    sensitive_for: timedelta = timedelta(days=7)

    def __post_init__(self) -> None:
        for name, known in (("triggers", TRIGGERS), ("events", EVENTS)):
            given = getattr(self, name)
            check_names(given, name)
            if unknown := [value for value in given if value not in known]:
                raise InputError(f"{name} must be some of {', '.join(known)}, got {unknown[0]!r}")
            object.__setattr__(self, name, tuple(given))
        for name in (
            "keep",
            "drop",
            "name_weight",
            "number_weight",
            "date_weight",
            "personal_weight",
            "word_weight",
            "novelty_share",
            "question_factor",
            "backfill_score",
        ):
            check_number(getattr(self, name), name, 0, 1)
        if self.drop > self.keep:
            raise InputError(f"drop must be at most keep, {self.keep:g}, got {self.drop:g}")
        for name in ("event_cap", "salience_cap", "periodic_cap", "backfill_cap"):
            if getattr(self, name) is not None:
                check_count(getattr(self, name), name, 0, MOST)
        for name in ("cooldown", "write_tokens", "periodic_tokens", "backfill_tokens"):
            check_count(getattr(self, name), name, 0, MOST)
        if self.periodic_tokens > self.write_tokens:
            raise InputError(
                f"periodic_tokens are a part of write_tokens, {self.write_tokens}, and cannot be "
                f"more, got {self.periodic_tokens}"
            )
        check_count(self.read_tokens, "read_tokens", 1, MOST)
        check_count(self.short_term_turns, "short_term_turns", 0, 100_000)
        check_count(self.working_turns, "working_turns", 0, 100_000)
        check_count(self.topic_turns, "topic_turns", 1, 1_000)
        if self.topic_cosine is not None:
            check_number(self.topic_cosine, "topic_cosine", -1, 1)
        for name in ("session_gap", "sensitive_for"):
            value = getattr(self, name)
            if not isinstance(value, timedelta) or value <= timedelta(0):
                raise InputError(f"{name} must be a timedelta longer than 0, got {value!r}")
        for kind in KINDS:
            if self.handling(kind) not in get_args(Handling):
                raise InputError(
                    f"{_PARAMETER[kind]} must be one of {', '.join(get_args(Handling))}, "
                    f"got {self.handling(kind)!r}"
                )

    @property
    def weights(self) -> SalienceWeights:
        """The weight of each feature of a turn."""
        return SalienceWeights(
            self.name_weight,
            self.number_weight,
            self.date_weight,
            self.personal_weight,
            self.word_weight,
        )

    def salience(self, features: Features, novelty: float) -> float:
        """Return a turn's salience, in [0, 1]: `salience.salience` with these parameters."""
        return salience(features, novelty, self.weights, self.novelty_share, self.question_factor)

    def handling(self, kind: str) -> Handling:
        """Return what happens to a kind of sensitive slot.

        >>> WritePolicy(phones="drop").handling("phone")
        'drop'
        """
        value: Handling = getattr(self, _PARAMETER[kind])
        return value

    def cap(self, trigger: str) -> int:
        """Return how often a trigger may write in a session: 0 for a trigger that is not in use."""
        if trigger not in self.triggers:
            return 0
        value: int | None = getattr(self, f"{trigger}_cap")
        return MOST if value is None else value


_PARAMETER = {
    "secret": "secrets",
    "card": "cards",
    "email": "emails",
    "phone": "phones",
    "address": "addresses",
}
