"""Retention rules: what goes, when, and that a replay needs no rules to repeat it."""

import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

import recollex
from recollex import Retention
from recollex_engine.errors import InputError, ReadOnlyError
from recollex_engine.writing import checkpoint, maintenance
from tests.bindings.word_vectors import WordVectors

START = datetime(2024, 5, 4, tzinfo=UTC)
HOUR = timedelta(hours=1)


class Clock:
    now = START

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def opened(path, clock, **options):
    return recollex.open(path, embedder=WordVectors(), clock=clock, **options)


@pytest.fixture
def agent(tmp_path, clock):
    with opened(tmp_path / "s", clock) as store:
        yield store.agent("a")


def ids(agent):
    return [memory.id for memory in agent.list()]


def retain(agent, clock, id, **options):
    clock.now += HOUR
    agent.retain(f"Tea {id}.", id=id, **options)


def test_without_rules_everything_stays(agent, clock):
    for place in range(5):
        retain(agent, clock, str(place))
    assert agent.retention() == []
    assert agent.expire() == recollex.Expiry()
    assert len(agent.list()) == 5
    assert {entry.kind for entry in agent.log()} == {"create", "retain"}


def test_too_many_go_with_the_write_that_makes_them_so(agent, clock):
    agent.set_retention([Retention(count=2)], by="ann", why="policy 7")
    for place in range(4):
        retain(agent, clock, str(place))
    assert ids(agent) == ["2", "3"]
    before = agent.log(op="retain")[-1].recorded_at
    assert [memory.id for memory in agent.at(before).list()] == ["1", "2", "3"]
    gone = agent.log(op="forget")
    assert [entry.ids for entry in gone] == [("0",), ("1",)]
    assert {(entry.by, entry.why) for entry in gone} == {("retention", "all networks: more than 2")}
    [entry] = agent.log(op="retention")
    assert (entry.by, entry.why) == ("ann", "policy 7")


def test_what_is_too_old_goes_with_the_next_write_or_by_expire(agent, clock):
    agent.set_retention([Retention(age=3 * HOUR)])
    retain(agent, clock, "0")
    retain(agent, clock, "1")
    clock.now += 2 * HOUR
    assert agent.expire() == recollex.Expiry()  # as old as the rule allows, not older
    clock.now += timedelta(microseconds=1)
    assert agent.expire() == recollex.Expiry(forgotten=1)
    assert ids(agent) == ["1"]
    clock.now += 9 * HOUR
    agent.facts.add("Ann", "drinks", "tea")
    assert ids(agent) == []
    assert agent.log(op="forget")[-1].why == "all networks: older than 3:00:00"


def test_imported_history_is_as_old_as_its_recorded_times(agent, clock):
    agent.set_retention([Retention(age=3 * HOUR)])
    clock.now += timedelta(days=2)
    for place in range(6):
        at = START + timedelta(days=1) + place * HOUR
        agent.retain(f"Tea {place}.", id=str(place), recorded_at=at)
    assert ids(agent) == ["2", "3", "4", "5"]


def test_a_rule_of_a_network_leaves_the_others(agent, clock):
    agent.set_retention([Retention(network="opinion", count=1), Retention(age=9 * HOUR)])
    for place, network in enumerate(("opinion", "world", "opinion", "agent")):
        retain(agent, clock, str(place), network=network)
    assert ids(agent) == ["1", "2", "3"]
    clock.now += 9 * HOUR + timedelta(microseconds=1)
    agent.expire()
    assert ids(agent) == []


def test_archived_memories_go_too_and_corrected_ones_count_anew(agent, clock):
    agent.set_retention([Retention(count=2)])
    retain(agent, clock, "old")
    retain(agent, clock, "kept")
    agent.archive("old")
    assert agent.get("old").closed.how == "archived"
    clock.now += HOUR
    agent.correct("kept", "Green tea.")
    retain(agent, clock, "new")
    assert ids(agent) == ["kept", "new"]
    assert [memory.text for memory in agent.history("kept")] == ["Tea kept.", "Green tea."]
    with pytest.raises(recollex.errors.UnknownIdError):
        agent.get("old")


