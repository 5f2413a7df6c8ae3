"""What several facts of an entity show together: made by a model, proven by facts, versioned."""

import os
import re
import signal
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import recollex
from recollex.errors import InputError, UnknownIdError
from tests.bindings.command_line import command_line
from tests.bindings.extraction_script import extracting
from tests.bindings.injection_attacks import ATTACKS
from tests.bindings.word_vectors import WordVectors
from tests.forked import is_killed
from tests.scripted_llm import Step, error, scripted

if find_spec("openai") is None or find_spec("pydantic") is None:
    pytest.skip("needs the extra: recollex[llm]", allow_module_level=True)

Sent = Mapping[str, Any]
MOVES = "Ann has moved south, city by city."
CITIES = ("Oslo", "Bergen", "Rome")


def told(sent: Sent) -> str:
    text: str = sent["messages"][-1]["content"]
    return text


def answer(text: str, *labels: str) -> Step:
    return Step({"text": text, "facts": list(labels)})


def all_of(text: str) -> Callable[[Sent], Step]:
    """Return a script that cites every fact that it is shown."""
    return lambda sent: answer(text, *re.findall(r"^\[(m\d+)\]", told(sent), re.M))


def lived(ada: recollex.Agent, *cities: str, name: str = "Ann") -> list[str]:
    return [
        ada.facts.add(name, "lived in", city, valid=(f"{2000 + n}-01-01T00:00Z", None), id=city)
        for n, city in enumerate(cities)
    ]


def the_observation(agent: Any, **cut: Any) -> Any:
    [event] = agent.events.find(status="observation", **cut)
    return event


def now(ada: recollex.Agent) -> datetime:
    return ada.log()[-1].recorded_at


def test_an_observation_is_made_and_cites_its_facts(tmp_path: Path) -> None:
    with extracting(tmp_path, [answer(f" {MOVES} [m2]\n", "m1", "[M3]", "m1")]) as (ada, served):
        ids = lived(ada, *CITIES)
        lived(ada, "Lima", "Quito", name="Ben")  # two are too few
        ada.profile.set(openness=0.7, neuroticism=0.2, bias_strength=0.1)  # facts about itself
        done = ada.events.consolidate(by="eve")
        [made] = done.observations
        assert (made.entity, made.text, made.facts) == ("Ann", MOVES, (ids[0], ids[2]))
        assert done.unobserved == () and done.to_dict()["observations"][0]["text"] == MOVES
        event = ada.events.get(made.id)
        assert (event.summary, event.status, event.proof_count) == (MOVES, "observation", 2)
        assert event.facts == made.facts and event.participants[0].name == "Ann"
        entry = ada.log(op="upsert_event")[-1]
        assert (entry.by, entry.why) == ("eve", "observe-1, model m: 3 facts")
        assert ada.events.search("Has Ann moved?")[0].item == event
        assert "event" in [hit.kind for hit in ada.recall("south", kinds=("event",)).hits]
        assert ada.verify().ok
    [sent] = served.asked
    lines = told(sent).splitlines()
    assert lines[0] == "The entity: Ann"
    assert lines[3] == "[m1] Ann lived in Oslo, since January 1, 2000"
    assert len(lines) == 6


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        (answer("Ann moves.", "m1", "m9", "Rome", "m2"), ("Oslo", "Bergen")),
        (answer("Ann moves.", "m1", "m9", "m1"), None),
        (answer("", "m1", "m2"), None),
        (answer(" [m1]", "m1", "m2"), None),
        (answer("Ann moves."), None),
    ],
)
def test_labels_that_were_not_shown_prove_nothing(
    tmp_path: Path, said: Step, facts: tuple[str, ...] | None
) -> None:
    with extracting(tmp_path, [said]) as (ada, _):
        lived(ada, *CITIES)
        before = ada.head().op
        done = ada.events.consolidate()
        assert tuple(each.facts for each in done.observations) == ((facts,) if facts else ())
        assert done.unobserved == (() if facts else ("Ann",))
        assert (ada.head().op == before) is (facts is None)


def test_the_same_facts_are_observed_once(tmp_path: Path) -> None:
    with extracting(tmp_path, all_of(MOVES)) as (ada, served):
        lived(ada, *CITIES)
        assert len(ada.events.consolidate().observations) == 1
        before = ada.head().op
        again = ada.events.consolidate()
        assert (again.observations, again.unobserved, ada.head().op) == ((), (), before)
        assert len(served.asked) == 1
    with extracting(tmp_path, []) as (ada, served):  # opened again
        assert ada.events.consolidate().observations == ()
        assert the_observation(ada).proof_count == 3 and not served.asked


