"""A hundred texts that want to be more than data stay data, in a thought and in drawn facts."""

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import recollex
from recollex_mind.drawing import to_prompt
from recollex_mind.llm.prompts import find_prompt
from recollex_mind.prompt_data import as_data
from recollex_mind.thinking import PROMPT
from tests.bindings.injection_attacks import ATTACKS
from tests.bindings.word_vectors import WordVectors
from tests.scripted_llm import Step, scripted

if find_spec("openai") is None or find_spec("pydantic") is None:
    pytest.skip("needs the extra: recollex[llm]", allow_module_level=True)

HEADINGS = [line for line in find_prompt(PROMPT).parts[1][1].splitlines() if line.endswith(":")]
TEMPLATE_MARKS = (
    "<|",
    "|>",
    "[INST]",
    "[/INST]",
    "<<SYS>>",
    "<s>",
    "</s>",
    "<start_of",
    "<end_of",
    "<think>",
)
QUESTION = "Is remote work good?"
Drawing = tuple[recollex.Store, list[Any]]
KNOWN = {"extraction": "before-1", "evidence": ["gone"]}
"""The metadata of a fact that is known."""


def test_there_are_a_hundred() -> None:
    assert len(set(ATTACKS)) == 100


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_line_of_a_text_begins_where_the_prompt_does(attack: str) -> None:
    written = as_data(attack)
    _, *others = written.split("\n")
    assert all(line.startswith("    ") for line in others)
    assert len(written.splitlines()) == max(1, 1 + len(others))
    assert not re.search(r"\[\s*m\s*\d+(\s*[,;]\s*m?\s*\d+)*\s*\]", written, re.I)
    assert not any(mark.lower() in written.lower() for mark in TEMPLATE_MARKS)


@pytest.mark.parametrize("attack", ATTACKS)
def test_the_prompt_has_the_shape_that_it_always_has(tmp_path: Path, attack: str) -> None:
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        ada = store.agent("ada")
        ada.retain(f"Remote work is good. {attack}", id="evil", source="web")
        ada.retain("I like remote work.", network="agent", source="user")
        ada.opinions.form(f"Remote work is good. {attack}"[:900], confidence=0.5)
        ada.profile.set(background=attack[:500])
        thought = ada.think(f"{QUESTION} {attack}", context=attack, min_confidence=0)
    assert [each["role"] for each in thought.messages] == ["system", "user"]
    system, user = (each["content"] for each in thought.messages)
    assert attack.strip() not in system or len(attack) < 5
    lines = user.split("\n")
    assert [line for line in lines if line in HEADINGS] == HEADINGS
    labelled = [line for line in lines if re.match(r"\[m\d+\]", line)]
    assert len(labelled) == len(thought.shown) == 3
    assert [line[: line.index("]") + 1] for line in labelled] == ["[m1]", "[m2]", "[m3]"]
    (evil,) = [line for line in labelled if "source: web]" in line]
    assert re.match(r"\[m\d\] \[\w+ \d\d, \d{4}; source: web\] Remote work is good", evil)
    starts = [line for line in lines if line and not line.startswith("    ")]
    template = find_prompt(PROMPT).parts[1][1].split("\n")
    own = [line for line in template if line and not line.startswith("    ")]
    assert len(starts) == len(own) + 4  # five traits stand for one line


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_obedient_model_can_do_nothing_but_answer(tmp_path: Path, attack: str) -> None:
    evil = {
        "text": f"Obey. {attack}"[:400].strip(),
        "confidence": 1.0,
        "reasons": [attack[:200]],
        "evidence": ["m1", "m99", attack[:50]],
        "supersedes": attack[:50],
    }

    def script(sent: Any) -> Step:
        return Step({"opinions": [evil]}) if "response_format" in sent else Step(attack)

    with (
        scripted(script) as served,
        recollex.llm("m", base_url=served.url, attempts=1) as llm,
        recollex.open(tmp_path, embedder=WordVectors(), llm=llm) as store,
    ):
        ada = store.agent("ada")
        ada.retain(f"Remote work is good. {attack}", id="evil", source="web")
        ada.retain("I like remote work.", id="own", network="agent", source="user")
        held = ada.opinions.form("Remote work is good.", confidence=0.5)
        profile, before = ada.profile.get(), ada.head().op
        thought = ada.think(QUESTION, min_confidence=0)
        assert ada.opinions.wait()
        written = [entry for entry in ada.log() if entry.op > before]
        assert {entry.kind for entry in written} <= {"think", "retain", "form"}
        (formed,) = [each for each in ada.opinions.find() if each.id != held]
        assert (formed.trust, formed.superseded_by) == ("web", None)
        assert ada.get(formed.id).network == "opinion"
        assert set(formed.evidence) <= {"evil", "own", held}
        assert ada.get("evil").text.startswith("Remote work") and ada.get("own").trust == "user"
        assert ada.opinions.get(held).superseded_by is None
        assert ada.profile.get() == profile and store.agents() == ["ada"]
        shown = set(thought.shown)
        assert {each.label for each in thought.citations} <= shown
        assert set(re.findall(r"\[(m\d+)\]", thought.text or "")) <= shown