def test_rules_are_replaced_kept_over_a_reopen_and_known_to_cuts(tmp_path, clock):
    rules = [Retention(count=3), Retention(network="agent", age=HOUR, erase=True)]
    with opened(tmp_path / "s", clock) as store:
        agent = store.agent("a")
        agent.set_retention(rules)
        retain(agent, clock, "0")
        then = clock.now
        agent.checkpoint()
    with opened(tmp_path / "s", clock) as store:
        agent = store.agent("a")
        assert agent.retention() == rules
        for place in range(1, 5):
            retain(agent, clock, str(place))
        assert ids(agent) == ["2", "3", "4"]
        clock.now += HOUR
        agent.set_retention([])
        for place in range(5, 9):
            retain(agent, clock, str(place))
        assert len(ids(agent)) == 7
        assert agent.retention() == []
        assert agent.at(then).retention() == rules
        with pytest.raises(ReadOnlyError):
            agent.at(then).expire()
        assert agent.verify().ok
    with opened(tmp_path / "s", clock, read_only=True) as store:
        assert store.agent("a").retention() == []


def test_rules_that_erase_take_the_bytes_when_expire_is_called(tmp_path, clock):
    with opened(tmp_path / "s", clock) as store:
        agent = store.agent("a")
        agent.set_retention([Retention(age=3 * HOUR, erase=True)])
        agent.retain("Zymurgy is secret.", id="z")
        agent.retain("Quokka is kept.", id="q")
        clock.now += 2 * HOUR
        agent.correct("q", "Quokka is corrected.")
        clock.now += 2 * HOUR
        agent.retain("Tea.", id="t")
        assert ids(agent) == ["q", "t"]
        assert agent.expire() == recollex.Expiry(erased=1)
        assert agent.history("q")[0].text == "Quokka is kept."
        assert agent.expire() == recollex.Expiry()
        [entry] = agent.log(op="erase")
        assert (entry.by, entry.why) == ("retention", "all networks: older than 3:00:00")
        assert agent.retention() and agent.verify().ok
        clock.now += 2 * HOUR
        assert agent.expire() == recollex.Expiry(forgotten=1, erased=2)
        assert ids(agent) == ["t"]
    for path in (tmp_path / "s").rglob("*"):
        assert path.is_dir() or b"ymurgy" not in path.read_bytes()


def test_what_a_count_forgot_is_erased_also_after_others_were_forgotten(agent, clock):
    agent.set_retention([Retention(count=2, erase=True)])
    for place in range(4):
        retain(agent, clock, str(place))
    agent.forget("3")
    assert agent.expire() == recollex.Expiry(erased=2)
    assert ids(agent) == ["2"]
    agent.set_retention([Retention(count=0)])
    retain(agent, clock, "5")
    assert ids(agent) == []
    assert agent.expire() == recollex.Expiry()


def test_a_replay_repeats_what_went_and_asks_no_rule(tmp_path, clock):
    with opened(tmp_path / "s", clock) as store:
        agent = store.agent("a")
        agent.set_retention([Retention(count=1)])
        for place in range(4):
            retain(agent, clock, str(place))
        expected = agent.list(), agent.log()
    clock.now += 99 * HOUR
    recollex.replay(tmp_path / "s" / "agents" / "a", tmp_path / "r", embedder=WordVectors())
    with opened(tmp_path / "r", clock) as store:
        [name] = store.agents()
        assert (store.agent(name).list(), store.agent(name).log()) == expected


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (None, "must be a list of recollex.Retention"),
        ([{"count": 1}], "must be a list of recollex.Retention"),
        ([Retention(count=1)] * 33, "up to 32 rules, got 33"),
    ],
)
def test_other_rules_are_refused(agent, rules, message):
    with pytest.raises(InputError, match=message):
        agent.set_retention(rules)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "needs an age or a count"),
        ({"count": -1}, "count must lie in"),
        ({"count": True}, "count must be an int"),
        ({"age": 5}, "age must be a timedelta"),
        ({"age": timedelta()}, "longer than 0"),
        ({"count": 1, "network": "none"}, "network must be one of"),
        ({"count": 1, "erase": 1}, "erase must be"),
    ],
)
def test_wrong_rules_are_refused(fields, message):
    with pytest.raises(InputError, match=message):
        Retention(**fields)