def test_other_facts_make_another_version_under_the_same_id(tmp_path: Path) -> None:
    with extracting(tmp_path, all_of(MOVES)) as (ada, served):
        lived(ada, *CITIES)
        [first] = ada.events.consolidate().observations
        then = now(ada)
        ada.facts.add("Ann", "lived in", "Lima", id="Lima")
        [second] = ada.events.consolidate().observations
        assert first.id == second.id and len(served.asked) == 2
        assert the_observation(ada).proof_count == 4
        assert the_observation(ada, as_recorded=then).proof_count == 3
        old, new = ada.events.history(first.id)
        assert (old.proof_count, new.proof_count) == (3, 4)
        assert old.recorded[1] == new.recorded[0] and new.recorded[1] is None
        assert len(ada.events.history(first.id, as_recorded=then)) == 1
        ada.facts.add("Ann", "likes", "tea", id="tea")
        ada.facts.archive("tea")
        assert ada.events.consolidate().observations == ()  # as it was
        with pytest.raises(UnknownIdError):
            ada.events.history("nothing")


def test_the_same_answer_about_other_facts_is_an_end_too(tmp_path: Path) -> None:
    with extracting(tmp_path, lambda _: answer(MOVES, "m1", "m2")) as (ada, served):
        lived(ada, *CITIES)
        ada.events.consolidate()
        ada.facts.add("Ann", "likes", "tea")
        assert len(ada.events.consolidate().observations) == 1
        assert ada.events.consolidate().observations == () and len(served.asked) == 2


def test_a_corrected_or_retracted_fact_proves_nothing_from_then_on(tmp_path: Path) -> None:
    with extracting(tmp_path, all_of(MOVES)) as (ada, _):
        ids = lived(ada, *CITIES, "Lima")
        id = ada.events.consolidate().observations[0].id
        whole = now(ada)
        ada.facts.correct(ids[0], object="Turin")
        corrected = now(ada)
        ada.facts.correct(ids[3], why="nothing else", confidence=0.5)  # it says the same
        assert the_observation(ada).facts == tuple(ids[1:])
        ada.facts.archive(ids[1])
        assert (the_observation(ada).proof_count, ada.events.find(fact=ids[1])) == (2, [])
        ada.facts.archive(ids[2])
        for hidden in (ada.events.find(), ada.events.search(MOVES)):
            assert hidden == []
        with pytest.raises(UnknownIdError):
            ada.events.get(id)
        assert the_observation(ada, as_recorded=whole).proof_count == 4
        assert the_observation(ada, as_recorded=corrected).proof_count == 3
        assert [each.proof_count for each in ada.events.history(id)] == [4]
        ada.facts.undo(ada.log()[-1].op)
        assert the_observation(ada).proof_count == 2
    with recollex.open(tmp_path, read_only=True, embedder=WordVectors()) as store:
        assert the_observation(store.agent("ada")).facts == (ids[2], ids[3])


def test_a_preview_writes_nothing_and_asks_nothing(tmp_path: Path) -> None:
    with extracting(tmp_path, []) as (ada, served):
        lived(ada, *CITIES)
        before = ada.head().op
        said = ada.events.consolidate(preview=True)
        assert (said.observations, said.unobserved) == ((), ("Ann",))
        assert ada.at(now(ada)).events.consolidate(preview=True) == said
        assert (ada.head().op, served.asked) == (before, [])
        assert ada.events.consolidate(least_facts=None).unobserved == ()
        assert ada.events.consolidate(least_facts=4).unobserved == ()
        for wrong in (1, 2.5, True, "3"):
            with pytest.raises(InputError, match="least_facts"):
                ada.events.consolidate(least_facts=wrong)  # type: ignore[arg-type]


