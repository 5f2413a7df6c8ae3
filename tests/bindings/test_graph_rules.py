"""What does the studio's graph draw? Its rules, in a JavaScript engine, no browser.

Extra `dev` has the engine (quickjs-ng). The page itself is opened in `test_graph_page`.
"""

import itertools
import json

import pytest
import quickjs
from hypothesis import given
from hypothesis import strategies as st

import recollex
from recollex.pages import studio
from recollex.pages.studio.reads import drawing
from tests.bindings.days_of_may import day

FOLDER = studio.paths()[studio.FRAME].parent


class Rules:
    """The functions of some of the page's files, called with values that JSON can write."""

    def __init__(self, *files):
        self.context = quickjs.Context()
        self.context.eval("\n".join((FOLDER / file).read_text("utf-8") for file in files))

    def __call__(self, code, **values):
        given = "".join(f"const {name} = {json.dumps(value)};" for name, value in values.items())
        return json.loads(
            self.context.eval(f"(() => {{ {given} return JSON.stringify({code}) }})()")
        )


CUT = Rules("conflicts.js", "cut.js")
LABELS = Rules("labels.js")
ROOM = {"x0": 0, "y0": 0, "x1": 400, "y1": 300}


def fact(key, same, start=None, end=None, about="Ann lives_in"):
    return {"key": key, "about": about, "same": same, "start": start, "end": end}


def rivals(*facts):
    found = CUT("rivals(facts)", facts=facts)
    return [tuple(pair) for pair in found["conflicts"]], [tuple(pair) for pair in found["follows"]]


# -- what is a conflict? ---------------------------------------------------------------------------


def test_open_ended_facts_that_start_one_after_another_follow_and_do_not_conflict():
    homes = [fact("a", "Oslo", 2020), fact("b", "Rome", 2022), fact("c", "Bern", 2024)]
    assert rivals(*homes) == ([], [("a", "b"), ("b", "c")])
    assert rivals(*homes[::-1])[0] == []  # recorded in another order
    assert rivals(fact("a", "Oslo"), fact("b", "Rome", 2022)) == ([], [("a", "b")])


def test_facts_that_claim_the_same_time_conflict():
    both = fact("a", "Oslo", 2020), fact("b", "Rome", 2020)
    assert rivals(*both) == ([("a", "b")], [])
    assert rivals(fact("a", "Oslo"), fact("b", "Rome")) == ([("a", "b")], [])
    stated = fact("a", "Oslo", 2020, 2023), fact("b", "Rome", 2022)
    assert rivals(*stated) == ([("a", "b")], [])
    assert rivals(fact("a", "Oslo", None, 2023), fact("b", "Rome", 2022))[0] == [("a", "b")]


def test_facts_that_meet_or_agree_or_are_about_something_else_do_not_conflict():
    assert rivals(fact("a", "Oslo", 2020, 2022), fact("b", "Rome", 2022)) == ([], [])
    assert rivals(fact("a", "Oslo", 2020), fact("b", "Oslo", 2022)) == ([], [])
    assert rivals(fact("a", "Oslo"), fact("b", "Rome", about="Al lives_in")) == ([], [])


ends = st.one_of(st.none(), st.integers(0, 5))
drawn_facts = st.lists(
    st.tuples(st.sampled_from("xyz"), ends, ends).filter(
        lambda each: each[1] is None or each[2] is None or each[1] < each[2]
    ),
    max_size=6,
)


@given(drawn_facts)
def test_conflicts_are_overlaps_that_no_later_start_explains(drawn):
    facts = [fact(str(place), *each) for place, each in enumerate(drawn)]
    expected = []
    for one, other in itertools.combinations(facts, 2):
        starts = [-1 if each["start"] is None else each["start"] for each in (one, other)]
        stops = [9 if each["end"] is None else each["end"] for each in (one, other)]
        first = one if starts[0] <= starts[1] else other
        followed = first["end"] is None and starts[0] != starts[1]
        overlap = max(starts) < min(stops)
        if one["same"] != other["same"] and overlap and not followed:
            expected.append((one["key"], other["key"]))
    conflicts, follows = rivals(*facts)
    assert conflicts == expected
    assert not set(follows) & set(conflicts)
    by_key = {each["key"]: each for each in facts}
    assert all(by_key[one]["end"] is None for one, _ in follows)


