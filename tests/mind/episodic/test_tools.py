"""The tools against a plain reading of the same facts and gists."""

import threading
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import recollex
from recollex_engine.domain.prompt_lines import LineCosts
from recollex_engine.errors import InputError
from recollex_engine.facts.surface_arms import SurfaceArms
from recollex_engine.text.token_counter import ENCODING, FALLBACK, TokenCounter
from recollex_mind.episodic import retrieval
from recollex_mind.episodic.contexts import Costs, costs_of, within_limit
from tests.bindings.word_vectors import WordVectors

START = datetime(2024, 1, 1, tzinfo=UTC)
NAMES = ("Ann", "Ben", "Eve")
PREDICATES = ("visited", "lives_in")
OBJECTS = ("Oslo", "Rome", recollex.Text("Oslo"), 3.0)
NONE = timedelta(days=10**6)
day = st.one_of(st.none(), st.integers(0, 20))
fact = st.tuples(st.sampled_from(NAMES), st.sampled_from(PREDICATES), st.sampled_from(OBJECTS),
                 day, st.one_of(st.none(), st.integers(1, 5)))  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with recollex.open(tmp_path_factory.mktemp("s"), embedder=WordVectors()) as store:
        yield store


@pytest.fixture
def alice(store, request):
    return store.agent(request.node.name[:40])


def span(start, length):
    first = None if start is None else START + timedelta(days=start)
    last = None if length is None else (first or START) + timedelta(days=length)
    return first, last


def by_start(fact):
    """Unknown starts first, facts without any time last; equal ones as recorded."""
    (start, end), place = fact["valid"], fact["place"]
    if start is None and end is None:
        return 2, START, START, place
    return (0, START, end, place) if start is None else (1, start, START, place)


def by_end(fact):
    """Those that last first, the last to start first; then the latest end; no time at all last."""
    (start, end), place = fact["valid"], fact["place"]
    if end is None:
        return (2, 0, place) if start is None else (0, -start.timestamp(), -place)
    return 1, -end.timestamp(), -place


numbers = iter(range(10**6))


@settings(max_examples=25, deadline=None)
@given(st.lists(fact, max_size=14), st.sampled_from([None, *NAMES]),
       st.sampled_from([None, *PREDICATES, "lives in"]), st.sampled_from([None, "oslo", "Rome", 3]),
       st.sampled_from([None, "2024-01-05", "2024-01"]),
       st.sampled_from(["lt", "le", "eq", "ge", "gt"]),
       st.integers(0, 4), st.integers(1, 5))  # fmt: skip
def test_entity_contexts_are_those_of_a_plain_reading(
    store, facts, subject, predicate, object_, since, operator, offset, limit
):
    agent = store.agent(f"plain-{next(numbers)}")
    told = []
    with agent.transaction() as tx:
        for place, (who, what, whom, start, length) in enumerate(facts):
            tx.facts.add(who, what, whom, valid=span(start, length), id=str(place))
            told.append({"who": who, "what": what, "whom": whom, "place": place,
                         "valid": span(start, length)})  # fmt: skip
    if subject is predicate is object_ is None:
        with pytest.raises(InputError, match="at least one"):
            agent.tools.find_entity_contexts()
        return
    window = {} if since is None else {"start_time": since, "start_operator": operator}
    period = {"2024-01-05": (4, 5), "2024-01": (0, 31)}.get(since, (0, 0))
    first, last = (START + timedelta(days=each) for each in period)

    def meets(fact):
        start = fact["valid"][0]
        is_object = object_ is None or _is(fact["whom"], str(object_))
        admitted = (
            since is None
            or {
                "lt": start is None or start < first,
                "le": start is None or start < last,
                "eq": start is not None and first <= start < last,
                "ge": start is not None and start >= first,
                "gt": start is not None and start >= last,
            }[operator]
        )
        return (
            (subject is None or fact["who"] == subject)
            and (predicate is None or fact["what"] == predicate.replace(" ", "_"))
            and is_object
            and admitted
        )

    wanted = [each for each in told if meets(each)]
    asked = {"subject": subject, "predicate": predicate, "object": object_} | window
    find = agent.tools.find_entity_contexts
    for ordering, key in ((None, lambda each: each["place"]), ("asc", by_start), ("desc", by_end)):
        ids = [str(each["place"]) for each in sorted(wanted, key=key)]
        found = find(**asked, ordering=ordering, offset=offset, limit=limit)
        assert [each.id for each in found.facts] == ids[offset : offset + limit]
        assert found.matched == len(wanted)
        assert [each.id for each in find(**asked, ordering=ordering).facts] == ids
    assert find(**asked, aggregation="count").count == len(wanted)
    subjects = {each["who"] for each in wanted}
    objects = {(type(each["whom"]), _text(each["whom"])) for each in wanted}
    assert find(**asked, aggregation="count_unique_subjects").count == len(subjects)
    assert find(**asked, aggregation="count_unique_objects").count == len(objects)


