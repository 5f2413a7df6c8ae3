"""A talk's tiers against a naive reference that looks through all turns again at every step."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.domain.statement import Statement
from recollex_engine.errors import InputError
from recollex_mind.talks.write_policy import AssessedTurn, WritePolicy, WriteSession, summary

MINUTE = 60_000_000
AXES = np.eye(8, dtype=np.float32)


def turn(place: int, **given: Any) -> AssessedTurn:
    said = given.get("said_at", place * MINUTE)
    return AssessedTurn(
        Statement(
            given.get("text", f"turn {place}"), said_at=said, id=given.get("id", f"t{place}")
        ),
        said,
        given.get("tokens", 10),
        AXES[given.get("axis", place % 8)],
        given.get("salience", 0.3),
        given.get("repeated", False),
        given.get("events", ()),
        place,
    )


def tell(
    session: WriteSession, policy: WritePolicy, turns: list[AssessedTurn]
) -> list[tuple[str, Any]]:
    """Hear turns and return what was written: (trigger, places)."""
    written = []
    for each in turns:
        written += session.advance(each.said_at, each.vector, policy)
        if (writing := session.hear(each, policy)) is not None:
            written.append(writing)
    return [(writing.trigger, tuple(t.place for t in writing.turns)) for writing in written]


@dataclass
class Naive:
    """The same rules, each worked out from the whole list of what was heard and written.

    A session is the turns since `since`; everything else follows from `log`.
    """

    policy: WritePolicy
    turns: list[AssessedTurn] = field(default_factory=list)
    log: list[tuple[int, str, tuple[int, ...], int]] = field(default_factory=list)
    since: int = 0
    dropped: set[int] = field(default_factory=set)

    def session_log(self) -> list[tuple[int, str, tuple[int, ...], int]]:
        return [entry for entry in self.log if entry[0] >= self.since]

    def count(self, trigger: str) -> int:
        return sum(entry[1] == trigger for entry in self.session_log())

    def spent(self) -> int:
        return sum(entry[3] for entry in self.session_log())

    def cap(self, trigger: str) -> float:
        if trigger not in self.policy.triggers:
            return 0
        cap = getattr(self.policy, f"{trigger}_cap")
        return float("inf") if cap is None else cap

    def waiting(self) -> list[AssessedTurn]:
        written = {place for entry in self.log for place in entry[2]}
        waiting: list[AssessedTurn] = []
        for each in self.turns[self.since :]:
            if each.place in written or each.place in self.dropped:
                continue
            if each.repeated:
                continue
            if each.events or each.salience > self.policy.drop:
                waiting.append(each)
        return waiting

    def trim(self) -> None:
        waiting = self.waiting()
        if len(waiting) > self.policy.working_turns:
            worst = min(waiting, key=lambda t: (bool(t.events), t.salience, t.place))
            self.dropped.add(worst.place)

    def periodic(self, now: int) -> list[tuple[str, tuple[int, ...]]]:
        if self.count("periodic") >= self.cap("periodic"):
            return []
        left = min(self.policy.periodic_tokens, self.policy.write_tokens - self.spent())
        chosen: list[AssessedTurn] = []
        ranked = sorted(self.waiting(), key=lambda t: (-bool(t.events), -t.salience, t.place))
        for each in ranked:
            if sum(t.tokens + 1 for t in chosen) + each.tokens + 1 <= left:
                chosen.append(each)
        if not chosen:
            return []
        places = tuple(sorted(t.place for t in chosen))
        self.dropped.update(t.place for t in self.waiting())
        self.log.append((now, "periodic", places, sum(t.tokens + 1 for t in chosen)))
        return [("periodic", places)]

    def hear(self, each: AssessedTurn) -> list[tuple[str, tuple[int, ...]]]:
        found = []
        now = len(self.turns)
        gap = self.policy.session_gap // timedelta(microseconds=1)
        last = max((t.said_at for t in self.turns), default=None)
        if last is not None and each.said_at - last > gap:
            found = self.periodic(now - 1)
            self.since = now
        self.turns.append(each)
        if each.repeated:
            return found
        by_salience = [entry[0] for entry in self.session_log() if entry[1] == "salience"]
        cooled = not by_salience or now - by_salience[-1] > self.policy.cooldown
        trigger = "event" if each.events else None
        if trigger is None and each.salience >= self.policy.keep and cooled:
            trigger = "salience"
        budget = self.policy.write_tokens
        if self.count("periodic") < self.cap("periodic"):
            budget -= self.policy.periodic_tokens
        if (
            trigger is not None
            and self.count(trigger) < self.cap(trigger)
            and self.spent() + each.tokens <= budget
        ):
            self.log.append((now, trigger, (now,), each.tokens))
            found.append((trigger, (now,)))
        self.trim()
        return found


policies = st.builds(
    WritePolicy,
    triggers=st.sampled_from(
        [("event", "salience", "periodic"), ("event",), ("salience", "periodic"), ()]
    ),
    keep=st.sampled_from([0.4, 0.5]),
    drop=st.sampled_from([0.0, 0.2]),
    event_cap=st.sampled_from([None, 0, 1, 3]),
    salience_cap=st.sampled_from([None, 1]),
    periodic_cap=st.sampled_from([None, 0, 1]),
    cooldown=st.integers(0, 3),
    write_tokens=st.sampled_from([20, 60, 120]),
    periodic_tokens=st.sampled_from([0, 20]),
    working_turns=st.integers(0, 4),
    short_term_turns=st.integers(0, 4),
    session_gap=st.sampled_from([timedelta(minutes=2), timedelta(hours=1)]),
    topic_cosine=st.none(),
)
heard = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.2, 0.3, 0.4, 0.5, 0.9]),
        st.sampled_from([(), (), ("update",)]),
        st.sampled_from([3, 10, 40]),
        st.sampled_from([False, False, True]),
        st.sampled_from([1, 1, 1, 5]),
    ),
    max_size=25,
)


@given(policies, heard)
@settings(deadline=None, max_examples=300)
def test_a_session_writes_what_the_naive_reference_writes(
    policy: WritePolicy, told: list[Any]
) -> None:
    session, naive, now = WriteSession(), Naive(policy), 0
    for place, (salience, events, tokens, repeated, minutes) in enumerate(told):
        now += minutes * MINUTE
        each = turn(
            place,
            said_at=now,
            salience=salience,
            events=events,
            tokens=tokens,
            repeated=repeated,
        )
        assert tell(session, policy, [each]) == naive.hear(each)
        assert [t.place for t in session.working] == [t.place for t in naive.waiting()]
        first = max(0, place + 1 - policy.short_term_turns)
        assert [t.place for t in session.short_term] == list(range(first, place + 1))
        written = {p for entry in naive.log for p in entry[2]}
        assert session.kept == written & set(range(first, place + 1))
        assert session.spent == naive.spent() <= policy.write_tokens
    ended = [tuple(t.place for t in writing.turns) for writing in session.end(policy)]
    assert ended == [places for _, places in naive.periodic(len(told))]
    assert not session.working and not session.spent and not session.writes


def test_a_copy_goes_on_by_itself() -> None:
    policy = WritePolicy()
    session = WriteSession()
    tell(session, policy, [turn(0), turn(1, events=("update",))])
    before = (len(session.short_term), len(session.working), session.spent, dict(session.writes))
    other = session.copy()
    tell(other, policy, [turn(2, events=("update",)), turn(3)])
    other.end(policy)
    after = (len(session.short_term), len(session.working), session.spent, dict(session.writes))
    assert before == after


def test_a_topic_that_turns_brings_the_periodic_write() -> None:
    policy = WritePolicy(topic_turns=2, topic_cosine=0.5, drop=0.1)
    turns = [turn(place, axis=place // 3) for place in range(6)]
    assert tell(WriteSession(), policy, turns) == [("periodic", (0, 1, 2))]
    same = [turn(place, axis=0) for place in range(6)]
    assert tell(WriteSession(), policy, same) == []


def test_backfill_writes_the_likest_turns_that_are_not_written() -> None:
    policy = WritePolicy(backfill_score=0.5, backfill_cap=2, backfill_tokens=25)
    session = WriteSession()
    tell(session, policy, [turn(0, axis=0, events=("update",)), turn(1, axis=0), turn(2, axis=1)])
    assert session.backfill(AXES[2], policy) == []
    (first,) = session.backfill(AXES[0], policy)
    assert (first.trigger, first.turns[0].place) == ("backfill", 1)
    assert session.backfill(AXES[0], policy) == []
    assert [t.place for t in session.working] == [2]
    (last,) = session.backfill(AXES[1], policy)
    assert last.turns[0].place == 2
    assert session.backfilled == 20 and session.spent == 10


@pytest.mark.parametrize(("cap", "tokens", "count"), [(1, 60, 1), (None, 25, 2), (0, 60, 0)])
def test_backfill_keeps_to_its_cap_and_its_tokens(cap: int | None, tokens: int, count: int) -> None:
    policy = WritePolicy(backfill_score=0.5, backfill_cap=cap, backfill_tokens=tokens)
    session = WriteSession()
    tell(session, policy, [turn(place, axis=0) for place in range(4)])
    assert [w.turns[0].place for w in session.backfill(AXES[0], policy)] == list(range(count))


def test_a_summary_is_its_turns_in_order() -> None:
    made = summary([turn(1, text="Ann: one"), turn(4, text="Ben: two", id=None)])
    assert made.text == "Ann: one\nBen: two"
    assert made.metadata == {"write_turns": ["t1", 4]}
    assert (made.said_at, made.id) == (4 * MINUTE, None)
    assert summary([turn(1)]).id == "t1"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"keep": 1.5}, "keep must lie in [0, 1], got 1.5"),
        ({"keep": float("nan")}, "keep must lie in [0, 1], got nan"),
        ({"drop": 0.6}, "drop must be at most keep, 0.4, got 0.6"),
        ({"triggers": ("events",)}, "triggers must be some of event, salience"),
        ({"triggers": "event"}, "triggers must be a list of str"),
        ({"events": ("birth",)}, "events must be some of correction"),
        ({"event_cap": -1}, "event_cap must lie in [0, "),
        ({"event_cap": True}, "event_cap must be an int, got bool"),
        ({"cooldown": 1.5}, "cooldown must be an int, got float"),
        ({"periodic_tokens": 121}, "periodic_tokens are a part of write_tokens, 120"),
        ({"read_tokens": 0}, "read_tokens must lie in [1, "),
        ({"topic_cosine": 2}, "topic_cosine must lie in [-1, 1], got 2"),
        ({"session_gap": 30}, "session_gap must be a timedelta longer than 0, got 30"),
        ({"sensitive_for": timedelta(0)}, "sensitive_for must be a timedelta longer than 0"),
        ({"phones": "hide"}, "phones must be one of keep, mask, expire, drop, got 'hide'"),
    ],
)
def test_a_bad_parameter_is_named_with_its_bound(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        WritePolicy(**given)
    assert said in str(error.value)
