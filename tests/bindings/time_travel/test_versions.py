"""Validity, versions, corrections and archived memories."""

from datetime import UTC, datetime, timedelta

import pytest

import recollex
from recollex_engine.errors import InputError, UnknownIdError
from tests.bindings.time_travel.days import VECTORS, asked, day, told


def test_what_was_true_then_by_what_is_known(agent):
    told(agent, 11, "Ann is a teacher.", id="job")
    assert set(asked(agent, as_world=day(12)).ids) == {"home", "job"}
    assert set(asked(agent, as_world=day(11)).ids) == {"home", "job"}
    assert set(asked(agent, as_world=day(11) - timedelta(microseconds=1)).ids) == {"home"}
    assert asked(agent, as_world=day(0)).ids == []
    then = {"as_recorded": day(3)}
    both = "Ann's puppy"
    assert set(asked(agent, both, as_world=day(9), **then).ids) == {"home", "pet"}
    assert set(asked(agent, both, as_world=day(10), **then).ids) == {"home"}
    assert set(asked(agent.at(day(3)), both, as_world=day(9)).ids) == {"home", "pet"}


def test_validity_is_kept_and_must_end_after_it_began(agent):
    assert agent.get("pet").valid_until == day(10)
    assert agent.get("home").valid_until is None
    assert agent.get("pet").to_dict()["valid_until"] == day(10).isoformat()
    for until in (day(1), day(7), datetime(1, 1, 1, tzinfo=UTC)):
        with pytest.raises(InputError, match="valid_until must be later than the event"):
            told(agent, 7, "Ben is ill.", valid_until=until)
    with pytest.raises(InputError, match="valid_until has no time zone"):
        told(agent, 7, "Ben is ill.", valid_until=datetime(2025, 1, 1))
    told(agent, 7, "Ben is ill.", id="ill", valid_until=day(7) + timedelta(microseconds=1))
    turn = {"speaker": "Ann", "text": "It rains.", "at": day(8), "valid_until": "tomorrow"}
    with pytest.raises(InputError, match="is not ISO 8601"):
        agent.retain_dialogue([turn], document_id="d")
    assert agent.stats().memories == 2


def test_a_new_end_of_validity_replaces_a_memory(agent):
    told(agent, 7, "Ben is ill.", id="ill")
    told(agent, 8, "Ben is ill.", id="ill", valid_until=day(9))
    assert [m.valid_until for m in agent.history("ill")] == [None, day(9)]


def test_every_version_is_kept_with_who_and_why(agent):
    before, after = agent.history("home")
    assert (before.text, after.text) == ("Ann lives in Oslo.", "Ann lives in Rome.")
    assert before.closed == recollex.Closure(day(3), "corrected", "ben", "She moved.")
    assert after.closed is None
    assert after.event_at == before.event_at == day(1)
    assert after.recorded_at == day(3)
    assert agent.at(day(2)).history("home")[0].closed is None
    assert before.to_dict()["closed"] == {
        "at": day(3).isoformat(), "how": "corrected", "by": "ben", "why": "She moved.",
    }  # fmt: skip


def test_the_archived_is_kept_and_leaves_recalls(agent):
    pet = agent.get("pet")
    assert pet.closed == recollex.Closure(day(4), "archived", "ann", "It ran away.")
    assert "pet" not in asked(agent, "puppy").ids
    assert asked(agent, "puppy", as_recorded=day(3)).ids[0] == "pet"
    assert agent.at(day(3)).get("pet").closed is None
    numbers = agent.stats()
    assert (numbers.memories, numbers.archived, numbers.forgotten) == (1, 1, 2)
    with pytest.raises(UnknownIdError):
        agent.archive("pet")
    with pytest.raises(UnknownIdError):
        agent.correct("pet", "Ben has a cat.")


def test_the_archived_can_be_forgotten(agent):
    agent.forget("pet", why="Ben asked.", recorded_at=day(7))
    for look in (agent.get, agent.history):
        with pytest.raises(UnknownIdError):
            look("pet")
    assert agent.at(day(6)).get("pet").closed.how == "archived"
    assert agent.stats().archived == 0
    (closed,) = (m for m in agent.diff(day(3), day(8)).closed if m.id == "pet")
    assert closed.closed == recollex.Closure(day(7), "forgotten", None, "Ben asked.")
    with pytest.raises(UnknownIdError):
        agent.forget("pet")
    told(agent, 9, "Ben has a cat.", id="pet")
    assert [m.text for m in agent.history("pet")] == ["Ben has a cat."]
    assert agent.verify().ok