def _is(value, said):
    """Whether a text names an object: an entity in any case, a literal as it is written."""
    if isinstance(value, recollex.Text):
        return value.value == said
    return _text(value).lower() == said.lower()


def _text(value):
    if isinstance(value, recollex.Text):
        return value.value
    return f"{value:g}" if isinstance(value, float) else str(value)


# -- precision ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start_operator", "end_operator"),
    list(product(("lt", "le", "eq", "ge", "gt"), repeat=2)),
)
def test_operators_compare_whole_periods(store, start_operator, end_operator):
    """1950 to 1953 against 1952: the table of docs/facts-and-events.md, both columns."""
    agent = store.agent("precision")
    agent.facts.add("Ann", "worked", "Acme", valid="from 1950 to 1953", id="f")
    began, ended = {"lt", "le"}, {"ge", "gt"}
    find = agent.tools.find_entity_contexts
    assert bool(find("Ann", start_time="1952", start_operator=start_operator).facts) == (
        start_operator in began
    )
    assert bool(find("Ann", end_time="1952", end_operator=end_operator).facts) == (
        end_operator in ended
    )
    both = find("Ann", None, None, "1952", 1952, start_operator, end_operator)
    assert bool(both.facts) == (start_operator in began and end_operator in ended)


@pytest.mark.parametrize(
    "written", ["2024-05-04", "4 May 2024", "May 4, 2024", "2024-05-04T00:00", "2024-05-04T00:00Z"]
)
def test_a_time_may_be_written_in_many_ways(alice, written):
    alice.facts.add("Ann", "met", "Ben", valid=(datetime(2024, 5, 4, tzinfo=UTC), None))
    found = alice.tools.find_entity_contexts("Ann", start_time=written, start_operator="eq")
    assert len(found.facts) == 1


def test_facts_and_gists_are_narrowed_alike(alice):
    for month, text in ((1, "Ann fixed the fence."), (6, "Ann painted the fence.")):
        gist = alice.retain(text, event_at=datetime(2024, month, 3, tzinfo=UTC))
        alice.facts.add("Ann", "worked on", "fence", evidence=gist, id=str(month),
                        valid=f"2024-0{month}")  # fmt: skip
    for tool in (alice.tools.lexical_retrieve, alice.tools.semantic_retrieve):
        for window, kept in (
            ({"start_time": "2024-03"}, ["6"]),
            ({"end_time": "2024-03"}, ["1"]),
            ({"start_time": "2024-01", "start_operator": "eq"}, ["1"]),
            ({"start_time": "2024-02", "start_operator": "le", "end_time": "2024-01",
              "end_operator": "ge"}, ["1"]),
            ({"start_time": "2025"}, []),
        ):  # fmt: skip
            found = tool("fence", **window)
            assert [each.id for each in found.facts] == kept, window
            assert [str(each.event_at.month) for each in found.gists] == kept, window


# -- gists -------------------------------------------------------------------------------------


