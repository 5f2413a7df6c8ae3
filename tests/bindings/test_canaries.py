"""Nothing is left of what was told, after an erasure: by every door that writes text.

Each door writes the canary. The log's records are compared with the table of their fields, so that
a kind or a field that is added is in it.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_type_hints

import orjson
import pytest

import recollex
import recollex.encryption
from recollex import Mention, Retention, Source, Text
from recollex.errors import StoreFullError
from recollex_engine.agents.logbook import KINDS
from recollex_engine.domain.records import FIELDS, RECORDS, STAYS
from recollex_engine.domain.schema import RETAINING
from recollex_engine.domain.settings import REEMBED
from recollex_engine.log.reader import LogFollower
from tests.bindings.extraction_script import fact, facts, related, shown_turns, turn
from tests.bindings.word_vectors import WordVectors
from tests.engine.erasure.test_erasure_crashes import Crash, Disk
from tests.engine.erasure.traces import assert_gone
from tests.scripted_llm import Step, scripted

if find_spec("openai") is None or find_spec("pydantic") is None:
    pytest.skip("needs the extra: recollex[llm]", allow_module_level=True)

WORDS = ["zqcanar"]
"""What the canary and its stem ("zqcanari") begin with."""
BY = {"by": "ben", "why": "She asked for it."}
DAY = datetime(2024, 5, 4, tzinfo=UTC)
WITHOUT_WORDS = {
    *((kind, "typed") for kind in RECORDS),  # of the engine's types
    *((kind, "pieces") for kind in RETAINING),  # numbers
    *((kind, "trust") for kind in RETAINING),
    *((kind, "why") for kind in ("replace", "extract", "think", "form", REEMBED)),  # nobody gives
    *(("think", name) for name in ("thought", "prompt", "model")),  # names of the engine's
    *(("form", name) for name in ("thought", "prompt", "model", "failed")),
    *(("surface", name) for name in FIELDS["surface"]),  # see `test_surface_storage`
    *((kind, "zone") for kind in (*RETAINING, "upsert_edge", "retro_correct")),  # a list
    *((kind, "status") for kind in ("upsert_event", "upsert_episode")),  # of a list
    ("upsert_episode", "names"),  # an episode names nobody
    ("link", "relation"),  # of a list
    ("merge_entity", "names"),  # only known names
    ("correct", "called"),  # a correction calls entities by their first names
}
"""Fields of texts in which the caller's words do not stand, by kind."""
NUMBERED = {
    name for fields in FIELDS.values() for name, said in fields.items() if said.fate == "shared"
}
"""What a stub keeps for its number alone: words and names that others use, and placeholders."""


def answer(sent: Mapping[str, Any]) -> Step:
    """Answer as a language model that repeats the canary wherever it can."""
    if "response_format" not in sent:
        return Step("Zqcanary helps, I think [m1].")
    asked = sent["response_format"]["json_schema"]["name"]
    if asked == "FactRelations":
        step = related((0, 0, "supersedes"))(sent)
        step.content["relations"][0]["reason"] = "Ben left the Zqcanary clinic."
        return step
    if asked == "SameEntity":
        return Step({"same": True, "reason": "Both have Zqcanary."})
    if asked == "FormedOpinions":
        opinion = {"text": "Zqcanary is bad.", "confidence": 0.8, "reasons": ["The Zqcanary."]}
        return Step({"opinions": [opinion | {"evidence": ["m1"], "supersedes": None}]})
    if (
        "facts" in sent["response_format"]["json_schema"]["schema"]["properties"]
        and "text" in (sent["response_format"]["json_schema"]["schema"]["properties"])
    ):
        return Step({"text": "Ann's Zqcanary moves.", "facts": ["m1", "m2", "m3"]})
    said = [text.replace(": ", " said: ") for text in shown_turns(sent)]
    return facts(*(fact(text, f"m{number}") for number, text in enumerate(said[:3], 1)))


