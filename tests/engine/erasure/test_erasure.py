"""Erasing memories: which go, what is left of them anywhere, and what stays as it was."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import recollex
from recollex_engine import errors
from recollex_engine.agents import snapshot
from recollex_engine.writing import checkpoint, maintenance
from recollex_engine.writing.erased_facts import SurvivingNames
from tests.engine.erasure.secret import BY, SECRET, WORDS, tell
from tests.engine.erasure.traces import assert_gone
from tests.engine.faults.small_store import D, Model, answers, contents, fill, opened, vectors

START = datetime(2024, 5, 1, tzinfo=UTC)


def day(number):
    return START + timedelta(days=number)


def in_the_tail(agent):
    pass


def in_the_index(agent):
    agent.checkpoint()


@pytest.mark.parametrize("place", [in_the_tail, in_the_index])
def test_nothing_of_an_erased_memory_is_in_any_file(path, place):
    with opened(path) as agent:
        fill(agent, 0, 300)
        vector = tell(agent)
        fill(agent, 300, 30)
        place(agent)
        before = contents(agent)
        done = agent.erase("secret-id", **BY)
        assert (done.memories, done.passages, done.facts, done.events) == (1, 1, 0, 0)
        assert contents(agent) == [each for each in before if each[0] != "secret-id"]
        assert agent.verify().problems == ()
        with pytest.raises(errors.UnknownIdError):
            agent.get("secret-id")
        with pytest.raises(errors.UnknownIdError):
            agent.history("secret-id")
        held = answers(agent)
        assert_gone(path, WORDS, [vector])
    with opened(path) as agent:
        assert (contents(agent), answers(agent)) == (
            [each for each in before if each[0] != "secret-id"],
            held,
        )
        assert agent.verify().problems == ()
    assert_gone(path, WORDS, [vector])


def test_other_answers_are_those_of_a_memory_that_said_nothing(path, tmp_path):
    """To the bit: an agent that was told a stop word instead ranks the others the same."""
    times = [day(n) for n in range(41)]

    def told(agent, secret):
        for n in range(40):
            options = {"embedding": vectors(n, 1)[0], "recorded_at": times[n], "id": f"m{n}"}
            if n == 17:
                if secret:
                    agent.retain(
                        f"{SECRET} Memory of tea, tea ink and an owl.",
                        tags=["secret-tag"],
                        **options,
                    )
                else:
                    agent.retain("the", event_at=times[n], **options)
            else:
                agent.retain(
                    f"Memory {n} of tea, {'owl' * (n % 3)} ink.", event_at=day(-n), **options
                )

    with opened(path) as agent, opened(tmp_path / "twin") as twin:
        told(agent, True)
        told(twin, False)
        twin.forget("m17", recorded_at=times[40])
        apart = answers(agent)
        agent.erase("m17", **BY)
        assert answers(agent) == answers(twin) != apart
        assert contents(agent) == contents(twin)
        assert answers(agent, exact=False) == answers(twin, exact=False)


def test_a_cut_before_shows_a_hole(path):
    with opened(path) as agent:
        for n in range(6):
            agent.retain(
                SECRET if n == 3 else f"Memory {n} of tea.",
                id=f"m{n}",
                embedding=vectors(n, 1)[0],
                recorded_at=day(n),
            )
        agent.forget("m3", recorded_at=day(6))
        assert agent.at(day(4)).get("m3").text == SECRET
        held = agent.recall("podagra", as_recorded=day(4), query_embedding=vectors(3, 1)[0])
        assert held[0].text == SECRET
        agent.erase("m3", **BY)
        then = agent.at(day(4))
        assert [memory.id for memory in then.list()] == ["m0", "m1", "m2", "m4"]
        recall = agent.recall("podagra", as_recorded=day(4), query_embedding=vectors(3, 1)[0])
        assert "m3" not in [memory.id for memory in recall]
        assert held[0].text == SECRET  # the caller's own object
        assert agent.diff(day(2), day(4)).added == [then.get("m4")]
        assert agent.diff(day(4), day(7)).closed == []
        with pytest.raises(errors.UnknownIdError):
            then.get("m3")


def test_a_cut_is_a_store_rebuilt_from_the_erased_log(path, tmp_path):
    with opened(path) as agent:
        for n in range(9):
            text = SECRET if n in (3, 5) else f"Memory {n} of tea ink."
            agent.retain(text, id=f"m{n}", embedding=vectors(n, 1)[0], recorded_at=day(n))
        agent.erase("m3", **BY)
        agent.erase("m5", **BY)
        for n in (2, 3, 4, 6, 8):
            then = agent.at(day(n))
            agent.snapshot(day(n), tmp_path / f"as-of-{n}")
            assert_gone(tmp_path / f"as-of-{n}", WORDS)
            with opened(tmp_path / f"as-of-{n}") as copy:
                assert contents(copy) == contents(then)
                assert answers(copy) == answers(then)
                assert copy.verify().problems == ()
        now = contents(agent), answers(agent)
    recollex.replay(
        path / "agents" / "a",
        tmp_path / "replayed",
        agent_id="a",
        embedder=recollex.GivenVectors(D),
    )
    with opened(tmp_path / "replayed") as replayed:
        assert (contents(replayed), answers(replayed)) == now
        assert replayed.verify().problems == ()


@pytest.mark.parametrize(
    ("filters", "left"),
    [
        ({"id": ["m0", "m2"]}, ["m1", "m3"]),
        ({"document_id": "call"}, ["m0", "m3"]),
        ({"speakers": "Ann"}, ["m0", "m2", "m3"]),
        ({"tags": ["red"]}, ["m1", "m2", "m3"]),
        ({"source": "web"}, ["m1", "m2", "m3"]),
        ({"source": "tool"}, ["m0", "m1", "m2", "m3"]),
        ({"where": {"k": 1}}, ["m0", "m1", "m2"]),
        ({"entities": ["Oslo"]}, ["m1", "m2"]),
        ({"network": "opinion"}, ["m0", "m1", "m2"]),
        ({"since": day(0), "until": day(2)}, ["m2", "m3"]),
        ({"document_id": "call", "speakers": ["ben"]}, ["m0", "m1", "m3"]),
        ({"everything": True}, []),
    ],
)
def test_filters_choose(path, filters, left):
    with opened(path, embedder=Model()) as agent:
        agent.retain("I flew to Oslo.", id="m0", tags=["red"], event_at=day(0), source="web")
        agent.retain_dialogue(
            [
                {"speaker": "Ann", "text": "I have tea.", "id": "m1", "at": day(1)},
                {"speaker": "Ben", "text": "I have ink.", "id": "m2", "at": day(2)},
            ],
            document_id="call",
        )
        agent.retain(
            "Oslo is fine.", id="m3", network="opinion", metadata={"k": 1}, event_at=day(3)
        )
        agent.archive("m3")
        seen = agent.erase(**filters, **BY, preview=True)
        assert len(agent.list()) == 3 and seen.op is None
        done = agent.erase(**filters, **BY)
        assert seen.memories == done.memories == 4 - len(left)
        for n in range(4):
            if f"m{n}" in left:
                agent.get(f"m{n}")
            else:
                with pytest.raises(errors.UnknownIdError):
                    agent.get(f"m{n}")
        assert agent.verify().problems == ()
        assert agent.erase(**filters, **BY).memories == 0 if "id" not in filters else True


def test_what_is_not_said_or_not_there_is_refused(path):
    with opened(path) as agent:
        fill(agent, 0, 3)
        before = agent.log()
        with pytest.raises(errors.InputError, match="say what to erase"):
            agent.erase(**BY)
        with pytest.raises(errors.InputError, match="without a filter"):
            agent.erase("m1", everything=True, **BY)
        with pytest.raises(errors.InputError, match="source must be a word"):
            agent.erase(source="", **BY)
        with pytest.raises(errors.UnknownIdError):
            agent.erase(["m1", "m9"], **BY)
        with pytest.raises(errors.InputError):
            agent.erase("m1", by="", why="x")
        with pytest.raises(errors.ReadOnlyError):
            agent.at(datetime.now(UTC)).erase("m1", **BY)
        assert agent.erase(tags=["none"], **BY).op is None
        assert agent.log() == before
    with opened(path, read_only=True) as agent, pytest.raises(errors.ReadOnlyError):
        agent.erase("m1", **BY)


def test_every_version_goes(path):
    with opened(path) as agent:
        fill(agent, 0, 3)
        tell(agent)
        agent.correct("secret-id", "Zanzibarina is well.", embedding=vectors(1, 1)[0], **BY)
        tell(agent, id="other-id", text="Quuxley was here.")
        agent.forget("other-id", why="Quuxley deceived.")
        assert (agent.stats().memories, agent.stats().forgotten) == (4, 2)
        assert agent.erase(["secret-id", "other-id"], **BY).memories == 3
        assert (agent.stats().memories, agent.stats().forgotten) == (3, 0)
        fill(agent, 3, 3)
        tell(agent, text="A new one of tea.", tags=[], document_id=None, metadata={})
        assert [m.text for m in agent.history("secret-id")] == ["A new one of tea."]
        agent.erase("secret-id", **BY)
        assert agent.verify().problems == ()
    assert_gone(path, [*WORDS, "other-id", "deceived"])


def test_words_and_names_that_others_use_stay(path):
    with opened(path, embedder=Model()) as agent:
        agent.retain("Yesterday Quirin Ostwald met Bob Chenoweth over quincetea.", id="m0")
        agent.retain("Quirin Ostwald drank quincetea.", id="m1")
        agent.retain(
            "Something with Vronirella.", id="m2", entities=["Project Xylograph", "Vronirella"]
        )
        agent.retain("Nothing to see.", id="m3", entities=["Project Xylograph"])
        agent.erase(["m0", "m2"], **BY)
        assert agent.get("m1").entities == ("Quirin Ostwald",)
        assert agent.get("m3").entities == ("Project Xylograph",)
        found = agent.recall("quincetea", entities=["quirin ostwald"])
        assert [memory.id for memory in found] == ["m1"]
        agent.retain("Bob Chenoweth is back.", id="m4")
        assert agent.get("m4").entities == ("Bob Chenoweth",)
        agent.erase(["m1", "m3", "m4"], **BY)
        assert agent.verify().problems == ()
    assert_gone(
        path,
        ["quirin", "ostwald", "quincetea", "xylograph", "vronirella", "chenoweth", "yesterday"],
    )


def test_words_of_others_are_still_found(path):
    with opened(path) as agent:
        agent.retain("About quincetea.", id="m0", embedding=vectors(0, 1)[0])
        agent.retain("More quincetea.", id="m1", embedding=vectors(1, 1)[0])
        agent.erase("m0", **BY)
        recall = agent.recall('"quincetea"', query_embedding=vectors(5, 1)[0])
        assert [memory.id for memory in recall] == ["m1"]


def test_a_name_stays_for_those_that_may_have_used_it():
    names = SurvivingNames()
    erased = [["Robert Zander", "robert zander", 0], ["Vera", "vera", 1]]
    names.meet(erased)
    own = [["Bob", "bob", 0]]
    names.meet(own)
    names.name([0], own, "Bob is here.", None)
    assert names.left(erased, 0) == [["Bob", "bob", 0], ["\x1a1", "\x1a1", 1]]
    names.name([0], [], "I saw ROBERT  Zander.", None)
    assert names.left(erased, 0)[0] == ["Robert Zander", "robert zander", 0]
    names.name([1], [], "Nothing said.", None)  # it was given
    assert names.left(erased, 0) == erased
    both = SurvivingNames()
    both.meet([*erased[:1], ["Bobby", "bobby", 0]])
    both.name([0], [], "Nothing said.", None)  # it was given: any of its names
    assert both.left(erased[:1], 0) == erased[:1]


def test_everything_leaves_the_audit_alone(path):
    with opened(path) as agent:
        fill(agent, 0, 20)
        tell(agent)
        agent.facts.add("Quuxley", "has", "podagra", id="secret-fact")
        agent.facts.add_entity("Zanzibarina", aliases=["Quuxley the second"])
        agent.checkpoint()
        agent.erase(everything=True, by="ben", why="The account was closed.")
        assert (
            agent.list() == []
            and len(agent.recall("podagra", query_embedding=vectors(1, 1)[0])) == 0
        )
        assert len(agent.facts.find()) == 0 and agent.facts.entities() == []
        fill(agent, 0, 3)
        assert [memory.id for memory in agent.list()] == ["m0", "m1", "m2"]
        assert agent.verify().problems == ()
        entry = agent.log(op="erase")[0]
        assert (entry.by, entry.why) == ("ben", "The account was closed.")
        assert entry.payload["memories"] == 21 and entry.payload["everything"]
    assert_gone(path, [*WORDS, "secret-fact", "memory 5 of"], vectors(0, 20) / 1)


def test_a_snapshot_beside_an_erasure_is_refused(path, tmp_path, monkeypatch):
    """The log is rewritten between reading it and copying it."""
    with opened(path) as agent:
        fill(agent, 0, 30)
        copy = snapshot.copy_log

        def copied(*arguments):
            monkeypatch.setattr(snapshot, "copy_log", copy)
            agent.erase("m3", **BY)
            copy(*arguments)

        monkeypatch.setattr(snapshot, "copy_log", copied)
        with pytest.raises(errors.LockedError, match="try again"):
            agent.snapshot(datetime.now(UTC), tmp_path / "copy")
        assert not any((tmp_path / "copy" / "agents").iterdir())
        agent.snapshot(datetime.now(UTC), tmp_path / "copy")
        with opened(tmp_path / "copy") as taken:
            assert contents(taken) == contents(agent)
            assert taken.verify().problems == ()


def test_rotated_and_compressed_files_are_rewritten(path, monkeypatch):
    monkeypatch.setattr(checkpoint, "LOG_BYTES", 2_000)
    monkeypatch.setattr(maintenance, "CLOSING_TAIL", 1)
    with opened(path) as agent:
        tell(agent)
        for n in range(6):
            fill(agent, 20 * n, 20)
            agent.checkpoint()
        assert len(list((path / "agents" / "a" / "log").glob("*.gz"))) > 2
        before = contents(agent)
        agent.erase(["secret-id", "m50"], **BY)
        assert contents(agent) == [each for each in before if each[0] not in ("secret-id", "m50")]
        assert len(list((path / "agents" / "a" / "log").glob("*.gz"))) > 2
        assert agent.verify().problems == ()
    assert_gone(path, WORDS, [vectors(40, 20)[10] / np.linalg.norm(vectors(40, 20)[10])])
    with opened(path) as agent:
        assert agent.verify().problems == ()
