"""An agent that thinks with a scripted language model, and what it knows."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import recollex
import recollex.aio
from tests.bindings.word_vectors import WordVectors
from tests.scripted_llm import Script, Scripted, Step, scripted

DAY = datetime(2024, 5, 1, tzinfo=UTC)
QUESTION = "Is remote work good?"
NONE: dict[str, Any] = {"opinions": []}


def filled(ada: recollex.Agent) -> dict[str, str]:
    """Return the ids of what an agent knows, by the labels under which it will be shown."""
    ada.profile.set(
        openness=0.9, neuroticism=0.1, bias_strength=0.8, background="I am an engineer."
    )
    lived = ada.retain("I moved to Oslo for remote work.", network="agent", event_at=DAY)
    told = ada.retain("Remote work saves two hours a day.", event_at=DAY)
    held = ada.opinions.form("Remote work is good.", confidence=0.7, formed_at=DAY)
    return {"m1": lived, "m2": told, "m3": held}


@contextmanager
def thinking(
    folder: Path, script: Script, **options: Any
) -> Iterator[tuple[recollex.Agent, Scripted, dict[str, str]]]:
    with (
        scripted(script) as served,
        recollex.llm("m", base_url=served.url, attempts=2, first_wait=0.01) as llm,
        recollex.open(folder, embedder=WordVectors(), llm=llm, **options) as store,
    ):
        ada = store.agent("ada")
        yield ada, served, filled(ada)


def answers(*texts: str, opinions: Any = NONE) -> Script:
    """Return a script: answers to questions in order, the last for ever; and opinions."""
    given = list(texts)

    def script(sent: Any) -> Step:
        if "response_format" in sent:
            return Step(opinions)
        return Step(given.pop(0) if given[1:] else given[0])

    return script


def formed(text: str, **given: Any) -> dict[str, Any]:
    """Return an opinion as a model gives it."""
    return {
        "text": text,
        "confidence": 0.8,
        "reasons": ["It saves time."],
        "evidence": ["m2"],
        "supersedes": None,
    } | given