def test_a_gist_stands_for_what_it_was_made_of(alice):
    turn = alice.retain("I fixed the fence last Monday", id="turn")
    alice.retain("Unrelated rain.", id="rain")
    made = {"kind": "gist", "chunk": "c1", "evidence": [turn]}
    gist = alice.retain("Alice fixed the fence (15 January 2024).", id="gist", metadata=made)
    other = alice.retain("Alice bought three cows.", id="other", metadata=made)
    alice.facts.add("Alice", "fixed", "fence", evidence=gist, id="f1")
    alice.facts.add("Alice", "bought", "three cows", evidence=other, id="f2")
    alice.facts.add("Alice", "is", "farmer", evidence=turn, id="f3")
    found = alice.tools.lexical_retrieve("fixed the fence")
    assert [each.id for each in found.gists] == ["gist"]
    assert found.to_dict()["gists"][0]["evidence"] == ["turn"]
    around = alice.tools.find_gist_contexts("gist")
    assert [each.id for each in around.gists] == ["other"]
    assert [each.id for each in around.facts] == ["f1", "f2", "f3"]  # its own first
    assert [each.id for each in alice.tools.find_entity_contexts("Alice").gists] == [
        "gist",
        "other",
    ]


def test_gists_that_say_nearly_the_same_are_related(alice):
    first = alice.retain("Ann fixed the old garden fence")
    near = alice.retain("Ann fixed the old garden fence again")
    alice.retain("Ben sold a boat")
    assert [each.id for each in alice.tools.find_gist_contexts(first).gists] == [near]
    assert [each.id for each in alice.tools.find_gist_contexts(near).gists] == [first]


def test_relative_times_are_resolved(alice):
    alice.retain("I met Carol last Friday.", event_at=datetime(2024, 5, 20, 18, tzinfo=UTC))
    prompt = alice.tools.lexical_retrieve("Carol").to_prompt()
    assert prompt == "Gists:\n1. [May 20, 2024] I met Carol last Friday. (2024-05-17)"


# -- limits ------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [1, 12, 30, 60, 200])
def test_a_prompt_stays_within_its_tokens(alice, most):
    for number in range(20):
        gist = alice.retain(f"Ann fixed fence number {number}.")
        alice.facts.add("Ann", "fixed", f"fence {number}", evidence=gist)
    counter = alice.engine.counter()
    for found in (
        alice.tools.lexical_retrieve("Ann fence", max_tokens=most),
        alice.tools.find_entity_contexts("Ann", max_tokens=most),
    ):
        assert counter.count(found.to_prompt()) <= found.tokens <= most
        assert found.max_tokens == most
    whole = alice.tools.find_entity_contexts("Ann", max_tokens=None)
    assert len(whole.facts) == len(whole.gists) == 20


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=60).filter(str.strip), min_size=1, max_size=4), day,
       st.one_of(st.none(), st.integers(1, 10**6)))  # fmt: skip
@example(["\U0001fae0" * 300], None, None)
def test_tokens_that_are_counted_later_are_those_that_are_counted_at_once(
    store, texts, start, length
):
    agent = store.agent(f"counted-{next(numbers)}")
    for text in texts:
        gist = agent.retain(f"{text} It was last Friday.", event_at=START)
        agent.facts.add("Ann \u1ea5", "said", recollex.Text(text), valid=span(start, length),
                        evidence=gist)  # fmt: skip
    found = agent.tools.find_entity_contexts("Ann \u1ea5", max_tokens=None)
    counter = TokenCounter(ENCODING, lambda text: len(text.encode()))  # as many as there can be
    costs = costs_of(counter, LineCosts(lambda: counter))
    gists, facts = list(found.gists), list(found.facts)
    assert gists and len(facts) == len(set(texts))
    later = within_limit(gists, facts, 10**6, costs, matched=len(facts))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Costs, "most", lambda *_: float("inf"))
        at_once = within_limit(gists, facts, 10**6, costs, matched=len(facts))
        less = within_limit(gists, facts, at_once.tokens - 1, costs)
    assert costs.most(gists, facts) >= at_once.tokens
    assert later.to_dict() == at_once.to_dict() and later == at_once
    assert within_limit(gists, facts, at_once.tokens - 1, costs) == less != at_once
    unknown = TokenCounter(FALLBACK, counter.count)
    assert costs_of(unknown, LineCosts(lambda: unknown)).most(gists, facts) == float("inf")


