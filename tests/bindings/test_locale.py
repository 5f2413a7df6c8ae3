"""The order of day and month: a setting of the agent, in questions, texts and the log."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest

import recollex
import recollex.aio
from recollex.cli import main
from tests.bindings.serving import serving
from tests.bindings.word_vectors import WordVectors

SAID_AT = datetime(2024, 3, 1, 12, tzinfo=UTC)
ASKED_AT = datetime(2024, 3, 13, 12, tzinfo=UTC)
TEXTS = ("We sailed on 5/2/2024.", "We skated on 2/5/2024.", "We rested on 25.12.2023.")


def store_in(folder: Path, **options: str) -> recollex.Store:
    return recollex.open(folder, embedder=WordVectors(), clock=lambda: SAID_AT, **options)


def day(month: int, of_month: int, year: int = 2024) -> datetime:
    return datetime(year, month, of_month, tzinfo=UTC)


@pytest.mark.parametrize(
    ("options", "days"),
    [
        ({}, (day(2, 5), day(5, 2), day(12, 25, 2023))),
        ({"locale": "de"}, (day(2, 5), day(5, 2), day(12, 25, 2023))),
        ({"locale": "en-US"}, (day(5, 2), day(2, 5), day(12, 25, 2023))),
    ],
)
def test_the_dates_of_texts_and_of_questions_follow_the_locale(
    tmp_path: Path, options: dict[str, str], days: tuple[datetime, ...]
) -> None:
    with store_in(tmp_path, **options) as store:
        agent = store.agent("ann")
        ids = agent.retain_many(list(TEXTS))
        assert tuple(agent.get(id).event[0] for id in ids) == days
        for written, expected in zip(("5/2/2024", "2/5/2024", "12/25"), days, strict=True):
            found = agent.recall(f"What did we do on {written}?", now=ASKED_AT)
            assert found.time_range is not None
            assert found.time_range[0] == expected
            assert found[0].event[0] == expected


def test_the_locale_is_that_of_the_agents_creation(tmp_path: Path) -> None:
    with store_in(tmp_path, locale="en-US") as store:
        agent = store.agent("ann")
        assert agent.stats().locale is None
        agent.retain(TEXTS[0])
        assert agent.stats().locale == "en-US"
        before = agent.recall("on 5/2/2024?", now=ASKED_AT).time_range
    log = sorted((tmp_path / "agents" / "ann" / "log").iterdir())[0]
    assert b'"locale":"en-US"' in log.read_bytes()
    with store_in(tmp_path, locale="de") as store:
        agent = store.agent("ann")
        assert agent.stats().locale == "en-US"
        assert agent.recall("on 5/2/2024?", now=ASKED_AT).time_range == before
        second = agent.retain(TEXTS[1])
        assert agent.get(second).event[0] == day(2, 5)
        agent.checkpoint()
    with store_in(tmp_path) as store:
        assert store.agent("ann").recall("on 5/2/2024?", now=ASKED_AT).time_range == before


def test_a_copy_of_the_log_has_the_same_locale(tmp_path: Path) -> None:
    with store_in(tmp_path / "one", locale="en-US") as store:
        agent = store.agent("ann")
        agent.retain_many(list(TEXTS), recorded_at=SAID_AT - timedelta(hours=1))
        told = agent.recall("What did we do on 5/2/2024?", now=ASKED_AT)
        agent.snapshot(SAID_AT, tmp_path / "copy")
    with store_in(tmp_path / "copy") as store:
        agent = store.agent("ann")
        copied = agent.recall("What did we do on 5/2/2024?", now=ASKED_AT)
        assert agent.stats().locale == "en-US"
        assert copied.time_range == told.time_range
        assert [(m.id, m.score, m.event) for m in copied] == [
            (m.id, m.score, m.event) for m in told
        ]


@pytest.mark.parametrize(
    "question",
    ["What did I do on 19.01.2024?", "on Jan. 19th, 2024?", "on 19.1.24?", "on 19-01-2024?"],
)
def test_a_date_in_a_question_finds_what_was_then(tmp_path: Path, question: str) -> None:
    """The memory of that day is first although it shares no word with the question."""
    with store_in(tmp_path) as store:
        agent = store.agent("ann")
        agent.retain_many(
            ["Painted our kitchen green.", "Bought tyres.", "Sold that old sofa."],
            event_at=[day(1, 18), day(1, 19), day(1, 20)],
        )
        assert agent.recall(question, now=ASKED_AT)[0].text == "Bought tyres."
        friday = agent.recall("Friday before 20.01.2024?", now=ASKED_AT)
        assert friday[0].text == "Bought tyres."


@pytest.mark.parametrize(("locale", "began"), [("en-US", day(5, 2)), ("en-GB", day(2, 5))])
def test_the_words_of_valid_times_follow_the_locale(
    tmp_path: Path, locale: str, began: datetime
) -> None:
    """Also where the agent has no operation yet, and on the command line."""
    words = "since 5/2/2024"
    edge = {"op": "UPSERT_EDGE", "subject": "Ann", "predicate": "at", "valid": words}
    with recollex.open(tmp_path / "s", locale=locale) as store:
        agent = store.agent("ann")
        facts = [agent.facts.add("Ann", "works_at", "Google", valid=words)]
        agent.facts.correct(facts[0], valid=words, object="Apple")
        with agent.transaction() as transaction:
            facts.append(transaction.facts.add("Ann", "lives_in", "Oslo", valid=words))
            event = transaction.events.add("Ann moved.", span="on 5/2/2024")
        agent.apply([edge | {"object": "home", "id": "applied"}])
    file = tmp_path / "operations.jsonl"
    file.write_bytes(orjson.dumps(edge | {"object": "sea", "id": "from a file"}))
    assert main(["apply", str(tmp_path / "s"), str(file), "--agent", "ann"]) == 0
    with recollex.open(tmp_path / "s") as store:
        agent = store.agent("ann")
        for id in (*facts, "applied", "from a file"):
            assert agent.facts.get(id).valid[0] == began
        span = agent.events.get(event).span
        assert span is not None and span[0] == began


def test_a_transaction_at_a_server_reads_words_in_the_agents_locale(tmp_path: Path) -> None:
    async def awaited(address: str) -> datetime | None:
        async with recollex.aio.connect(address) as store:
            agent = await store.agent("ann")
            async with agent.transaction() as transaction:
                id = transaction.facts.add("Ann", "likes", "Rome", valid="since 5/2/2024")
            return (await agent.facts.get(id)).valid[0]

    with serving(store_in(tmp_path / "s", locale="en-US")) as server:
        with recollex.connect(server.addresses[0]) as store:
            agent = store.agent("ann")
            agent.retain(TEXTS[0])
            with agent.transaction() as transaction:
                id = transaction.facts.add("Ann", "likes", "Oslo", valid="since 5/2/2024")
            assert agent.facts.get(id).valid[0] == day(5, 2)
        assert asyncio.run(awaited(server.addresses[0])) == day(5, 2)
