"""Ten talks in one agent: a tag that names a talk finds what an agent of the talk's own finds."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import recollex
from tests.bindings.word_vectors import WordVectors

PAIRS = (
    *(("Ann", "Ben"), ("Cleo", "Dan"), ("Eve", "Finn"), ("Gus", "Hana"), ("Ivo", "Jana")),
    *(("Kim", "Leo"), ("Mia", "Nils"), ("Ora", "Pia"), ("Quin", "Rosa"), ("Sven", "Tess")),
)
THINGS = ("kettle", "bicycle", "lamp", "kayak", "guitar", "carpet", "camera", "ladder", "mirror")
TOWNS = ("Oslo", "Porto", "Ghent", "Turin", "Malmo", "Basel", "Krakow", "Bilbao", "Bergen")
PETS = ("hamster", "parrot", "tortoise", "rabbit", "goldfish", "ferret", "canary", "gecko")
CHAT = (
    "That sounds lovely.",
    "Did you really?",
    "I had a long day at work.",
    "The weather was awful again.",
    "Let us have dinner soon.",
    "I slept badly.",
    "My neighbour is loud.",
    "What else is new?",
)
BANKS = range(10)
ASKED_AT = datetime(2025, 1, 1, tzinfo=UTC)


def talk(bank: int) -> tuple[list[dict[str, Any]], list[tuple[str, str]]]:
    """Return 32 turns of two people, and eight questions with the turns that answer them."""
    draw = random.Random(bank)
    pair = PAIRS[bank]
    facts = [
        fact
        for who in pair
        for town in [draw.choice(TOWNS)]
        for fact in (
            (who, f"I bought a {draw.choice(THINGS)} in {town}.", f"What did {who} buy in {town}?"),
            (
                who,
                f"My sister got a {draw.choice(PETS)} for her birthday.",
                f"Which animal did the sister of {who} get?",
            ),
            (
                who,
                f"I broke the {draw.choice(THINGS)} of my aunt.",
                f"What of the aunt did {who} break?",
            ),
            (
                who,
                f"My dentist moved to {draw.choice(TOWNS)}.",
                f"Where did the dentist of {who} move?",
            ),
        )
    ]
    draw.shuffle(facts)
    said, questions = [], []
    for who, text, question in facts:
        said += [(draw.choice(pair), small) for small in draw.sample(CHAT, 3)]
        questions.append((question, f"{bank}-{len(said)}"))
        said.append((who, text))
    start = datetime(2024, 1 + bank, 1, tzinfo=UTC)
    turns = [
        {"speaker": who, "text": text, "at": start + timedelta(hours=7 * n), "id": f"{bank}-{n}"}
        for n, (who, text) in enumerate(said)
    ]
    return turns, questions


TALKS = [talk(bank) for bank in BANKS]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[recollex.Store]:
    folder = tmp_path_factory.mktemp("banks") / "s"
    with recollex.open(folder, embedder=WordVectors(), clock=lambda: ASKED_AT) as store:
        for bank, (turns, _) in enumerate(TALKS):
            for name in ("together", f"bank-{bank}"):
                agent = store.agent(name)
                agent.retain_dialogue(turns, document_id=f"talk-{bank}", tags=[f"bank-{bank}"])
        yield store


def first_ids(agent: recollex.Agent, question: str, **options: Any) -> list[str]:
    return agent.recall(question, **options).ids[:10]


@pytest.mark.parametrize(("top", "least"), [(1, 0.8), (3, 0.95)])
def test_a_tag_gives_back_what_an_agent_of_its_own_finds(
    store: recollex.Store, top: int, least: float
) -> None:
    alone = tagged = untagged = count = 0
    for bank, (_, questions) in enumerate(TALKS):
        for question, evidence in questions:
            together = store.agent("together")
            count += 1
            alone += evidence in first_ids(store.agent(f"bank-{bank}"), question)[:top]
            tagged += evidence in first_ids(together, question, tags=[f"bank-{bank}"])[:top]
            untagged += evidence in first_ids(together, question)[:top]
    assert tagged >= alone >= least * count
    if top == 3:
        assert untagged >= alone - 0.05 * count


def test_a_tag_ranks_almost_as_an_agent_of_its_own(store: recollex.Store) -> None:
    shared = 0
    for bank, (_, questions) in enumerate(TALKS):
        for question, _ in questions:
            alone = first_ids(store.agent(f"bank-{bank}"), question)
            tagged = first_ids(store.agent("together"), question, tags=[f"bank-{bank}"])
            assert tagged[0] == alone[0]
            shared += len(set(tagged) & set(alone))
    assert shared >= 0.97 * 10 * 80