@contextmanager
def opened(folder: Path, **options: Any) -> Iterator[recollex.Agent]:
    with (
        scripted(answer) as served,
        recollex.llm("m", base_url=served.url, attempts=1) as llm,
        recollex.open(folder, embedder=WordVectors(), llm=llm, **options) as store,
    ):
        yield store.agent("a")


def of_memories(agent: recollex.Agent) -> None:
    """Write by every door whose words rest on memories alone."""
    agent.retain("I have Zqcanary.", id="zqcanary-1", tags=["zqcanary"], context="Zqcanary")
    agent.retain("Tea is fine.", id="m2")
    agent.correct("m2", "Tea of Zqcanary is fine.", why="Zqcanary, not ink", by="ben")
    agent.amend("m2", metadata={"zqcanary": "zqcanary"}, why="Zqcanary")
    agent.archive("m2", why="Zqcanary is over")
    agent.retain("Old Zqcanary.", id="m3", source="zqcanary.org", entities=["Zqcanary House"])
    agent.forget("m3", why="Zqcanary is private")
    talk = [turn("I live in Oslo.", 0, "Bob", role="user"), turn("Nice.", 1)]
    later = [turn("I moved to Zqcanary in June, I am ill.", 60 * 9, "Bob", role="user")]
    policy = recollex.WritePolicy()
    for document, turns in (("zqcanary-talk", talk), ("c2", later)):
        agent.retain_dialogue(turns, document_id=document, policy=policy)
        agent.sessions.recall("Who has Zqcanary?", document_id=document)
        agent.sessions.end(document)
    agent.retain_dialogue([turn("I am in the Zqcanary clinic.", 0, "Ben")], document_id="d1")
    agent.extract()
    agent.retain_dialogue([turn("I left the Zqcanary clinic.", 60, "Ben")], document_id="d2")
    agent.extract()
    agent.retain("I met Alice Zqcanary again.", event_at=DAY)
    agent.retain("Alice went for lunch.", event_at=DAY + timedelta(days=9))
    agent.retain("Alice Cooper sang.", event_at=DAY + timedelta(days=9))
    agent.facts.resolve_entities()
    agent.think("Is Zqcanary bad?", context="Zqcanary", min_confidence=0)
    agent.opinions.wait()
    held = agent.opinions.form("Zqcanary.", confidence=0.5, reasons=["Zq"], evidence=["zqcanary-1"])
    agent.opinions.weigh(held, contradicting="m2")
    add = agent.facts.add
    add(
        "Ann",
        "has",
        Text("Zqcanary"),
        id="zqcanary-f",
        evidence="zqcanary-1",
        uncertainty="zqcanary",
    )
    add("Ann", "lives_in", "Oslo", id="home", evidence="zqcanary-1", source=Source("zqcanary:1"))
    agent.facts.correct("home", object="Zqcanary", why="Zqcanary, she said")
    add("Ann", "seen_in", "Zqcanary Inn", id="f3", mentions=[Mention("c2", (0, 4), "Zqcanary Inn")])
    agent.facts.archive("f3", why="Zqcanary")
    agent.events.add("Ann fell ill: Zqcanary.", id="e1", facts=["home"], participants=["Zqcanary"])
    agent.events.add("It was Zqcanary.", id="e2", facts=["zqcanary-f"], times=["Zqcanary day"])
    agent.events.link("e1", "causes", "e2", qualifier="Zqcanary")
    agent.events.add_episode("The Zqcanary year", ["e1", "e2"], id="p1")
    agent.events.consolidate(age=timedelta(0), threshold=1.0)
    in_each_field(agent)


