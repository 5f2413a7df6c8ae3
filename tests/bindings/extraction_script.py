"""What a scripted language model says when it is asked for facts, and a talk to draw them from."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import recollex
from tests.bindings.word_vectors import WordVectors
from tests.scripted_llm import Script, Scripted, Step, scripted

Sent = Mapping[str, Any]
COMPARES = "FactRelations"
"""The name of the schema of a comparison."""
FACTS = {"extraction": {"exists": True}}
"""The filter of facts that were drawn."""


def fact(text: str, *evidence: str, **more: Any) -> dict[str, Any]:
    """Return a fact as a model gives it."""
    said = {
        "text": text,
        "network": "world",
        "when": None,
        "participants": [],
        "reasons": [],
        "entities": [],
        "evidence": list(evidence or ("m1",)),
        "confidence": None,
    }
    return said | more


def facts(*given: dict[str, Any]) -> Step:
    """Return the answer with these facts."""
    return Step({"facts": list(given)})


def schema_of(sent: Sent) -> str:
    """Return the name of the schema that a request asks for."""
    asked: str = sent["response_format"]["json_schema"]["name"]
    return asked


def shown_turns(sent: Sent) -> list[str]:
    """Return the turns that a request shows, without labels and dates."""
    user = sent["messages"][-1]["content"]
    return re.findall(r"^\[m\d+\] \([^)]*\) (.*)$", user, re.M)


def echo(sent: Sent) -> Step:
    """Answer with a fact for each turn that says what the turn says; relate nothing."""
    if schema_of(sent) == COMPARES:
        return Step({"relations": []})
    turns = shown_turns(sent)
    told = [turn.replace(": ", " said: ") for turn in turns]
    return facts(*(fact(text, f"m{n}") for n, text in enumerate(told[:5], 1)))


def related(*relations: tuple[int, int, str]) -> Callable[[Sent], Step]:
    """Return a script that relates new facts to known ones by their places in the prompt.

    A pair is (place of the new fact, place of the known fact under it, relation), from 0.
    """

    def answer(sent: Sent) -> Step:
        pairs: list[tuple[str, list[str]]] = []
        for line in sent["messages"][-1]["content"].splitlines():
            if found := re.match(r"New \[(m\d+)\]", line):
                pairs.append((found[1], []))
            elif found := re.match(r"- known \[(m\d+)\]", line):
                pairs[-1][1].append(found[1])
        said = [
            {
                "new": pairs[new][0],
                "known": pairs[new][1][known],
                "relation": relation,
                "reason": "They say so.",
            }
            for new, known, relation in relations
        ]
        return Step({"relations": said})

    return answer


@contextmanager
def extracting(
    folder: Path, script: Script, **options: Any
) -> Iterator[tuple[recollex.Agent, Scripted]]:
    """Give an agent of a store whose language model follows a script."""
    with (
        scripted(script) as served,
        recollex.llm("m", base_url=served.url, attempts=2, first_wait=0.01, deadline=20) as llm,
        recollex.open(folder, embedder=WordVectors(), llm=llm, **options) as store,
    ):
        yield store.agent("ada"), served


def turn(text: str, minute: int = 0, speaker: str = "Ann", **more: Any) -> dict[str, Any]:
    """Return a turn of a talk on 4 May 2024, a Saturday."""
    at = f"2024-05-04T{10 + minute // 60:02}:{minute % 60:02}:00Z"
    return {"speaker": speaker, "text": text, "at": at} | more


TALK = [
    turn("Hi! I met Carol last Friday, she runs the maps team."),
    turn("Nice. I moved to Rome.", 1, "Ben"),
    turn("Why?", 2),
    turn("The food, and my sister lives there.", 3, "Ben"),
]


def drawn(ada: recollex.Agent) -> list[recollex.Memory]:
    """Return the facts that were drawn from memories."""
    return ada.list(where=FACTS)
