"""What did an agent know at an earlier time?"""

import asyncio
import shutil
from datetime import datetime, timedelta

import numpy as np
import pytest

import recollex
import recollex.aio
from recollex_engine.errors import InputError, ReadOnlyError, UnknownIdError
from tests.bindings.time_travel.days import DAY, START, VECTORS, asked, day, told


def test_a_cut_knows_what_was_told_by_then(agent):
    assert [m.text for m in agent.at(day(1)).list()] == ["Ann lives in Oslo."]
    assert [m.id for m in agent.at(day(2)).list()] == ["home", "pet"]
    assert [m.text for m in agent.at(day(3)).list()] == ["Ben has a puppy.", "Ann lives in Rome."]
    assert [m.id for m in agent.at(day(5)).list()] == ["home", "cello"]
    assert [m.id for m in agent.list()] == ["home"]
    just_before = day(3) - timedelta(microseconds=1)
    assert agent.at(just_before).get("home").text == "Ann lives in Oslo."
    assert asked(agent, as_recorded=just_before)[0].text == "Ann lives in Oslo."
    (recall,) = agent.recall_many(["Ann"], query_embedding=VECTORS[:1], as_recorded=day(1))
    assert recall.ids == ["home"]


def test_before_the_first_memory_nothing_is_known(agent):
    then = agent.at(START - DAY)
    assert asked(then).ids == [] == then.list() == then.log()
    assert then.stats().memories == 0
    assert then.verify().ok
    with pytest.raises(UnknownIdError):
        then.get("home")


def test_the_future_is_refused_and_the_present_is_not(agent):
    assert agent.at(day(20)).list() == agent.list()
    for ask in (agent.at, lambda t: asked(agent, as_recorded=t), agent.diff):
        with pytest.raises(InputError, match="in the future"):
            ask(day(20) + timedelta(microseconds=1))
    soon = day(20) + timedelta(minutes=5)
    later = agent.retain("Said soon.", recorded_at=soon, embedding=VECTORS[0])
    assert [m.id for m in agent.at(soon).list()] == ["home", later]  # recorded: not unknown
    assert [m.id for m in agent.at(day(20)).list()] == ["home"]


@pytest.mark.parametrize("name", ["as_recorded", "as_world"])
def test_a_moment_has_a_zone(agent, name):
    with pytest.raises(InputError, match=f"{name} has no time zone"):
        asked(agent, **{name: datetime(2024, 5, 2)})
    with pytest.raises(InputError, match=f"{name} has no time zone"):
        asked(agent, **{name: "2024-05-02"})


def test_a_cut_cannot_be_written_to(agent):
    then = agent.at(day(2))
    assert "as of 2024-05-03" in repr(then)
    for write in (
        lambda: then.retain("x", embedding=VECTORS[0]),
        lambda: then.retain_dialogue([{"speaker": "a", "text": "b"}], document_id="d"),
        lambda: then.forget("home"),
        lambda: then.archive("home"),
        lambda: then.correct("home", "x"),
        then.checkpoint,
    ):
        with pytest.raises(ReadOnlyError, match="the past cannot be changed"):
            write()
    with pytest.raises(InputError, match="must not be later than"):
        then.at(day(3))
    assert then.at(day(1)).list() == agent.at(day(1)).list()
    assert then.at(day(2)).list() == then.list()


def test_a_cut_stays_as_it_is_while_more_is_told(agent):
    then = agent.at(day(20))
    before = list(asked(then)), then.list(), then.stats().memories
    agent.retain_many(["Ann has a cat."] * 3, embedding=VECTORS[:3])
    agent.checkpoint()
    assert (list(asked(then)), then.list(), then.stats().memories) == before
    assert then.list() == agent.at(day(20)).list()


def test_an_id_that_came_later_is_not_known_before(store):
    agent = store.agent("b")
    agent.retain_dialogue([], document_id="d", replace=True, recorded_at=day(1))
    assert agent.list() == []  # a view of an agent that holds no memory
    then = agent.at(day(1))
    assert then.list() == []
    told(agent, 2, "Ann lives in Oslo.", id="home")
    replica = agent.engine.replica()
    replica.view(replica.columns.op)  # as a checkpoint does, before the first read
    with pytest.raises(UnknownIdError):
        then.get("home")
    for number in range(3, 20):
        told(agent, number, f"On day {number}.", id=f"m{number}")
    assert agent.at(day(2)).list() == [agent.get("home")]
    with pytest.raises(UnknownIdError):
        agent.at(day(2)).get("m19")
    numbers = agent.at(day(2)).stats()
    assert (numbers.terms, numbers.entities) == (3, 2)