# -- what does a cut of both clocks show? ----------------------------------------------------------


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    """Return an agent of whom something of every kind has a time of the world."""
    path = tmp_path_factory.mktemp("rules") / "store"
    with recollex.open(path, embedder=recollex.GivenVectors(8)) as store:
        a = store.agent("a")
        vector = [1.0] + [0.0] * 7
        kept = {"embedding": vector, "event_at": day(2)}
        a.retain("Ann is in Oslo.", id="m1", recorded_at=day(10), **kept)
        kept = {"embedding": vector, "event_at": day(4), "valid_until": day(6)}
        a.retain("Ann has a fever.", id="m2", recorded_at=day(11), **kept)
        add = a.facts.add
        add("Ann", "lives_in", "Oslo", id="f1", valid=(day(2), None), recorded_at=day(12))
        add("Ann", "lives_in", "Rome", id="f2", valid=(day(5), None), recorded_at=day(13))
        add("Ann", "age", 30, id="f3", valid=(day(1), day(8)), recorded_at=day(14))
        add("Ann", "age", 31, id="f4", valid=(day(7), None), recorded_at=day(15))
        add("Ann", "likes", "tea", id="f5", recorded_at=day(16))
        add("Ann", "likes", "coffee", id="f6", recorded_at=day(17))
        a.events.add("The move", facts=["f2"], id="e1", span=(day(5), day(6)), recorded_at=day(18))
        a.events.add(
            "A feast", participants=["Al"], id="e2", span=(day(3), None), recorded_at=day(19)
        )
        a.events.add_episode("A new life", ["e1", "e2"], id="p1", recorded_at=day(20))
        a.facts.correct("f1", valid_end=day(6), recorded_at=day(21))
        yield a


def micros(moment):
    return None if moment is None else int(moment.timestamp() * 1e6)


def cut(drawn, recorded, world):
    """Return the labels of each kind of node, and the relations with their labels, at two times."""
    found = CUT(
        "((cut) => ({nodes: [...cut.nodes.values()], edges: cut.edges}))"
        "(cutAt(drawing, recorded, world))",
        drawing=drawn,
        recorded=micros(recorded),
        world=micros(world),
    )
    labels = {}
    for node in found["nodes"]:
        labels.setdefault(node["kind"], []).append(node["label"])
    keys = {node["key"]: node["label"] for node in found["nodes"]}
    edges = {
        (keys.get(edge["source"]), edge["relation"], keys.get(edge["target"]))
        for edge in found["edges"]
    }
    return labels, edges


def test_every_cut_of_both_clocks_is_the_cut_of_the_engine(agent):
    drawn = drawing(agent)
    for recorded, world in itertools.product(range(10, 23), [None, *range(1, 10)]):
        at = {"as_recorded": day(recorded), "as_world": None if world is None else day(world)}
        labels, _ = cut(drawn, at["as_recorded"], at["as_world"])
        facts = agent.facts.snapshot(**at)
        assert labels.get("fact", []) == [
            f"{each.subject} {each.predicate} {each.object}"
            for each in sorted(facts, key=lambda f: f.id)
        ], at
        assert labels.get("event", []) == [each.summary for each in agent.events.find(**at)], at
        assert labels.get("episode", []) == [each.title for each in agent.events.episodes(**at)], at
        memories = [
            memory.text
            for memory in agent.at(at["as_recorded"]).list()
            if world is None
            or (memory.event_at <= day(world) and world < (memory.valid_until or day(30)).day)
        ]
        assert labels.get("memory", []) == memories, at
        assert {entity.name for entity in agent.facts.entities(**at)} <= set(
            labels.get("entity", [])
        )


def test_an_observation_is_drawn_with_the_facts_that_still_prove_it(tmp_path):
    facts, counts = ["f0", "f1", "f2"], []
    with recollex.open(tmp_path) as store:
        a = store.agent("a")
        for place, city in enumerate(("Oslo", "Rome", "Bern")):
            valid = day(1 + 2 * place), None
            a.facts.add(
                "Ann", "saw", city, valid=valid, id=facts[place], recorded_at=day(10 + place)
            )
        a.events.add("Ann", facts=facts, status="observation", id="e3", recorded_at=day(14))
        a.facts.correct("f0", valid_end=day(5), recorded_at=day(15))
        a.facts.correct("f1", confidence=0.5, recorded_at=day(16))
        a.facts.archive("f2", recorded_at=day(17))
        drawn = drawing(a)
        for recorded, world in itertools.product(range(13, 18), [None, *range(1, 7)]):
            at = {"as_recorded": day(recorded), "as_world": None if world is None else day(world)}
            found = a.events.find(status="observation", **at)
            _, edges = cut(drawn, at["as_recorded"], at["as_world"])
            proofs = [each for each in edges if each[:2] == ("Ann", "includes_fact")]
            assert len(proofs) == sum(each.proof_count for each in found), at
            counts.append(len(proofs))
    assert set(counts) == {0, 2, 3}


def test_only_conflicts_that_no_later_start_explains_are_drawn(agent):
    drawn = drawing(agent)
    assert len(agent.facts.conflicts(as_recorded=day(20))) == 3  # every overlap
    _, edges = cut(drawn, day(20), None)
    assert ("Ann lives_in Oslo", "followed_by", "Ann lives_in Rome") in edges
    rivals = {edge for edge in edges if edge[1] == "conflicts_with"}
    likes = ("Ann likes tea", "conflicts_with", "Ann likes coffee")
    ages = ("Ann age 30", "conflicts_with", "Ann age 31")
    assert rivals == {likes, ages}
    stated = ("Ann lives_in Oslo", "conflicts_with", "Ann lives_in Rome")
    assert (
        stated
        in {(b, r, a) for a, r, b in cut(drawn, day(21), None)[1]} | cut(drawn, day(21), None)[1]
    )
    assert ages not in cut(drawn, day(20), day(6))[1]  # 31 does not hold yet


