"""What decides where hardly anything matches: not who spoke, and not a model that cannot read."""

from dataclasses import replace
from pathlib import Path

import pytest

import recollex
from recollex_engine.models.description import PAPER_THRESHOLDS
from recollex_engine.ranking.contextual_fusion import KEYWORD_CONTEXT, SURE, Contextual
from recollex_engine.ranking.small_stores import SIMILARITY, smallness
from tests.bindings.word_vectors import WordVectors

TALK = [
    {"speaker": "Ann", "text": "The harbour market sells smoked eel and rye bread.", "id": "eel"},
    {"speaker": "Ben", "text": "My bicycle was stolen at night.", "id": "bicycle"},
    {"speaker": "Ann", "text": "Our choir rehearses in the old mill.", "id": "choir"},
]


def parts(agent: recollex.Agent, question: str) -> dict[str, dict[str, float]]:
    return {memory.id: dict(memory.parts) for memory in agent.recall(question, explain=True)}


def test_a_speaker_counts_as_far_as_the_best_memory_matches(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        agent = store.agent("a")
        agent.retain_dialogue(TALK, document_id="d")
        weak = parts(agent, "The rye market pleases Ann telescope lens")
        strong = parts(agent, "Ann: The harbour market sells smoked eel and rye bread.")
    full = Contextual()

    def base(of: dict[str, dict[str, float]]) -> float:
        semantic = 1 + SIMILARITY * smallness(len(TALK))  # its weight in an agent of few memories
        x = (
            p["keyword"] / full.keyword * KEYWORD_CONTEXT + p["semantic"] / semantic
            for p in of.values()
        )
        return max(x)

    assert base(strong) > SURE
    assert strong["eel"]["speaker"] == full.speaker
    assert 0 < base(weak) < SURE
    assert weak["eel"]["speaker"] == pytest.approx(full.speaker * base(weak) / SURE)
    assert weak["bicycle"]["speaker"] == 0


def test_a_model_counts_less_for_a_script_that_it_does_not_know(tmp_path: Path) -> None:
    found = {}
    for foreign in (1.0, 0.25):
        embedder = WordVectors()
        embedder.thresholds = replace(PAPER_THRESHOLDS, foreign=foreign)
        with recollex.open(tmp_path / str(foreign), embedder=embedder) as store:
            agent = store.agent("a")
            agent.retain_many(
                ["Кошка спит на диване.", "The cat sleeps on the sofa."], id=["ru", "en"]
            )
            recalls = [agent.recall(text, explain=True) for text in ("Где кошка спит", "the cat")]
            found[foreign] = [{m.id: m.parts for m in recall} for recall in recalls]
    russian, english = found[1.0]
    assert found[0.25][0]["ru"]["semantic"] == pytest.approx(russian["ru"]["semantic"] / 4)
    assert found[0.25][0]["ru"]["keyword"] == russian["ru"]["keyword"]
    assert found[0.25][1] == english