def in_each_field(agent: recollex.Agent) -> None:
    """Write the canary into the fields that the doors above leave without it."""
    with agent.transaction(by="ben", why="Zqcanary told it") as tx:
        tx.retain(
            "The Zqcanarian lamp is old.",
            id="zqcanary-2",
            source="zqcanary.org",
            entities=["Zqcanary Hall", "zqcanary hall"],
            document_id="zqcanary-doc",
        )
        fact = tx.facts.add(
            "Zqcanary Person",
            "zqcanary_of",
            "Zqcanary Hall",
            id="zqcanary-f2",
            evidence="zqcanary-2",
            uncertainty="zqcanary",
            mentions=[Mention("zqcanary-doc", (0, 4), "Zqcanary")],
        )
        tx.events.add(
            "Zqcanary came.", id="zqcanary-e", facts=[fact], participants=["Zqcanary Guest"]
        )
        tx.events.add_episode("The Zqcanary day", ["zqcanary-e"], id="zqcanary-p")
        tx.events.link("zqcanary-e", "has_participant", "Zqcanary Host", qualifier="zqcanary")
    agent.amend("zqcanary-2", metadata={"zqcanary": 1})
    agent.correct(
        "zqcanary-2",
        "The Zqcanarish lamp is new.",
        context="Zqcanary",
        tags=["zqcanary"],
        why="Zqcanary",
    )
    with agent.transaction(by="ben", why="Zqcanary") as tx:
        tx.facts.correct("zqcanary-f2", object="Zqcanary Tower", evidence="zqcanary-2")
    agent.facts.archive("zqcanary-f2", why="Zqcanary")
    (turn_id,) = agent.retain_dialogue([turn("I sing.", 0, "Zqcanary")], document_id="zqcanary-d3")
    agent.correct(str(turn_id), "I sang.", why="Zqcanary")


def of_the_caller(agent: recollex.Agent) -> None:
    """Write by the doors whose words rest on no memory: only erasing everything takes them."""
    agent.profile.set(background="I have Zqcanary.", openness=0.5, bias_strength=0.5)
    agent.facts.add("Zqcanary", "is_in", "Rome", id="g1", by="zq", why="Zqcanary")
    agent.facts.add("Zqcanary", "is_in", "Oslo", id="g2")
    agent.facts.add("Zqcanary", "is_in", "Lima", id="g3")
    agent.facts.add("Zqcanary", "is_in", "Quito", id="g4")
    agent.facts.undo(agent.log(op="upsert_edge")[-1].op, why="Zqcanary")
    agent.facts.add_entity("Zqcanary", aliases=["Dr. Zqcanary"], types=["zqcanary"])
    agent.facts.add_entity("Zqcanary Two")
    agent.facts.merge("Zqcanary Two", "Zqcanary", why="Zqcanary is one")
    agent.facts.split("Zqcanary Two", why="Zqcanary is two")
    agent.events.consolidate()
    agent.think("Is Zqcanary good?", min_confidence=0)
    agent.facts.add_entity("Zqcanary Person", types=["zqcanary"], by="ben", why="Zqcanary")
    agent.facts.add_entity("Zqcanary Three", aliases=["Zqcanary Four"])
    agent.facts.split("Zqcanary Three", name="Zqcanary Four", why="Zqcanary is two")
    agent.set_retention([Retention(age=timedelta(days=9999))], by="ben", why="Zqcanary")


def payloads(agent: recollex.Agent) -> list[tuple[str, dict[str, Any]]]:
    """Return the kind and payload of every record that has one, of stubs too."""
    follower = LogFollower(agent.engine.folder / "log")
    try:
        return [
            (each.kind, each.payload)
            for transaction in follower.read_new()
            for each in transaction.operations
            if each.payload is not None
        ]
    finally:
        follower.close()


def has_canary(value: object) -> bool:
    return WORDS[0] in orjson.dumps(value).decode().lower()


def wanted() -> set[tuple[str, str]]:
    """Return the kind and name of each field that holds texts and goes when they are erased."""
    found = set()
    for kind, fields in FIELDS.items():
        hints = get_type_hints(RECORDS[kind])
        for name, said in fields.items():
            if said.fate != "stays" and "str" in str(hints.get(name, str)):
                found.add((kind, name))
    return found - WITHOUT_WORDS


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which every door was used, with and without the caller's own."""
    folder = tmp_path_factory.mktemp("told")
    with opened(folder / "memories") as agent:
        of_memories(agent)
    shutil.copytree(folder / "memories", folder / "all")
    with opened(folder / "all") as agent:
        of_the_caller(agent)
        agent.checkpoint()
    return folder


