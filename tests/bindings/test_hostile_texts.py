"""No text keeps a store busy: each door takes time linear in the length of what it is given."""

from contextlib import suppress
from functools import cache
from itertools import count

import numpy as np
import pytest

import recollex
from recollex import WritePolicy
from recollex_engine.domain.question import MAX_QUERY
from recollex_engine.errors import InputError
from tests.bindings.word_vectors import WordVectors
from tests.hostile import UNITS, seconds

AT = "2024-05-05T10:00:00Z"
NASTY = ("\u30ab", "\u0627\u0628\u0646 ", "[", "123-45-6789 ", "May 5, 2024, ", "A. ")
"""What is tried by default; `UNITS` where there is time."""
ALL = [*NASTY, *(pytest.param(unit, marks=pytest.mark.slow) for unit in UNITS if unit not in NASTY)]
ENOUGH = 0.1
"""Seconds of processor that are not compared with those of a shorter text."""


NUMBERS = count()
"""Each call has an agent of its own."""


class FewWords(WordVectors):
    """Reads the beginning of a text, once: a model's own time is not measured here."""

    def __init__(self):
        super().__init__()
        self.known = cache(super().embed_query)

    def embed(self, texts, threads=1, progress=None):
        return np.array([self.embed_query(text) for text in texts], np.float32)

    def embed_query(self, text):
        return self.known(text[:8])

    def count_tokens(self, text):
        return len(text) // 4


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    with recollex.open(folder, embedder=FewWords(), durability="off") as store:
        store.agent("warm").retain("Ann was in Oslo in May.")
        store.agent("warm").recall("Where was Ann in May?")
        yield store


def turns(text):
    return [
        {"speaker": "Ann", "role": "user", "text": text, "at": AT},
        {"speaker": "Bob", "text": "Oh.", "at": "2024-05-05T10:00:30Z"},
    ]


DOORS = {
    "retain": (12_500, lambda agent, text: agent.retain(text)),
    "talk": (12_500, lambda agent, text: agent.retain_dialogue(turns(text), document_id="c")),
    "policy": (
        *(5_000,),
        lambda agent, text: agent.retain_dialogue(
            turns(text), document_id="c", policy=WritePolicy()
        ),
    ),
    "question": (MAX_QUERY // 4, lambda agent, text: asked(agent, text)),
    "background": (12_500, lambda agent, text: background(agent, text)),
    "fact": (250, lambda agent, text: agent.facts.add(text, "likes", text)),
    "entities": (250, lambda agent, text: agent.retain("Tea.", entities=[text])),
}
"""Door -> characters of the shorter text, and how it is given."""


def asked(agent, text):
    agent.retain("Ann was in Oslo in May.")
    agent.recall(text)


def background(agent, text):
    with suppress(InputError):
        agent.profile.merge_background("You cook. " * 60 + text)


@pytest.mark.parametrize("unit", ALL)
@pytest.mark.parametrize("door", DOORS)
def test_each_door_takes_linear_time(store, door, unit):
    size, call = DOORS[door]

    def taken(size):
        agents = [store.agent(f"{door}-{next(NUMBERS)}") for _ in range(3)]
        text = (unit * (size // len(unit) + 1))[: size - 1] + "a"  # some units are spaces
        return seconds(lambda: call(agents.pop(), text), ENOUGH)

    long = taken(4 * size)
    assert long <= max(ENOUGH, 5 * taken(size))


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
def test_a_million_characters_are_retained_in_two_seconds(store, unit):
    agents = [store.agent(f"million-{next(NUMBERS)}") for _ in range(3)]
    text = (unit * (1_000_000 // len(unit)))[:999_999] + "a"
    assert seconds(lambda: agents.pop().retain(text), 2.0) <= 2.0
