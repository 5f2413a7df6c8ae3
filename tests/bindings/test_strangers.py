"""Two households in one agent: whose memories does a question mean?"""

from dataclasses import replace
from pathlib import Path

import pytest

import recollex
from recollex import presets
from recollex_engine.ranking.contextual_fusion import Contextual
from tests.bindings.word_vectors import WordVectors

BLIND = replace(presets.default, fusion=Contextual(circle=0.0))
QUESTION = "How warm does Ann like the seat of the car?"
HOUSEHOLDS = ("Ann", "Bob"), ("Cy", "Dee")
NOW = "2026-06-01T09:00:00Z"


def household(agent: recollex.Agent, people: tuple[str, str], degrees: int) -> None:
    said = (
        (people[0], "Good morning, shall we drive?"),
        (people[1], f"I set the seat of the car to {degrees} degrees, warm as we like it."),
    )
    agent.retain_dialogue(
        [
            {"speaker": speaker, "text": text, "id": f"{speaker}-{n}", "at": "2026-05-01T09:00:00Z"}
            for n, (speaker, text) in enumerate(said)
        ],
        document_id="-".join(people),
    )


def two_households(agent: recollex.Agent) -> None:
    for degrees, people in enumerate(HOUSEHOLDS, 30):
        household(agent, people, degrees)


def scores(agent: recollex.Agent, preset: presets.Preset = presets.default) -> dict[str, float]:
    return {m.id: m.score for m in agent.recall(QUESTION, preset=preset, now=NOW)}


def test_a_stranger_to_the_named_counts_less(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        agent = store.agent("a")
        two_households(agent)
        parts = {
            preset: {m.id: m.parts for m in agent.recall(QUESTION, preset=preset, explain=True)}
            for preset in (presets.default, BLIND)
        }
        for id, of_memory in parts[presets.default].items():
            less = parts[BLIND][id]["semantic"] - of_memory["semantic"]
            unit = 1.5 if id.startswith(HOUSEHOLDS[1]) else 0.0
            assert less == pytest.approx(unit * 1.3998, abs=1e-3)  # an agent of four is small
        assert agent.recall(QUESTION)[0].id == "Bob-1"
        for memory in agent.recall(QUESTION, explain=True):
            assert sum(memory.parts.values()) == pytest.approx(memory.score, abs=1e-9)


def test_two_names_of_two_circles_count_half_each(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        agent = store.agent("a")
        two_households(agent)
        vector = WordVectors().embed_query("seat")
        found = {
            preset: {
                m.id: m.parts["semantic"]
                for m in agent.recall(
                    "Which seat do Ann and Cy like?",
                    query_embedding=vector,
                    preset=preset,
                    explain=True,
                )
            }
            for preset in (presets.default, BLIND)
        }
        less = [found[BLIND][id] - found[presets.default][id] for id in found[BLIND]]
        assert less == pytest.approx([0.75 * 1.3998] * 4, abs=1e-3)


@pytest.mark.parametrize("question", ["How warm is the seat of the car?", "What did Eve like?"])
def test_without_a_named_speaker_there_is_no_stranger(tmp_path: Path, question: str) -> None:
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        agent = store.agent("a")
        two_households(agent)
        found, blind = (agent.recall(question, preset=p, now=NOW) for p in (presets.default, BLIND))
        assert [(m.id, m.score) for m in found] == [(m.id, m.score) for m in blind]


def test_one_talk_of_both_makes_two_households_one_circle(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        agent = store.agent("a")
        two_households(agent)
        then = max(memory.recorded_at for memory in agent.list())
        before = scores(agent)
        household(agent, ("Bob", "Dee"), 32)
        assert scores(agent) == scores(agent, BLIND)
        assert scores(agent.at(then)) == before != scores(agent.at(then), BLIND)
        agent.checkpoint()
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        again = store.agent("a")
        assert scores(again.at(then)) == before
        assert scores(again) == scores(again, BLIND)


def test_who_has_no_company_is_no_stranger(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        agent = store.agent("a")
        two_households(agent)
        alone = {"speaker": "Eve", "text": "Ann likes the seat of the car warm.", "id": "eve"}
        agent.retain_dialogue([alone], document_id="note")
        agent.retain("Ann has a seat in the car.", id="unsaid")
        found, blind = (
            {m.id: m.parts["semantic"] for m in agent.recall(QUESTION, preset=p, explain=True)}
            for p in (presets.default, BLIND)
        )
        assert {id for id in found if found[id] < blind[id]} == {"Cy-0", "Dee-1"}
        assert {id for id in found if found[id] == blind[id]} >= {"eve", "unsaid", "Ann-0"}
