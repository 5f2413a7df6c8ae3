"""A recorded time beyond the clock: no way in takes one, and no rule goes by one."""

import inspect
import random
from datetime import UTC, datetime, timedelta

import pytest

import recollex
from recollex import Retention
from recollex.api.agent import Agent
from recollex.api.events import Events
from recollex.api.facts import Facts
from recollex.api.opinions import AgentProfile, Opinions
from recollex.api.sessions import Sessions
from recollex_engine.errors import InputError
from tests.bindings.word_vectors import WordVectors

NOW = datetime(2026, 3, 1, tzinfo=UTC)
DRIFT = timedelta(minutes=5)
MICROSECOND = timedelta(microseconds=1)
CENTURY = timedelta(days=36_500)
TURN = {"speaker": "Ann", "text": "I live in Oslo.", "at": "2024-05-04T10:00:00Z"}


class Clock:
    now = NOW

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
        agent = store.agent("a")
        agent.retain("Ann likes tea.", id="m")
        agent.retain("Ben likes ink.", id="n")
        agent.facts.add("Ann", "likes", "tea", id="f", evidence=["m"])
        agent.facts.add("Anna", "knows", "Eve", id="g")
        agent.facts.add("Anya", "knows", "Eve", id="h")
        agent.facts.merge("Anya", "Ann")
        for id in ("e", "e2"):
            agent.events.add("Tea was had.", id=id, participants=["Ann"], facts=["f"])
        yield agent


def transaction(agent, at):
    with agent.transaction(recorded_at=at) as group:
        group.retain("x", id="x")


DOORS = {
    "Agent.retain": lambda a, at: a.retain("x", recorded_at=at),
    "Agent.retain_many": lambda a, at: a.retain_many(
        ["x", "y"], recorded_at=[NOW + timedelta(seconds=1), at]
    ),
    "Agent.retain_dialogue": lambda a, at: a.retain_dialogue(
        [TURN], document_id="d", recorded_at=at
    ),
    "Agent.correct": lambda a, at: a.correct("m", "Ann likes ink.", recorded_at=at),
    "Agent.amend": lambda a, at: a.amend("m", tags=["t"], recorded_at=at),
    "Agent.forget": lambda a, at: a.forget("m", recorded_at=at),
    "Agent.archive": lambda a, at: a.archive("m", recorded_at=at),
    "Agent.transaction": transaction,
    "Agent.apply": lambda a, at: a.apply(
        [{"op": "RETAIN", "text": "x", "id": "x", "recorded_at": at.isoformat()}]
    ),
    "Facts.add": lambda a, at: a.facts.add("Eve", "likes", "tea", recorded_at=at),
    "Facts.correct": lambda a, at: a.facts.correct("f", object="ink", recorded_at=at),
    "Facts.archive": lambda a, at: a.facts.archive("f", recorded_at=at),
    "Facts.add_entity": lambda a, at: a.facts.add_entity("Eve", recorded_at=at),
    "Facts.merge": lambda a, at: a.facts.merge("Anna", "Ann", recorded_at=at),
    "Facts.split": lambda a, at: a.facts.split("Anya", recorded_at=at),
    "Facts.undo": lambda a, at: a.facts.undo(a.log(op="upsert_edge")[-1].op, recorded_at=at),
    "Facts.resolve_entities": None,
    "Events.add": lambda a, at: a.events.add("Ink.", facts=["f"], recorded_at=at),
    "Events.link": lambda a, at: a.events.link("e", "causes", "e2", recorded_at=at),
    "Events.add_episode": lambda a, at: a.events.add_episode("Week", ["e"], recorded_at=at),
    "Events.consolidate": None,
    "Sessions.end": None,
    "Sessions.write": None,
    "Sessions.recall": None,
    "Sessions.backfill": None,
    "Sessions.forget_expired": None,
    "AgentProfile.set": lambda a, at: a.profile.set(background="Ann.", recorded_at=at),
    "Opinions.form": lambda a, at: a.opinions.form("Tea.", confidence=0.5, recorded_at=at),
    "Opinions.weigh": None,
}
"""Every public method with a ``recorded_at``; None for one whose write depends on a model or a
talk, and goes through `Agent.retain` or a transaction of the engine as the others do."""


def test_every_way_in_is_known():
    found = {
        f"{each.__name__}.{name}"
        for each in (Agent, Facts, Events, Sessions, AgentProfile, Opinions)
        for name, method in inspect.getmembers(each, inspect.isfunction)
        if not name.startswith("_") and "recorded_at" in inspect.signature(method).parameters
    }
    assert found == {*DOORS}


@pytest.mark.parametrize("name", [name for name, door in DOORS.items() if door])
def test_a_time_beyond_the_clock_is_refused_and_a_drift_is_not(agent, name):
    door, before = DOORS[name], agent.log()
    for ahead in (DRIFT + MICROSECOND, CENTURY):
        with pytest.raises(InputError, match="recorded_at must not be later than the clock, 2026"):
            door(agent, NOW + ahead)
        assert agent.log() == before
    door(agent, NOW + DRIFT)
    assert agent.log()[-1].recorded_at == NOW + DRIFT


RULES = [Retention(age=timedelta(days=30), erase=True)]