def test_one_undo_takes_it_back_until_the_facts_change(tmp_path: Path) -> None:
    with extracting(tmp_path, all_of(MOVES)) as (ada, _):
        lived(ada, *CITIES)
        ada.events.consolidate()
        ada.facts.undo(ada.log()[-1].op)
        assert ada.events.find() == [] and ada.facts.count() == 3
        assert ada.events.consolidate().observations == ()
        ada.facts.add("Ann", "lived in", "Lima")
        assert len(ada.events.consolidate().observations) == 1
        ada.facts.add("Ann", "lived in", "Quito")
        ada.events.consolidate()
        ada.facts.undo(ada.log()[-1].op)
        assert the_observation(ada).proof_count == 4
        assert ada.verify().ok


def test_without_a_model_nothing_is_made(tmp_path: Path) -> None:
    with recollex.open(tmp_path) as store:
        ada = store.agent("ada")
        lived(ada, *CITIES)
        before = ada.head().op
        done = ada.events.consolidate()
        assert (done.observations, done.unobserved, ada.head().op) == ((), ("Ann",), before)


def test_a_model_that_goes_away_leaves_the_others_for_the_next_run(tmp_path: Path) -> None:
    def script(sent: Sent) -> Step:
        if "The entity: Ann" in told(sent):
            return answer(MOVES, "m1", "m2")
        return error(401) if away else answer("Ben has stayed.", "m1", "m3")

    away = True
    with extracting(tmp_path, script) as (ada, served):
        lived(ada, *CITIES, "Lima")
        for name in ("Ben", "Cleo"):
            for thing in ("tea", "rice", "jazz"):
                ada.facts.add(name, "likes", thing)
        with pytest.warns(RuntimeWarning, match="no observation of 'Ben'"):
            done = ada.events.consolidate()
        assert [each.entity for each in done.observations] == ["Ann"]
        assert done.unobserved == ("Ben", "Cleo") and len(served.asked) == 2
        away = False
        done = ada.events.consolidate()
        assert [each.entity for each in done.observations] == ["Ben", "Cleo"]


def test_facts_that_change_while_the_model_writes_are_read_by_the_next_run(tmp_path: Path) -> None:
    def script(sent: Sent) -> Step:
        if len(told(sent).splitlines()) == 6:
            ada.facts.add("Ann", "lived in", "Lima")
        return all_of(MOVES)(sent)

    with extracting(tmp_path, script) as (ada, _):
        lived(ada, *CITIES)
        done = ada.events.consolidate()
        assert (done.observations, done.unobserved, ada.events.find()) == ((), ("Ann",), [])
        assert len(ada.events.consolidate().observations[0].facts) == 4


def test_a_run_that_is_killed_is_continued_by_the_next(tmp_path: Path) -> None:
    child: list[int] = []

    def script(sent: Sent) -> Step:
        if child and "The entity: Ben" in told(sent):
            os.kill(child[0], signal.SIGKILL)
        return answer("They like it all.", "m1", "m2", "m3")

    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        ada = store.agent("ada")
        for name in ("Ann", "Ben", "Cleo"):
            for thing in ("tea", "rice", "jazz"):
                ada.facts.add(name, "likes", thing)
    with scripted(script) as served:
        assert is_killed(lambda: consolidated(tmp_path, served.url), child.append)
        child.clear()
        assert consolidated(tmp_path, served.url) == ["Ben", "Cleo"]
        assert consolidated(tmp_path, served.url) == []
        assert len(served.asked) == 4


def consolidated(folder: Path, url: str) -> list[str]:
    """Return the names of the entities that a run in a newly opened store has observed."""
    with (
        recollex.llm("m", base_url=url, attempts=1) as llm,
        recollex.open(folder, embedder=WordVectors(), llm=llm) as store,
    ):
        ada = store.agent("ada")
        assert ada.verify().ok
        return [each.entity for each in ada.events.consolidate().observations]


def test_entities_that_are_one_have_one_observation(tmp_path: Path) -> None:
    with extracting(tmp_path, all_of("She has moved.")) as (ada, _):
        lived(ada, *CITIES)
        for city in CITIES:
            ada.facts.add("Annie", "lived in", city)
        assert len(ada.events.consolidate().observations) == 2
        ada.facts.merge("Annie", "Ann")
        done = ada.events.consolidate()
        assert [each.entity for each in done.observations] == ["Ann"]
        assert the_observation(ada).id == done.observations[0].id
        assert ada.events.consolidate().observations == ()