@pytest.fixture
def copied(told: Path, tmp_path: Path) -> Callable[[str], Path]:
    def copy(name: str) -> Path:
        return Path(shutil.copytree(told / name, tmp_path / "store"))

    return copy


def test_the_table_names_every_kind_and_every_field(copied: Callable[[str], Path]) -> None:
    assert set(FIELDS) == {*KINDS, "restore"} - {"amend"}
    with opened(copied("all")) as agent:
        agent.retain("Nothing is here.", id="plain")
        agent.erase("plain", **BY)
        said = payloads(agent)
        for kind, payload in said:
            unknown = payload.keys() - FIELDS[kind].keys()
            assert not unknown, f"{kind} has {unknown}: whose content is that?"
        written = {
            (kind, name)
            for kind, payload in said
            for name, value in payload.items()
            if has_canary(value)
        }
        missing = wanted() - written
        assert not missing, f"the canary is not in {sorted(missing)}"
        agent.erase(everything=True, **BY)
        for kind, payload in payloads(agent):
            left = payload.keys() - STAYS[kind] - NUMBERED
            assert not left, f"{kind} keeps {left}"


def ids_of(agent: recollex.Agent) -> list[str]:
    """Return the ids of all memories, closed ones too."""
    return list(
        {said["id"] for kind, said in payloads(agent) if kind in RETAINING and "id" in said}
    )


@pytest.mark.parametrize("name", ["all", "memories"])
def test_nothing_is_left_in_the_store_and_in_copies_that_are_named(
    copied: Callable[[str], Path], tmp_path: Path, name: str
) -> None:
    folder, snapshot, backup = copied(name), tmp_path / "snapshot", tmp_path / "backup"
    with opened(folder) as agent:
        agent.snapshot(datetime.now(UTC), snapshot)
    with recollex.open(folder, embedder=WordVectors()) as store:
        store.backup(backup)
    with opened(folder) as agent:
        if name == "all":
            agent.erase(everything=True, **BY)
        else:
            agent.erase(ids_of(agent), **BY)
        assert agent.verify().problems == ()
    assert_gone(folder, WORDS)
    for copy in (snapshot, backup):
        recollex.erase_in_copy(folder, copy, "a", embedder=WordVectors(), **BY)
        assert_gone(copy, WORDS)
    with opened(snapshot) as agent:
        assert agent.verify().problems == ()


def test_nothing_is_left_in_an_encrypted_agent(tmp_path: Path) -> None:
    key = recollex.encryption.new_key()
    with opened(tmp_path / "store", key=key) as agent:
        of_memories(agent)
        assert any(has_canary(said) for _, said in payloads(agent))
        agent.erase(ids_of(agent), **BY)
        assert not [each for each in payloads(agent) if has_canary(each[1])]
        of_the_caller(agent)
        agent.erase(everything=True, **BY)
        assert not [each for each in payloads(agent) if has_canary(each[1])]
        assert agent.verify().problems == ()


@pytest.mark.parametrize("calls", [9, 25])
def test_an_erasure_that_was_killed_is_completed_by_the_next_opening(
    copied: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, calls: int
) -> None:
    folder = copied("memories")
    killed = tmp_path / "killed"
    with suppress(StoreFullError), opened(folder) as agent:
        ids = ids_of(agent)
        with monkeypatch.context() as patch:
            Disk(patch, calls, Crash)
            with pytest.raises(Crash):
                agent.erase(ids, **BY)
        shutil.copytree(folder, killed, ignore=shutil.ignore_patterns("LOCK"))
        monkeypatch.setattr("warnings.warn", lambda *_, **__: None)
    assert (killed / "agents" / "a" / "ERASE").exists()
    with opened(killed) as agent:
        assert agent.verify().problems == ()
    assert_gone(killed, WORDS)
