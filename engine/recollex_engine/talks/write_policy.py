"""Which turns of a talk are worth writing? MemoTrace's write triggers, every threshold a parameter.

A policy says what is written; a `write_session.WriteSession` keeps the tiers and what was spent.
Nothing here reads a model: `salience` and `sensitive` look at words.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, get_args

from recollex_engine.domain.checks import check_count, check_number
from recollex_engine.domain.statement import check_names
from recollex_engine.errors import InputError
from recollex_engine.talks.salience import EVENTS, Features, Weights, salience
from recollex_engine.talks.sensitive_slots import KINDS

TRIGGERS = ("event", "salience", "periodic", "backfill")
MOST = 1_000_000_000
"""Turns, tokens or writes that a parameter may allow."""

Handling = Literal["keep", "mask", "expire", "drop"]
"""What becomes of a sensitive slot: it stays, its kind stands in its place, its turn is kept for
`sensitive_for`, or its turn is not heard at all. In one turn, the last of these holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePolicy:
    """What of a talk is written to long-term memory (MemoTrace, "Write triggers", "Budgets & GC").

    Every turn enters short-term memory, which is never written as such. A turn is then written (by
    a trigger), parked in working memory, or left. Both tiers live in this process alone.

    - event (strong): a statement of one of the kinds in ``events``.
    - salience (soft): `salience.salience` of at least ``keep``; at ``drop`` or less a turn is not
      parked either.
    - periodic: at the end of a session, or where the topic turns, the best of working memory is
      written as one memory, and the rest dropped.
    - backfill: a question that is not answered writes turns that bear on it; see `Sessions`.

    triggers: those in use. keep, drop, and the weights of `salience.Weights`; novelty_share and
    question_factor: see `salience.salience`. event_cap, salience_cap, periodic_cap, backfill_cap:
    writes a session, None for no cap. cooldown: turns after a write by salience in which there is
    no other.
    write_tokens: a session's budget, of which periodic_tokens are left to the periodic write;
    backfill_tokens: a session's, beside it; read_tokens: a question's. short_term_turns and
    working_turns: what the tiers hold. session_gap: a silence that ends a session. topic_turns,
    topic_cosine: the topic turns where the mean vectors of so many turns and of as many before them
    are less alike than this; None never looks. backfill_score: the cosine below which a memory does
    not answer a question, and a turn does not bear on it. secrets, cards, emails, phones,
    addresses: what becomes of each; sensitive_for: how long "expire" keeps.

    Budgets and caps of three events, one periodic write, 120 and 600 tokens are the paper's.

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
    topic_cosine: float | None = None
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
            *("keep", "drop", "name_weight", "number_weight", "date_weight", "personal_weight"),
            *("word_weight", "novelty_share", "question_factor", "backfill_score"),
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
    def weights(self) -> Weights:
        """What each part of a turn's content weighs."""
        return Weights(
            self.name_weight,
            self.number_weight,
            self.date_weight,
            self.personal_weight,
            self.word_weight,
        )

    def salience(self, features: Features, novelty: float) -> float:
        """Return how much a turn tells, in [0, 1]: `salience.salience` with these parameters."""
        return salience(features, novelty, self.weights, self.novelty_share, self.question_factor)

    def handling(self, kind: str) -> Handling:
        """Return what becomes of a kind of sensitive slot.

        >>> WritePolicy(phones="drop").handling("phone")
        'drop'
        """
        value: Handling = getattr(self, _PARAMETER[kind])
        return value

    def cap(self, trigger: str) -> int:
        """Return how often a trigger may write in a session: 0 for one that is not in use."""
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