RULES = st.lists(
    st.builds(
        lambda network, age, count, erase: Retention(
            network=network,
            age=None if age is None and count is not None else (age or 2) * HOUR,
            count=count,
            erase=erase,
        ),
        st.sampled_from([None, None, "world", "agent"]),
        st.sampled_from([None, 2, 5]),
        st.sampled_from([None, None, 0, 1, 3]),
        st.booleans(),
    ),
    max_size=3,
)


class Kept(RuleBasedStateMachine):
    """The agent against a list of [id, network, time, state, ordinal]."""

    def __init__(self):
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        for module, name, value in (
            (checkpoint, "TAIL_ROWS", 4),
            (checkpoint, "SEGMENT_ROWS", 8),
            (checkpoint, "LOG_BYTES", 2_000),
            (maintenance, "CLOSING_TAIL", 3),
        ):
            self.patch.setattr(module, name, value)
        self.folder = Path(tempfile.mkdtemp())
        self.clock = Clock()
        self.rules: list[Retention] = []
        self.said: list[list] = []
        self.store = opened(self.folder / "s", self.clock, durability="off")
        self.agent = self.store.agent("a")

    def let_go(self, now):
        for each in self.rules:
            mine = [m for m in self.said if each.network in (None, m[1])]
            still = [m for m in mine if m[3] == "open"]
            first = 0
            if each.count is not None and len(still) >= each.count:
                first = still[-each.count][4] if each.count else len(self.said)
            for m in mine:
                newest = not any(n[0] == m[0] and n[4] > m[4] for n in self.said)
                old = each.age is not None and now - m[2] > each.age
                if (old or m[4] < first) and (m[3] == "open" or (m[3] == "archived" and newest)):
                    m[3] = "gone"

    def check(self):
        assert ids(self.agent) == [m[0] for m in self.said if m[3] == "open"]

    @rule(rules=RULES)
    def set_rules(self, rules):
        self.clock.now += HOUR
        self.agent.set_retention(rules)
        self.rules = rules
        self.check()

    @rule(id=st.sampled_from("abcd"), network=st.sampled_from(["world", "agent"]),
          hours=st.integers(0, 3))  # fmt: skip
    def retain(self, id, network, hours):
        self.clock.now += hours * HOUR + timedelta(seconds=1)
        now = self.clock.now
        self.agent.retain(f"Tea {len(self.said)}.", id=id, network=network)
        for m in self.said:
            if m[0] == id and m[3] == "open":
                m[3] = "replaced"
        self.said.append([id, network, now, "open", len(self.said)])
        self.let_go(now)
        self.check()

    @rule(id=st.sampled_from("abcd"), how=st.sampled_from(["archive", "forget"]))
    def take_away(self, id, how):
        self.clock.now += timedelta(seconds=1)
        mine = [m for m in self.said if m[0] == id and m[3] == "open"]
        if mine:
            getattr(self.agent, how)(id)
            mine[0][3] = "archived" if how == "archive" else "gone"
        self.check()

    @rule(hours=st.integers(0, 3))
    def expire(self, hours):
        self.clock.now += hours * HOUR + timedelta(seconds=1)
        before = sum(m[3] == "gone" for m in self.said)
        done = self.agent.expire()
        self.let_go(self.clock.now)
        assert done.forgotten == sum(m[3] == "gone" for m in self.said) - before
        self.check()
        assert self.agent.expire() == recollex.Expiry()

    @rule(checkpoint=st.booleans())
    def reopen(self, checkpoint):
        if checkpoint:
            self.agent.checkpoint()
        self.store.close()
        self.store = opened(self.folder / "s", self.clock, durability="off")
        self.agent = self.store.agent("a")
        assert self.agent.retention() == self.rules
        self.check()

    def teardown(self):
        try:
            assert self.agent.verify().ok
        finally:
            self.store.close()
            self.patch.undo()
            shutil.rmtree(self.folder)


def test_an_agent_keeps_what_a_list_keeps():
    run_state_machine_as_test(
        Kept,
        settings=settings(
            max_examples=20,
            stateful_step_count=14,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
