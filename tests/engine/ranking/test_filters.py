"""Filters against the same conditions in plain Python over `list`, in the present and in cuts."""

import json
import operator
import unicodedata
from datetime import UTC, datetime, timedelta
from random import Random

import numpy as np
import pytest

import recollex
from recollex_engine.domain.filter import Filter
from recollex_engine.domain.question import Question
from recollex_engine.errors import InputError
from recollex_engine.ranking.filters import admitted_memories
from recollex_engine.state import filter_indexes
from tests.bindings.word_vectors import WordVectors

START = datetime(2024, 5, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
VALUES = [1, 1.0, 2, 2.5, -3, 0, -0.0, "1", "b", None, True, {"a": 1, "b": [2]}, {"b": [2], "a": 1},
          "é", ["x", 1], [], [["x"]], "=", '"=']  # fmt: skip
NAMES = ["k", "n", "a=b", 'a="b']
SPOKEN = [
    *({"speaker": name} for name in ("Ann", "ANN", "José")),
    *({"role": "user"}, {"role": "assistant", "speaker": "Ben"}),
]
TRUST = ["web", "tool", "assistant", "user"]
ORDER = {"gt": operator.gt, "ge": operator.ge, "lt": operator.lt, "le": operator.le}


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """An agent, and of each memory that was ever retained its time and names of metadata."""
    random, now, told = Random(11), [START], []
    patch = pytest.MonkeyPatch()
    patch.setattr(filter_indexes, "UNINDEXED", 40)
    store = recollex.open(
        tmp_path_factory.mktemp("s") / "store",
        embedder=WordVectors(),
        durability="off",
        clock=lambda: now[0],
    )
    agent = store.agent("a")
    for step in range(130):
        now[0] += HOUR / 5
        names = random.sample(NAMES[: 1 + step // 20], random.randint(0, min(2, 1 + step // 20)))
        turn = {
            "id": f"m{step}",
            "at": START + random.randint(0, 20) * HOUR,
            "text": random.choice(["Ann has tea.", "Ben met Ann in The Hague.", "a tea"]),
            "metadata": {name: random.choice(VALUES) for name in names},
        }
        turn |= random.choice(SPOKEN)
        if step % 3 == 0:
            turn["valid_until"] = turn["at"] + (1 + step % 9) * HOUR
        agent.retain_dialogue(
            [turn],
            document_id=random.choice(["d", "e", "f"]),
            network=random.choice(["world", "agent", "opinion"]),
            tags=random.sample(["x", "y", "z"], random.randint(0, 3)),
            source=random.choice([None, "user", "web", "crm"]),
        )
        told.append((agent.get(turn["id"]).recorded_at, names))
        if step % 7 == 3:
            getattr(agent, random.choice(["forget", "archive"]))(random.choice(agent.list()).id)
        if step == 60:
            agent.checkpoint()
    yield agent, told
    store.close()
    patch.undo()


def equal(one, other):
    numbers = [each for each in (one, other) if isinstance(each, int | float)]
    if len(numbers) == 2 and not any(isinstance(each, bool) for each in numbers):
        return one == other
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def comparable(one, other):
    kinds = [str if isinstance(each, str) else float if type(each) in (int, float) else None
             for each in (one, other)]  # fmt: skip
    return kinds[0] is not None and kinds[0] == kinds[1]


def meets(metadata, name, wanted):
    """Return whether metadata meets one condition of `where`."""
    if not isinstance(wanted, dict):
        wanted = {"eq": wanted}
    has = name in metadata
    value = metadata.get(name)
    return all(holds(has, value, name, kind, operand) for kind, operand in wanted.items())


def holds(has, value, name, kind, operand):
    if kind == "not":
        return not meets({name: value} if has else {}, name, operand)
    if kind == "ne":
        return not (has and equal(value, operand))
    if kind == "exists":
        return has is operand
    if not has:
        return False
    if kind in ORDER:
        return comparable(value, operand) and ORDER[kind](value, operand)
    if kind == "contains":
        return isinstance(value, list) and any(equal(each, operand) for each in value)
    return any(equal(value, each) for each in (operand if kind == "in" else [operand]))


def folded(name):
    return "".join(c for c in unicodedata.normalize("NFD", name.lower()) if c.isascii())


def entity(name):
    return name.lower().removeprefix("the ")


def passes(memory, filters):
    get, tags, (start, end) = filters.get, set(memory.tags), memory.event

    def one_of(value, name):
        wanted = get(name)
        return wanted is None or value in ([wanted] if isinstance(wanted, str) else wanted)

    speakers = get("speakers")
    wanted = [speakers] if isinstance(speakers, str) else speakers
    return (
        set(get("tags", ())) <= tags
        and (not get("any_tags") or bool(tags & set(get("any_tags"))))
        and not tags & set(get("no_tags", ()))
        and one_of(memory.document_id, "document_id")
        and (get("talk") is None or not one_of(memory.document_id, "talk"))
        and one_of(memory.network, "network")
        and one_of(memory.role, "roles")
        and one_of(memory.source, "source")
        and (wanted is None or folded(memory.speaker) in map(folded, wanted))
        and (get("trust") is None
             or (memory.trust or "") in TRUST[TRUST.index(get("trust")):])
        and set(map(entity, get("entities", ()))) <= set(map(entity, memory.entities))
        and (get("until") is None or start < get("until"))
        and (get("since") is None or end > get("since") or start >= get("since"))
        and get("recorded_since", START) <= memory.recorded_at
        and (get("recorded_until") is None or memory.recorded_at < get("recorded_until"))
        and (get("ends_after") is None or memory.valid_until is None
             or memory.valid_until > get("ends_after"))
        and (get("ends_by") is None
             or (memory.valid_until is not None and memory.valid_until <= get("ends_by")))
        and (get("as_world") is None or (start <= get("as_world")
             and (memory.valid_until is None or memory.valid_until > get("as_world"))))
        and all(meets(memory.metadata, *each) for each in get("where", {}).items())
    )  # fmt: skip


def condition(random, deep=True):
    kind = random.choice(["plain", "eq", "ne", "in", "contains", "exists", *ORDER, *ORDER, "not"])
    value = random.choice(VALUES)
    if kind == "plain" and not isinstance(value, dict):
        return value
    if kind == "in":
        return {"in": random.sample(VALUES, 3)}
    if kind == "exists":
        return {"exists": random.random() < 0.5}
    if kind in ORDER:
        return {kind: random.choice([0, 1, 1.5, "a", "1"])} | (
            {"lt": 3} if random.random() < 0.3 else {}
        )
    if kind == "not":
        return {"not": condition(random, False) if deep else 1}
    return {"eq" if kind == "plain" else kind: "x" if kind == "contains" else value}


def filters_of(random):
    def some(values, most=2):
        return random.sample(values, random.randint(1, most))

    since = random.randint(0, 19)
    choices = {
        "tags": lambda: some(["x", "y", "z", "unheard"]),
        "any_tags": lambda: some(["x", "y", "unheard"]),
        "no_tags": lambda: some(["x", "y", "unheard"]),
        "document_id": lambda: random.choice(["d", "unheard", ["d", "e"]]),
        "talk": lambda: random.choice(["d", "unheard", ["d", "e"]]),
        "network": lambda: random.choice(["world", ["agent", "opinion"]]),
        "roles": lambda: random.choice(["user", ["assistant", "user"]]),
        "speakers": lambda: random.choice(["ann", "Jose", ["ben", "JOSÉ"], ["nobody"]]),
        "source": lambda: random.choice(["web", ["crm", "user"], "unheard"]),
        "trust": lambda: random.choice(TRUST),
        "entities": lambda: some(["ann", "Ben", "THE HAGUE", "Nobody"], 1),
        "since": lambda: START + since * HOUR,
        "until": lambda: START + (since + random.randint(1, 5)) * HOUR,
        "recorded_since": lambda: START + random.randint(0, 12) * HOUR,
        "recorded_until": lambda: START + random.randint(13, 30) * HOUR,
        "ends_after": lambda: START + random.randint(0, 30) * HOUR,
        "ends_by": lambda: START + random.randint(0, 30) * HOUR,
        "as_world": lambda: START + random.randint(0, 30) * HOUR,
        "where": lambda: {name: condition(random) for name in some(NAMES)},
    }
    return {name: choices[name]() for name in random.sample(list(choices), random.randint(1, 3))}


def test_every_read_agrees_with_plain_python_also_in_cuts(told):
    agent, history = told
    random = Random(12)
    total = refused = 0
    for number in range(500):
        filters = filters_of(random)
        at = random.choice([None, None, history[random.randrange(len(history))][0]])
        cut = agent if at is None else agent.at(at)
        known = {name for then, names in history if at is None or then <= at for name in names}
        unknown = [name for name, wanted in filters.get("where", {}).items()
                   if name not in known and known and "exists" not in str(wanted)]  # fmt: skip
        if unknown:
            with pytest.raises(InputError, match=r"where names .* nearest: '"):
                cut.count(**filters)
            refused += 1
            continue
        everything = cut.list(limit=1000)
        expected = [memory.id for memory in everything if passes(memory, filters)]
        assert [memory.id for memory in cut.list(limit=1000, **filters)] == expected, filters
        assert cut.count(**filters) == len(expected)
        total += len(expected)
        if number % 10:
            continue
        newest = cut.recall("", max_tokens=None, **filters)
        assert newest.ids == expected[::-1]
        assert [m.id for m in cut.list(limit=1000, newest=True, **filters)] == expected[::-1]
        if len(expected) > 2:
            assert [m.id for m in cut.list(limit=1, after=expected[1], **filters)] == expected[2:3]
            page = cut.list(limit=1, after=expected[1], newest=True, **filters)
            assert [memory.id for memory in page] == expected[:1]
        query = WordVectors().embed_query("tea")
        found = cut.recall("tea", query_embedding=query, max_tokens=None, **filters)
        assert set(found.ids) <= set(expected)
        if len(expected):
            assert len(found)
    assert total > 3000 and 5 < refused < 250


def test_forget_takes_away_what_list_shows(tmp_path):
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        agent = store.agent("a")
        agent.retain_many(["One.", "Two.", "Three."], id=["a", "b", "c"],
                     metadata=[{"n": 1}, {"n": 2}, {}])  # fmt: skip
        assert agent.forget(where={"n": {"gt": 1}}, by="ann", why="old") == 1
        assert [memory.id for memory in agent.list()] == ["a", "c"]
        assert agent.forget(where={"n": {"gt": 1}}) == 0
        assert [(entry.by, entry.why) for entry in agent.log(op="forget")] == [("ann", "old")]
        for wrong in ({}, {"id": "a", "tags": ["x"]}):
            with pytest.raises(InputError, match="an id or a filter"):
                agent.forget(**wrong)
        assert agent.forget(["a"]) == 1


def test_an_agent_without_metadata_refuses_no_name(tmp_path):
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        agent = store.agent("a")
        assert agent.list(where={"n": 1}) == [] and agent.count(where={"n": {"ne": 1}}) == 0
        agent.retain("One.")
        assert agent.count(where={"n": 1}) == 0 and agent.count(where={"n": {"ne": 1}}) == 1
        agent.retain("Two.", metadata={"number": 2})
        with pytest.raises(InputError, match=r"where names 'numbr', .* nearest: 'number'"):
            agent.list(where={"numbr": 2})
        assert agent.list(where={"numbr": {"exists": True, "eq": 2}}) == []
        assert agent.count(where={"numbr": {"exists": False}}) == 2


def test_a_selection_without_filters_is_the_views_own_and_stays_as_it_is(told):
    agent, _ = told
    view = agent.engine.view()
    before = view.open.copy()
    assert admitted_memories(view, Question("tea")) is view.open
    asked = Filter(network=(1,), document_id=("d",), tags=("x",), since=0)
    admitted_memories(view, Question("tea", filter=asked))
    assert (view.open == before).all()
    assert np.count_nonzero(before == 0) == np.count_nonzero(view.of_memories("closed_by"))


@pytest.mark.parametrize(
    ("method", "given", "meant"),
    [
        ("list", "tgas", r"\. Did you mean 'tags'\?$"),
        ("list", "networks", r"\. Did you mean 'network'\?$"),
        ("recall", "speaker", r"\. Did you mean 'speakers'\?$"),
        ("recall", "limt", r"\. Did you mean 'limit'\?$"),
        ("recall", "top_k", r"\. Did you mean 'limit'\?$"),
        ("list", "k", r"\. Did you mean 'limit'\?$"),
        ("count", "k", "$"),  # it has no limit
    ],
)
def test_a_mistyped_argument_is_refused_with_the_nearest_name(told, method, given, meant):
    arguments = ("What?",) if method == "recall" else ()
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{given}'{meant}"):
        getattr(told[0], method)(*arguments, **{given: 5})