def test_the_archived_may_be_told_again(agent):
    told(agent, 7, "Ben has a puppy.", id="pet")
    assert [m.closed and m.closed.how for m in agent.history("pet")] == ["archived", None]
    assert agent.get("pet").replaces is None
    assert agent.get("pet").closed is None


def test_a_correction_keeps_what_it_does_not_change(store):
    agent = store.agent("b")
    agent.retain("Ben is tall.", id="m", embedding=VECTORS[0], tags=["x"], metadata={"k": 1},
                 entities=["The Club"], context="call", document_id="d", network="agent",
                 event_at=day(1), valid_until=day(9))  # fmt: skip
    agent.correct("m", "Ben is small. Carol said so.", embedding=VECTORS[1])
    before, after = agent.history("m")
    assert after.entities == ("The Club", "Ben", "Carol")
    kept = ("tags", "metadata", "context", "document_id", "network", "event_at", "valid_until")
    for name in kept:
        assert getattr(after, name) == getattr(before, name), name
    agent.correct("m", "Ben is small.", tags=["y"], metadata={}, network="world", context="mail",
                  event_at=day(2), valid_until=day(3), embedding=VECTORS[1])  # fmt: skip
    after = agent.get("m")
    assert (after.tags, after.metadata) == (("y",), {})
    assert (after.network, after.context) == ("world", "mail")
    assert (after.event_at, after.valid_until) == (day(2), day(3))


def test_a_corrected_turn_keeps_its_speaker(tmp_path):
    with recollex.open(tmp_path / "t") as store:
        agent = store.agent("a")
        agent.retain_dialogue(
            [{"speaker": "Ann", "text": "I got a puppy!", "at": day(1), "id": "t"}],
            document_id="d",
        )
        agent.correct("t", "I got a kitten!")
        assert (agent.get("t").text, agent.get("t").speaker) == ("Ann: I got a kitten!", "Ann")
        agent.correct("t", "Ann: I got two kittens!")
        assert agent.get("t").text == "Ann: I got two kittens!"
        assert agent.recall("kittens").ids == ["t"]


@pytest.mark.parametrize(
    "options, message",
    [
        ({"text": ""}, "text is empty"),
        ({"text": "Ann lives in Rome."}, "says this already"),
        ({"by": ""}, "by is empty"),
        ({"why": 3}, "why must be a str"),
        ({"recorded_at": day(2)}, "recorded_at must be later"),
        ({"valid_until": day(0)}, "valid_until must be later than the event"),
        ({"embedding": [1.0]}, "embedding must have shape"),
        ({"network": "dream"}, "network must be one of"),
    ],
)
def test_a_correction_that_is_wrong_changes_nothing(agent, options, message):
    given = {"text": "Ann lives in Bern.", "embedding": VECTORS[0]} | options
    with pytest.raises(InputError, match=message):
        agent.correct("home", given.pop("text"), **given)
    assert agent.get("home").text == "Ann lives in Rome."
    with pytest.raises(UnknownIdError):
        agent.correct("nobody", "x")
    with pytest.raises(InputError, match="recorded_at must be later"):
        agent.archive("home", recorded_at=day(6))
    with pytest.raises(InputError, match="recorded_at must be later"):
        agent.forget("home", recorded_at=day(6))
    assert agent.stats().operations == 7


def test_an_agent_that_holds_nothing_has_nothing_to_take_away(store):
    agent = store.agent("nobody")
    for act in (agent.forget, agent.archive, lambda id: agent.correct(id, "x"), agent.history):
        with pytest.raises(UnknownIdError):
            act("m")
    assert agent.log() == [] == agent.diff(day(1)).added
    assert agent.at(day(1)).recall("x").ids == []
    assert not (store.path / "agents").exists()


def test_columns_of_an_older_version_are_made_again(tmp_path, store, agent):
    from recollex_engine.state.manifest import Manifest

    agent.checkpoint()
    expected = agent.history("home")
    store.close()
    folder = tmp_path / "s/agents/a"
    manifest = Manifest.read(folder)
    for name in ("valid_end", "name_op"):
        del manifest.columns[name]
        (folder / "columns" / name).unlink()
    manifest.write(folder)
    with recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(16)) as again:
        assert again.agent("a").history("home") == expected
        assert again.agent("a").verify().ok
