"""Which turns of a talk are written? MemoTrace's write triggers, every threshold a parameter.

A `WritePolicy` says what is written; a `write_session.WriteSession` keeps the tiers and the spent
budgets. No model runs here: `turn_features` looks at words.

The state of one talk under a write policy: its memory tiers and spent budgets (MemoTrace).
The tiers are short-term memory (the latest turns) and working memory (the turns that wait). Nothing
is read from or written to disk here: turns come in with their vectors and features, and the writes
that are due come out. So the same turns always give the same writes.
"""

from collections import deque
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import MICROSECOND
from recollex_engine.domain.checks import check_count, check_names, check_number
from recollex_engine.domain.statement import Statement
from recollex_engine.domain.trust import least
from recollex_engine.errors import InputError
from recollex_mind.talks.turn_features import EVENTS, KINDS, Features, SalienceWeights, salience

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


@dataclass(frozen=True, slots=True, eq=False)
class AssessedTurn:
    """One turn with what a policy needs to know of it.

    statement: what would be written, with its time and without masked parts. tokens: those of its
    text. vector: float32, of length 1. repeated: whether the most similar text, of those stored or
    waiting, has the same words. events: the kinds of event that it states and the policy writes.
    place: its number in the talk, from 0.
    """

    statement: Statement
    said_at: int
    tokens: int
    vector: npt.NDArray[np.float32]
    salience: float
    repeated: bool
    events: tuple[str, ...]
    place: int

    @property
    def rank(self) -> tuple[bool, float]:
        """The sort key of its worth: turns with events first, then by salience."""
        return bool(self.events), self.salience


@dataclass(frozen=True, slots=True, eq=False)
class TriggeredWrite:
    """What a trigger writes: one statement, made of one turn or of several."""

    statement: Statement
    turns: tuple[AssessedTurn, ...]
    trigger: str


@dataclass(kw_only=True)
class WriteSession:
    """The tiers of one talk. Threads: one at a time.

    heard: number of turns so far. last_said: the latest time of a turn, in microseconds.
    short_term: the latest turns. working: the turns that wait, in order. spent, backfilled: tokens
    written in this session. writes: trigger -> number of its writes in this session. quiet: turns
    since the last write by salience, None if there was none. recent: vectors of the latest turns,
    by which a change of topic is found. kept: places of the turns in short-term memory that are
    written already.
    """

    heard: int = 0
    last_said: int | None = None
    short_term: deque[AssessedTurn] = field(default_factory=deque)
    working: list[AssessedTurn] = field(default_factory=list)
    spent: int = 0
    backfilled: int = 0
    writes: dict[str, int] = field(default_factory=dict)
    quiet: int | None = None
    recent: deque[npt.NDArray[np.float32]] = field(default_factory=deque)
    kept: set[int] = field(default_factory=set)

    def copy(self) -> "WriteSession":
        """Return an independent copy."""
        return replace(
            self,
            short_term=deque(self.short_term),
            working=list(self.working),
            writes=dict(self.writes),
            recent=deque(self.recent),
            kept=set(self.kept),
        )

    def advance(
        self, said_at: int, vector: npt.NDArray[np.float32], policy: WritePolicy
    ) -> list[TriggeredWrite]:
        """Return the writes due before the coming turn: a silence or a new topic causes them."""
        gap = policy.session_gap // MICROSECOND
        if self.last_said is not None and said_at - self.last_said > gap:
            return self.end(policy)
        if policy.topic_cosine is None:
            return []
        self.recent.append(vector)
        size = policy.topic_turns
        while len(self.recent) > 2 * size:
            self.recent.popleft()
        if len(self.recent) < 2 * size:
            return []
        vectors = np.stack(self.recent)
        before = vectors[:size].sum(axis=0)
        after = vectors[size:].sum(axis=0)
        norm = float(np.linalg.norm(before) * np.linalg.norm(after))
        if norm == 0 or float(before @ after) / norm >= policy.topic_cosine:
            return []
        self.recent.clear()
        return self._periodic(policy)

    def hear(self, turn: AssessedTurn, policy: WritePolicy) -> TriggeredWrite | None:
        """Take in a turn; return its write if a trigger fires, else park the turn or drop it."""
        self.heard = turn.place + 1
        self.last_said = (
            turn.said_at if self.last_said is None else max(self.last_said, turn.said_at)
        )
        self.short_term.append(turn)
        while len(self.short_term) > policy.short_term_turns:
            self.kept.discard(self.short_term.popleft().place)
        cooled = self.quiet is None or self.quiet >= policy.cooldown
        if self.quiet is not None:
            self.quiet += 1
        if turn.repeated:
            return None
        trigger = None
        if turn.events:
            trigger = "event"
        elif turn.salience >= policy.keep and cooled:
            trigger = "salience"
        if trigger is not None and self._may(trigger, turn.tokens, policy):
            if trigger == "salience":
                self.quiet = 0
            return self._write(turn.statement, (turn,), trigger, turn.tokens)
        if turn.events or turn.salience > policy.drop:
            self._park(turn, policy)
        return None

    def end(self, policy: WritePolicy) -> list[TriggeredWrite]:
        """Return the session's periodic write, and begin the next session with new budgets."""
        written = self._periodic(policy)
        self.working.clear()
        self.recent.clear()
        self.writes.clear()
        self.spent = self.backfilled = 0
        self.quiet = None
        return written

    def backfill(self, query: npt.NDArray[np.float32], policy: WritePolicy) -> list[TriggeredWrite]:
        """Return writes of the turns in the tiers that are relevant to an unanswered question.

        These turns have a cosine of at least ``backfill_score``. The best come first (ties: the
        earlier), as many as caps and tokens allow. They leave working memory.
        """
        tiers = {turn.place: turn for turn in (*self.short_term, *self.working)}
        found = [
            (-cosine, place)
            for place, turn in tiers.items()
            if place not in self.kept
            and (cosine := float(turn.vector @ query)) >= policy.backfill_score
        ]
        written = []
        for _, place in sorted(found):
            turn = tiers[place]
            if self.writes.get("backfill", 0) >= policy.cap("backfill"):
                break
            if self.backfilled + turn.tokens <= policy.backfill_tokens:
                self.working = [other for other in self.working if other.place != place]
                self.backfilled += turn.tokens
                written.append(self._write(turn.statement, (turn,), "backfill", 0))
        return written

    def _may(self, trigger: str, tokens: int, policy: WritePolicy) -> bool:
        """Return whether the budget allows a write now; the periodic write keeps its share."""
        pending = self.writes.get("periodic", 0) < policy.cap("periodic")
        budget = policy.write_tokens - (policy.periodic_tokens if pending else 0)
        return self.writes.get(trigger, 0) < policy.cap(trigger) and self.spent + tokens <= budget

    def _park(self, turn: AssessedTurn, policy: WritePolicy) -> None:
        self.working.append(turn)
        if len(self.working) > policy.working_turns:
            self.working.remove(min(self.working, key=lambda turn: turn.rank))

    def _periodic(self, policy: WritePolicy) -> list[TriggeredWrite]:
        """Return one write of the best waiting turns within the budget; the rest is dropped."""
        if self.writes.get("periodic", 0) >= policy.cap("periodic"):
            return []
        left = min(policy.periodic_tokens, policy.write_tokens - self.spent)
        chosen: list[AssessedTurn] = []
        for turn in sorted(self.working, key=lambda turn: turn.rank, reverse=True):
            if turn.tokens + 1 <= left:  # one more for the end of its line
                chosen.append(turn)
                left -= turn.tokens + 1
        if not chosen:
            return []
        chosen.sort(key=lambda turn: turn.place)
        self.working.clear()
        tokens = sum(turn.tokens + 1 for turn in chosen)
        return [self._write(summary(chosen), tuple(chosen), "periodic", tokens)]

    def _write(
        self, statement: Statement, turns: tuple[AssessedTurn, ...], trigger: str, tokens: int
    ) -> TriggeredWrite:
        self.spent += tokens
        self.writes[trigger] = self.writes.get(trigger, 0) + 1
        self.kept.update(turn.place for turn in turns)
        self.kept.intersection_update(turn.place for turn in self.short_term)
        return TriggeredWrite(statement, turns, trigger)