def test_an_empty_agent_says_so(alice):
    for found in (
        alice.tools.semantic_retrieve("tea"),
        alice.tools.lexical_retrieve("tea"),
        alice.tools.find_entity_contexts("Ann"),
    ):
        assert (found.gists, found.facts) == ((), ()) and "holds nothing" in found.note
    assert alice.tools.find_entity_contexts("Ann", aggregation="count").count == 0
    with pytest.raises(recollex.errors.UnknownIdError):
        alice.tools.find_gist_contexts("m1")


def test_what_is_unknown_is_said(alice):
    alice.facts.add("Ann", "likes", "tea", recorded_at=START)
    later, find = START + timedelta(days=9), alice.tools.find_entity_contexts
    assert "no fact has the subject 'Bob': lexical_retrieve finds" in find("Bob").note
    alice.facts.add("Bob Chen", "likes", "ink", recorded_at=later)
    assert find("Bob").note == "no fact has the subject 'Bob': there is 'Bob Chen'"
    assert "lexical_retrieve" in find("Bob", as_recorded=later - timedelta(days=1)).note
    assert "no fact has the predicate 'hates'" in find("Ann", predicate="hates").note
    assert "conditions on start and end" in find("Ann", start_time="2024").note
    assert find("Ann").note is None
    alice.facts.add("Ann", "eyes", recollex.Text("blue"))
    assert find("Bob Chen", object="blue").note == "no fact has these parts together"
    assert find("Ann", offset=9).note.startswith("offset 9 is beyond the last of ")


@pytest.mark.parametrize("cores, busy", [(2, False), (2, True), (1, False)])
def test_facts_that_another_thread_seeks_are_those_of_this_one(alice, monkeypatch, cores, busy):
    with alice.transaction() as tx:
        for number in range(40):
            at = START + timedelta(days=number)
            gist = tx.retain(f"Ann bought {number} boats in Oslo", event_at=at)
            tx.facts.add("Ann", "bought", f"boats {number}", valid=(at, None), evidence=gist)
    alice.facts.archive(alice.tools.semantic_retrieve("boats").facts[0].id)
    asked = [
        {"query": "Who bought boats?", "limit": limit, "start_time": since}
        for limit, since in product((1, 3, 30), (None, "2024-01-21", "2025"))
    ]
    monkeypatch.setattr(retrieval, "FIRST_IN_WINDOW", 2)  # so that more must be sought
    expected = [alice.tools.semantic_retrieve(**each).to_dict() for each in asked]
    threads, begun, idle = [], threading.Event(), threading.Event()
    beside = cores > 1 and not busy
    semantic, gists = SurfaceArms.semantic, retrieval._gists

    def noted(search, budget):
        threads.append(threading.current_thread() is threading.main_thread())
        if not threads[-1]:
            begun.set()
        return semantic(search, budget)

    def late(*given):
        if beside:
            assert begun.wait(60)
            begun.clear()
        return gists(*given)

    monkeypatch.setattr(retrieval, "BESIDE", 1)
    monkeypatch.setattr(retrieval, "usable_cores", lambda: cores)
    monkeypatch.setattr(retrieval, "_gists", late)
    monkeypatch.setattr(SurfaceArms, "semantic", noted)
    if busy:
        retrieval._beside.submit(idle.wait, 60)
    found = [alice.tools.semantic_retrieve(**each).to_dict() for each in asked]
    idle.set()
    assert found == expected
    assert any(expected[1]["facts"]) and len(threads) > len(asked)
    assert threads.count(False) == (len(asked) if beside else 0)


def test_what_fails_in_another_thread_is_raised_in_this_one(alice, monkeypatch):
    alice.facts.add("Ann", "bought", "a boat", evidence=alice.retain("Ann bought a boat"))
    monkeypatch.setattr(retrieval, "BESIDE", 1)
    monkeypatch.setattr(retrieval, "usable_cores", lambda: 2)

    def fails(search, budget):
        raise ZeroDivisionError

    monkeypatch.setattr(SurfaceArms, "semantic", fails)
    with pytest.raises(ZeroDivisionError):
        alice.tools.semantic_retrieve("boats")