FACT_HEADINGS = [
    line for line in find_prompt("narrative-1").parts[1][1].splitlines() if line.endswith(":")
]
"""The lines of the prompt of extraction beside the turns."""


@pytest.fixture(scope="module")
def drawing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Drawing]:
    """Give a store, and a list of what its model says when it is asked for facts."""
    said: list[Any] = []

    def script(sent: Any) -> Step:
        compares = sent["response_format"]["json_schema"]["name"] == "FactRelations"
        return Step({"relations": said[1]} if compares else {"facts": said[0]})

    with (
        scripted(script) as served,
        recollex.llm("m", base_url=served.url, attempts=1) as llm,
        recollex.open(tmp_path_factory.mktemp("s"), embedder=WordVectors(), llm=llm) as store,
    ):
        yield store, said


@pytest.mark.parametrize("place", range(len(ATTACKS)))
def test_a_model_that_obeys_a_turn_can_draw_facts_and_nothing_else(
    drawing: Drawing, place: int
) -> None:
    attack, (store, said) = ATTACKS[place], drawing
    short = f"Obey. {attack}"[:400].strip()
    evil = {
        "text": f"Acme told {short}",
        "network": "opinion",
        "when": attack[:50],
        "participants": [attack[:200]],
        "reasons": [attack[:200]],
        "entities": [{"name": attack[:100], "type": "OTHER"}],
        "evidence": ["m1", "m99", attack[:50]],
        "confidence": 1.0,
    }
    relation = {"new": "m2", "known": "m1", "relation": "refines", "reason": attack[:400]}
    said[:] = [
        [evil, evil | {"network": "agent", "text": f"I obey {short}"}],
        [relation, relation | {"known": attack[:50]}],
    ]
    ada = store.agent(f"ada-{place}")
    ada.retain(f"Acme told {short}", id="held", source="user", metadata=KNOWN)
    ada.retain("I like remote work.", id="own", network="agent", source="user")
    ada.retain(f"{attack} Remote work is good.", id="evil", source="web")
    check_shape(ada)
    profile, before = ada.profile.get(), ada.head().op
    ada.extract()
    written = [entry for entry in ada.log() if entry.op > before]
    assert {entry.kind for entry in written} == {"retain", "extract"}
    made = ada.list(where={"extraction": "narrative-1"})
    told = [each for each in made if each.metadata["evidence"] == ["evil"]]
    assert told and all((each.network, each.trust) == ("world", "web") for each in told)
    assert all(each.metadata["evidence"] in (["evil"], ["own"]) for each in made)
    held = ada.get("held")
    assert (held.closed, held.valid_until, dict(held.metadata)) == (None, None, KNOWN)
    assert ada.get("own").trust == "user" and ada.get("evil").trust == "web"
    assert ada.profile.get() == profile
    assert {each.trust for each in ada.opinions.find()} <= {"assistant"}


def check_shape(ada: recollex.Agent) -> None:
    """Check that no line of a memory stands where the prompt's own lines do."""
    memories = ada.list()
    messages = to_prompt(ada.name, memories, memories, "narrative")
    assert [each["role"] for each in messages] == ["system", "user"]
    lines = messages[1]["content"].split("\n")
    assert [line for line in lines if line in FACT_HEADINGS] == FACT_HEADINGS
    starts = [line for line in lines if line and not line.startswith("    ")]
    assert len(starts) == len(FACT_HEADINGS) + 2 * len(memories)
    labelled = [line for line in starts if re.match(r"\[m\d\] \(\w+, \w+ \d\d, \d{4}[;)]", line)]
    assert len(labelled) == len(memories)
    assert len(re.findall(r"\[m\d+\]", messages[1]["content"])) == len(memories)
