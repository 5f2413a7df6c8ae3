"""A word that no memory holds finds what is spelled like it."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recollex
from recollex import presets

BEGIN = datetime(2024, 1, 1, tzinfo=UTC)
ALL_ALIKE = np.ones(8) / np.sqrt(8)
OFF = replace(presets.default, fusion=replace(presets.default.fusion, spelling=0.0))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[recollex.Store]:
    with recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(8)) as store:
        yield store


def retain(agent: recollex.Agent, texts: list[str], tags: Any = ()) -> None:
    """Retain texts, the nth memory on the nth day."""
    for day, text in enumerate(texts, start=agent.stats().memories):
        recorded = BEGIN + timedelta(days=day)
        agent.retain(text, embedding=ALL_ALIKE, tags=tags, recorded_at=recorded)


def ask(agent: Any, question: str, **options: Any) -> list[tuple[str, float]]:
    recall = agent.recall(
        question, query_embedding=ALL_ALIKE, now=BEGIN + timedelta(days=999), **options
    )
    assert not recall.trace.errors
    return [(memory.text, memory.score) for memory in recall]


FILLER = [f"The {word} of pier {n}." for n in range(50) for word in ("cranes", "gulls", "ferries")]
SIGNED = "The protocols were signed."


@pytest.mark.parametrize("question", ["Wer hat das Protokol?", "protocls", "Who has protoccol?"])
def test_a_misspelled_word_finds_what_was_meant(store: recollex.Store, question: str) -> None:
    agent = store.agent("a")
    retain(agent, [SIGNED, *FILLER])
    assert ask(agent, question)[0][0] == SIGNED
    assert ask(agent, question, preset=OFF)[0][0] != SIGNED


def test_known_words_are_searched_as_they_are_spelled(store: recollex.Store) -> None:
    agent = store.agent("a")
    retain(agent, ["The protocol of June.", "The protocols, and a protocolle.", *FILLER])
    mostly = "Which of piers 11, 12, 13, 14, 15 and 16 has a protocla?"
    for question in ("Which protocol?", "gulls and ferries", mostly):
        assert ask(agent, question) == ask(agent, question, preset=OFF)


def test_the_papers_presets_search_words_as_they_are_spelled(store: recollex.Store) -> None:
    agent = store.agent("a")
    retain(agent, [SIGNED, *FILLER])
    keyword = replace(presets.tempr, arms=("keyword",))
    assert ask(agent, "protocls", preset=keyword) == []


def test_a_filter_decides_which_words_are_known(store: recollex.Store) -> None:
    agent = store.agent("a")
    retain(agent, [SIGNED, *FILLER], tags=["ours"])
    retain(agent, ["Their protocolla."], tags=["theirs"])
    assert ask(agent, "protocolla")[0][0] == "Their protocolla."
    assert ask(agent, "protocolla", tags=["ours"])[0][0] == SIGNED


def test_confidence_counts_such_a_word_as_unknown(store: recollex.Store) -> None:
    agent = store.agent("a")
    retain(agent, [SIGNED, *FILLER])
    options = {"query_embedding": ALL_ALIKE, "now": BEGIN}
    told = agent.recall("gulls protocls", **options).signs
    without = agent.recall("gulls protocls", preset=OFF, **options).signs
    assert told is not None and without is not None
    assert told.unknown == without.unknown > 0.4


@pytest.mark.parametrize("seed", range(4))
def test_a_cut_knows_the_words_of_its_time(
    store: recollex.Store, tmp_path: Path, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    family = ["protocol", "protocolla", "protokoll", "prototype", "protocool", "gull"]
    texts = [" ".join(rng.choice(family, 2)) for _ in range(8)]
    agent = store.agent("a")
    retain(agent, texts)
    with recollex.open(tmp_path / "t", embedder=recollex.GivenVectors(8)) as other:
        growing = other.agent("a")
        for count, text in enumerate(texts):
            retain(growing, [text])
            cut = agent.at(BEGIN + timedelta(days=count, hours=1))
            for question in ("protocoll", "protokolla gul", *family[:3]):
                assert ask(cut, question) == ask(growing, question)


def test_the_share_lies_between_0_and_1() -> None:
    for share in (-0.1, 1.1):
        with pytest.raises(recollex.errors.InputError, match=r"spelling must lie in \[0, 1\]"):
            replace(presets.default.fusion, spelling=share)