def test_now_is_the_moment_of_the_cut(agent):
    found = asked(agent.at(day(3)), "what did Ann do yesterday")
    assert found.time_range == (day(2), day(3))
    found = asked(agent.at(day(3)), "what did Ann do yesterday", now=day(6))
    assert found.time_range == (day(5), day(6))


def test_a_closed_store_has_no_past(store, agent):
    then = agent.at(day(2))
    store.close()
    with pytest.raises(InputError, match="open the store again"):
        then.list()


def test_asyncio_travels_too(tmp_path):
    async def main():
        options = {"embedder": recollex.GivenVectors(16), "clock": lambda: day(9)}
        async with recollex.aio.open(tmp_path / "s", **options) as store:
            agent = await store.agent("a")
            first, second = ({"recorded_at": day(n), "embedding": VECTORS[n]} for n in (1, 2))
            await agent.retain("Ann lives in Oslo.", id="home", **first)
            await agent.correct("home", "Ann lives in Rome.", **second)
            await agent.archive("home", recorded_at=day(3))
            then = await agent.at(day(1))
            assert (await then.get("home")).text == "Ann lives in Oslo."
            with pytest.raises(ReadOnlyError):
                await then.forget("home")
            assert len(await agent.history("home")) == 2
            assert len(await agent.log(op="archive")) == 1
            assert len((await agent.diff(day(0), day(1))).added) == 1
            await agent.snapshot(day(1), tmp_path / "copy")

    asyncio.run(main())
    assert (tmp_path / "copy/agents/a/log").is_dir()


def test_a_name_that_was_learned_later_is_not_known_before(store):
    agent = store.agent("n")
    texts = [f"Ann met Bob Chen in Oslo, for the {n}th time." for n in range(4, 16)]
    agent.retain_many(texts, recorded_at=day(1), embedding=VECTORS[:12], event_at=day(1))
    told(agent, 2, "Ann met Bob Chenn in Oslo.")
    assert agent.list(limit=20)[-1].entities == ("Ann", "Bob Chen", "Oslo")  # the same one
    assert len(asked(agent, entities=["bob chenn"])) == 13
    assert asked(agent, entities=["bob chenn"], as_recorded=day(1)).ids == []
    assert len(asked(agent, entities=["bob chen"], as_recorded=day(1))) == 12


def test_ten_thousand_later_memories_with_a_rare_word_change_not_one_bit(tmp_path):
    random = np.random.default_rng(1)
    words = [f"w{number}" for number in range(300)]
    with recollex.open(
        tmp_path / "s", embedder=recollex.GivenVectors(16, links=True), durability="off",
        clock=lambda: day(9),
    ) as store:  # fmt: skip
        agent = store.agent("a")

        def tell(count, number, word):
            texts = [" ".join([*random.choice(words, 8), word, "Ann"]) for _ in range(count)]
            vectors = random.normal(size=(count, 16)) + 0.4
            agent.retain_many(
                texts, embedding=vectors, recorded_at=day(number), event_at=day(number)
            )

        tell(500, 1, "usual")
        tell(3, 2, "zymurgy")
        queries = ["zymurgy", '"zymurgy ann" w1', "Ann zymurgy w5 yesterday"]

        def scores():
            return [
                (r.tokens, r.time_range, list(r))
                for query in queries
                for r in [asked(agent, query, as_recorded=day(2), explain=True)]
            ]

        before = scores()
        assert all(len(each[2]) >= 3 for each in before)
        tell(10_000, 3, "zymurgy")
        assert scores() == before
        agent.checkpoint()
        assert scores() == before
        assert len(asked(agent, "zymurgy", thinking_budget=1000, max_tokens=10**6)) > 500
    shutil.rmtree(tmp_path / "s")