def test_facts_of_pages_are_observed_apart(tmp_path: Path) -> None:
    with extracting(tmp_path, all_of(MOVES)) as (ada, served):
        said = ada.retain("Ann told me where she lived.", source="user")
        page = ada.retain("Ann is a spy.", source="web")
        for city in CITIES:
            ada.facts.add("Ann", "lived in", city, evidence=said)
        for word in ("a spy", "a liar", "rich", "mean"):
            ada.facts.add("Ann", "is", recollex.Text(word), evidence=page)
        ada.events.consolidate()
        assert (the_observation(ada).trust, the_observation(ada).proof_count) == ("assistant", 3)
        for trust, count in (("assistant", 1), ("user", 0)):
            found = ada.recall("Has Ann moved?", kinds=("event",), trust=trust)
            assert len(found.hits) == count
        ada.facts.add("Ann", "is", recollex.Text("tall"), evidence=page)
        assert ada.events.consolidate().observations == ()
        assert len(served.asked) == 1 and "spy" not in told(served.asked[0])


def test_old_observations_are_no_events_to_archive(tmp_path: Path) -> None:
    with extracting(tmp_path, all_of(MOVES)) as (ada, _):
        for name in ("Ann", "Ben"):
            for city in CITIES:
                ada.facts.add(name, "lived in", city)
        ada.events.consolidate()
        done = ada.events.consolidate(age=timedelta(0), threshold=1.0)
        assert (done.considered, done.episodes) == (0, ())
        assert len(ada.events.find(status="observation")) == 2


def test_an_erased_memory_takes_the_observation_with_it(tmp_path: Path) -> None:
    with extracting(tmp_path, all_of(MOVES)) as (ada, _):
        told = ada.retain_many([f"Ann lived in {city}." for city in CITIES])
        for memory, city in zip(told, CITIES, strict=True):
            ada.facts.add("Ann", "lived in", city, evidence=memory)
        ada.events.consolidate()
        ada.erase(told[0], by="eve", why="asked")
        assert ada.events.find() == [] and ada.facts.count() == 2
        assert ada.verify().ok


def test_what_a_fact_says_is_data(tmp_path: Path) -> None:
    with extracting(tmp_path, all_of(MOVES)) as (ada, served):
        for place, attack in enumerate(ATTACKS):
            ada.facts.add("Ann", "says", recollex.Text(attack), id=f"f{place}")
        before = ada.head().op
        done = ada.events.consolidate()
        assert [each.kind for each in ada.log() if each.op > before] == ["upsert_event"]
        assert done.observations[0].facts == tuple(f"f{n}" for n in range(60, 100))
    assert [each["role"] for each in served.asked[0]["messages"]] == ["system", "user"]
    starts = [line for line in told(served.asked[0]).split("\n") if line[:4].strip()]
    assert starts[:2] == ["The entity: Ann", "Facts:"]
    assert [line[: line.index("]") + 1] for line in starts[2:]] == [f"[m{n}]" for n in range(1, 41)]


def test_the_command_makes_observations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with extracting(tmp_path / "memory", all_of(MOVES)) as (_, served):
        with recollex.open(tmp_path / "other") as store:
            lived(store.agent("default"), *CITIES)
        run = command_line(tmp_path, monkeypatch, capsys)
        none = "0 events of 0 {0}archived in 0 episodes, 0 facts {0}closed as duplicates\n"
        code, out, _ = run("consolidate", "other", "--preview")
        assert (code, out) == (0, none.format("would be ") + "1 observation would be made\n")
        code, out, said = run("consolidate", "other")
        assert out == none.format("") + "0 observations made\n" and "--llm NAME" in said
        assert run("consolidate", "other", "--no-observations")[1] == none.format("")
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        words = ("consolidate", "other", "--llm", "m", "--llm-url", served.url)
        assert run(*words)[1] == none.format("") + f"1 observation made\n  {MOVES}\n"


def test_a_clock_of_the_callers_own(tmp_path: Path) -> None:
    at = datetime(2030, 1, 1, tzinfo=UTC)
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    with extracting(tmp_path, all_of(MOVES), clock=lambda: now[0]) as (ada, _):
        for name in ("Ann", "Ben"):
            for city in CITIES:
                ada.facts.add(name, "lived in", city)
        now[0] = at
        done = ada.events.consolidate(recorded_at=at)
        assert len(done.observations) == 2
        later = at + timedelta(microseconds=1)
        assert [each.recorded[0] for each in ada.events.find()] == [at, later]
        ada.facts.undo(ada.log()[-1].op)
        assert len(ada.events.find()) == 1