def test_predicates_that_allow_many_have_no_conflicts(agent):
    drawn = drawing(agent)
    assert drawn["many_valued"] == ["has_attr", "mentioned_in"]
    drawn["many_valued"] += ["likes", "age"]
    relations = {relation for _, relation, _ in cut(drawn, day(20), None)[1]}
    assert "conflicts_with" not in relations


# -- where do labels stand? ------------------------------------------------------------------------


def placed(labels, nodes=(), last=()):
    """Return the middles of the labels that are shown, and the places that they remember."""
    found = LABELS(
        "(() => { const had = new Map(last); const found = placeLabels(labels, nodes, room, had);"
        " return [[...found], [...had]]; })()",
        labels=labels,
        nodes=list(nodes),
        room=ROOM,
        last=list(last),
    )
    return {key: (at["x"], at["y"]) for key, at in found[0]}, found[1]


def label(key, x, y, **more):
    return {"key": key, "x": x, "y": y, "width": 60, "height": 14, "gap": 8} | more


def box(x, y, width=60, height=14):
    return {"x0": x - width / 2, "x1": x + width / 2, "y0": y - height / 2, "y1": y + height / 2}


def meet(one, other):
    return min(one["x1"], other["x1"]) > max(one["x0"], other["x0"]) and min(
        one["y1"], other["y1"]
    ) > max(one["y0"], other["y0"])


points = st.lists(st.tuples(st.integers(0, 400), st.integers(0, 300)), max_size=40)


@given(points)
def test_no_label_covers_a_label_or_a_node(points):
    nodes = [box(x, y, 16, 16) for x, y in points]
    shown, _ = placed([label(str(place), *point) for place, point in enumerate(points)], nodes)
    boxes = [box(*at) for at in shown.values()]
    assert not any(meet(one, other) for n, one in enumerate(boxes) for other in boxes[:n])
    assert not any(meet(one, node) for one in boxes for node in nodes)
    assert all(
        ROOM["x0"] <= each["x0"]
        and each["x1"] <= ROOM["x1"]
        and ROOM["y0"] <= each["y0"]
        and each["y1"] <= ROOM["y1"]
        for each in boxes
    )


def test_the_more_important_label_gets_the_place_and_the_other_moves_or_hides():
    shown, _ = placed([label("a", 200, 100), label("b", 210, 100)])
    assert shown["a"] == (200, 116) and shown["b"] == (210, 84)
    crowd = [label(str(n), 200, 100) for n in range(20)]
    shown, _ = placed(crowd)
    assert 4 <= len(shown) < 20 and list(shown) == [str(n) for n in range(len(shown))]


def test_a_label_that_must_be_shown_is_shown():
    wall = [box(200, 100, 60, 60)]
    assert placed([label("a", 200, 100)], wall) == ({}, [])
    shown, _ = placed([label("a", 200, 100, must=True)], wall)
    assert not meet(box(*shown["a"]), wall[0])
    shown, _ = placed([label("a", 200, 100, must=True)], [box(200, 150, 400, 300)])
    assert shown == {"a": (200, 116)}  # on a node, since nothing is free


def test_a_label_stands_on_a_dim_node_only_if_no_other_place_is_free():
    one = box(200, 116, 10, 10) | {"dim": True}
    assert placed([label("a", 200, 100)], [one])[0] == {"a": (200, 84)}
    wall = box(200, 100, 200, 80)
    assert placed([label("a", 200, 100)], [wall])[0] == {}
    assert placed([label("a", 200, 100)], [wall | {"dim": True}])[0] == {"a": (200, 116)}


def test_a_label_keeps_its_place_while_it_can():
    shown, had = placed([label("a", 200, 100)], [box(200, 116, 10, 10)])
    assert shown == {"a": (200, 84)}
    assert placed([label("a", 200, 100)], last=had)[0] == {"a": (200, 84)}
    assert placed([label("a", 200, 100)], [box(200, 84, 10, 10)], had)[0] == {"a": (200, 116)}


def test_the_label_of_an_edge_stands_on_it():
    along = [{"x": 100, "y": 100}, {"x": 140, "y": 100}]
    edge = {"key": "e", "width": 30, "height": 12, "along": along}
    assert placed([edge])[0] == {"e": (100, 100)}
    assert placed([edge], [box(100, 100, 10, 10)])[0] == {"e": (140, 100)}
    assert placed([edge], [box(120, 100, 80, 10)])[0] == {}