def summary(turns: list[AssessedTurn]) -> Statement:
    """Return one statement for several turns: their texts, a line each, at the last one's time.

    It is an extract, made without a model. The summary of one turn is that turn's statement. Its
    stamp is that of the least trusted turn.
    """
    if len(turns) == 1:
        return turns[0].statement
    last = turns[-1].statement
    ends = [turn.statement.valid_until for turn in turns]
    source, trust = least(turn.statement.stamp for turn in turns)
    sources: list[Any] = [
        turn.place if turn.statement.id is None else turn.statement.id for turn in turns
    ]
    return Statement(
        "\n".join(turn.statement.text for turn in turns),
        said_at=turns[-1].said_at,
        network=last.network,
        context=last.context,
        document=last.document,
        entities=tuple(dict.fromkeys(name for turn in turns for name in turn.statement.entities)),
        tags=last.tags,
        metadata={"write_turns": sources},
        valid_until=min((end for end in ends if end is not None), default=None),
        role=last.role if len({turn.statement.role for turn in turns}) == 1 else 0,
        source=source,
        trust=trust,
    )


def described(write: TriggeredWrite, said: dict[str, Any]) -> Statement:
    """Return a write's statement, with its trigger and reasons in the metadata."""
    first = write.turns[0]
    notes: dict[str, Any] = {"write_trigger": write.trigger}
    if write.trigger == "event":
        notes["write_events"] = list(first.events)
    notes["write_salience"] = round(max(turn.salience for turn in write.turns), 4)
    sensitive = {
        kind for turn in write.turns for kind in turn.statement.metadata.get("write_sensitive", [])
    }
    if sensitive:
        notes["write_sensitive"] = sorted(sensitive)
    statement = write.statement
    return replace(statement, metadata=statement.metadata | notes | said)


def check_metadata_free(statement: Statement, name: str) -> None:
    """Raise `InputError` if a turn's own metadata uses a key that a policy writes."""
    taken = [key for key in statement.metadata if key.startswith("write_")]
    if taken:
        raise InputError(
            f"{name}['metadata'] has the key {taken[0]!r}: those that begin with write_ are what a "
            "policy says of its writes; choose another"
        )