def test_a_rule_goes_by_the_clock_although_the_log_is_ahead(tmp_path, clock):
    with opened(tmp_path / "s", clock) as store:
        agent = store.agent("a")
        agent.set_retention(RULES)
        for place in range(9):
            agent.retain(f"Tea {place}.", id=str(place))
        clock.now += CENTURY
        agent.retain("Written while the clock was ahead.", id="ahead")
        assert agent.expire() == recollex.Expiry()
        clock.now = NOW + timedelta(days=1)
        agent.facts.add("Ann", "likes", "tea")
        assert agent.expire() == recollex.Expiry()
        assert len(agent.list()) == 10
        clock.now = NOW + timedelta(days=31)
        assert agent.expire() == recollex.Expiry(forgotten=9, erased=9)
        assert [each.id for each in agent.list()] == ["ahead"]


def test_a_new_rule_of_an_agent_that_is_ahead_goes_by_the_clock(tmp_path, clock):
    with opened(tmp_path / "s", clock) as store:
        agent = store.agent("a")
        agent.retain("Tea.", id="m")
        for day in (0, 2):
            clock.now = NOW + CENTURY + timedelta(days=day)
            agent.retain("Written while the clock was ahead.", id=f"ahead {day}")
        clock.now = NOW + timedelta(days=1)
        agent.set_retention(RULES)
        agent.retain("Ink.", id="n")
        assert agent.expire() == recollex.Expiry()
        assert len(agent.list()) == 4


def test_a_leap_of_the_clock_is_believed_after_a_day(tmp_path, clock):
    with opened(tmp_path / "s", clock) as store:
        agent = store.agent("a")
        agent.set_retention(RULES)
        agent.retain("Tea.", id="old")
        clock.now += timedelta(days=500)
        agent.retain("Ink.", id="new")
        clock.now += timedelta(hours=23)
        agent.retain("Owl.", id="newer")
        assert len(agent.list()) == 3
        clock.now += timedelta(hours=1)
        assert agent.expire() == recollex.Expiry(forgotten=1, erased=1)
        assert [each.id for each in agent.list()] == ["new", "newer"]


@pytest.mark.parametrize("seed", range(6))
def test_a_clock_that_is_set_by_a_century_in_both_directions(tmp_path, clock, seed):
    rng = random.Random(seed)
    steps = (*[timedelta(seconds=1)] * 6, CENTURY, -CENTURY, -timedelta(days=3), timedelta(days=1))
    with opened(tmp_path / "s", clock) as store:
        agent = store.agent("a")
        agent.set_retention([Retention(age=timedelta(days=365), erase=True)])
        kept = []
        for place in range(40):
            clock.now = max(NOW, min(clock.now + rng.choice(steps), NOW + CENTURY))
            if clock.now - NOW > timedelta(days=300) and rng.random() < 0.7:
                clock.now = NOW + timedelta(seconds=place)  # it is put right soon
            if rng.random() < 0.2:
                with pytest.raises(InputError):
                    agent.retain("Never.", recorded_at=clock.now + CENTURY)
            agent.retain(f"Tea {place}.", id=str(place))
            agent.facts.add("Ann", "drank", f"tea {place}")
            agent.expire()
            kept.append(str(place))
        assert [each.id for each in agent.list()] == kept
        times = [entry.recorded_at for entry in agent.log(op="retain")]
        assert times == sorted(set(times))
        assert agent.verify().ok


@pytest.mark.parametrize("key", [None, b"k" * 32])
def test_a_replay_with_clamped_times_is_the_way_back(tmp_path, clock, key):
    ahead = datetime.now(UTC) + CENTURY
    clock.now = NOW
    with opened(tmp_path / "s", clock) as store:
        agent = store.agent("a", key=key)
        agent.retain_many(["Ann likes tea.", "Ben likes ink."], id=["m", "n"])
        clock.now = ahead
        agent.retain("Ann lives in Oslo.", id="o")
        agent.correct("n", "Ben likes owls.", by="ben")
        agent.retain("Zymurgy is secret.", id="z")
        agent.erase("z", by="eve", why="asked")
        known, history = agent.list(), agent.history("n")
        assert agent.at(NOW + timedelta(days=1)).stats().memories == 2
        clock.now = NOW + timedelta(days=1)
        with pytest.raises(InputError, match="replay with clamp_times"):
            agent.retain("x", recorded_at=clock.now)
    _, found = recollex.doctor(tmp_path / "s", key=key)
    assert "replay with clamp_times" in found.left[0]
    recollex.replay(
        *(tmp_path / "s" / "agents" / "a", tmp_path / "r"),
        agent_id="a",
        embedder=WordVectors(),
        key=key,
        clamp_times=True,
    )
    with recollex.open(tmp_path / "r", embedder=WordVectors()) as store:
        agent = store.agent("a", key=key)
        then = datetime.now(UTC)
        assert [(m.id, m.text) for m in agent.at(then).list()] == [(m.id, m.text) for m in known]
        assert [m.text for m in agent.history("n")] == [m.text for m in history]
        assert agent.at(NOW + DRIFT).get("n").text == "Ben likes ink."
        times = [entry.recorded_at for entry in agent.log()]
        assert max(times) < then
        assert agent.verify().problems == ()
        assert all(each.ok for each in recollex.doctor(tmp_path / "r", key=key, repair=False))
        agent.retain("Said later.", id="later")
        assert then < agent.get("later").recorded_at < datetime.now(UTC)
        expected = [m.to_dict() for m in agent.at(times[-1]).recall("Who likes tea?")]
        agent.snapshot(times[-1], tmp_path / "cut")
    with recollex.open(tmp_path / "cut", embedder=WordVectors()) as store:
        rebuilt = store.agent("a", key=key)
        found = rebuilt.at(times[-1]).recall("Who likes tea?")
        assert [m.to_dict() for m in found] == expected
