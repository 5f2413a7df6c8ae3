"""The studio's graph with many nodes, in small windows, and at times of the world."""

import json
from datetime import UTC, datetime, timedelta

import pytest

import recollex
from recollex.pages.studio.reads import drawing
from tests.bindings.graph_browser import boxes, labels, meet, nodes, resize, within

START = datetime(2024, 1, 1, tzinfo=UTC)


def day(number):
    return START + timedelta(days=number)


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """Return a drawing of 60 facts about a few people, 40 memories, and an event with roles."""
    path = tmp_path_factory.mktemp("crowd") / "store"
    with recollex.open(path, embedder=recollex.GivenVectors(8), durability="off") as store:
        a = store.agent("crowd")
        texts = [f"Person {n % 6} told a long story about town {n % 9}." for n in range(40)]
        ids = a.retain_many(
            texts, embedding=[[1.0] + [0.0] * 7] * 40, event_at=[day(n) for n in range(40)]
        )
        for n in range(60):
            a.facts.add(
                f"Person {n % 6}",
                ("lives_in", "works_at", "likes")[n % 3],
                f"Town {n % 9}",
                valid=(day(n), None if n % 4 else day(n + 30)),
                evidence=ids[n % 40],
            )
        roles = {f"Person {n}": f"role {n}" for n in range(6)}
        a.events.add("A feast for everybody", participants=roles, span=(day(50), day(51)))
        return drawing(a)


@pytest.mark.parametrize("zoom", [1, 2.5])
@pytest.mark.parametrize("pick", [None, "fact:7", "event:0"])
def test_labels_cover_neither_labels_nor_nodes(crowd, opened, pick, zoom):
    browser = opened(crowd)
    browser.execute_script("layout.heat = 0; settle()")
    browser.execute_script(f"choose({json.dumps(pick)}); zoom({zoom}, 400, 300)")
    browser.execute_async_script("setTimeout(arguments[0], 150)")
    texts, seen = labels(browser), boxes(browser, "#labels .label")
    shapes = boxes(browser, "#nodes .node:not(.dim) .shape")
    assert len(texts) == len(seen) > (3 if pick else 15)
    for place, label in enumerate(seen):
        assert not any(meet(label, other) for other in seen[:place]), texts[place]
        assert not any(meet(label, shape) for shape in shapes), texts[place]


def test_a_label_without_a_place_is_shown_under_the_pointer(crowd, opened):
    browser = opened(crowd)
    browser.execute_script("layout.heat = 0; settle(); zoom(.3, 500, 300)")
    hidden = browser.execute_script(
        "return [...shown.nodes.values()].find("
        "(node) => node.kind === 'fact' && !texts.has(node.key)).key"
    )
    shape = browser.find_element("css selector", f'[data-key="{hidden}"] .shape')
    selenium = pytest.importorskip("selenium.webdriver")
    selenium.ActionChains(browser).move_to_element(shape).perform()
    assert browser.execute_script(f"return texts.has({json.dumps(hidden)})")
    seen = boxes(browser, "#labels .label")
    assert not any(meet(one, other) for n, one in enumerate(seen) for other in seen[:n])


def test_what_is_searched_keeps_its_labels_and_the_rest_loses_them(crowd, opened):
    browser = opened(crowd)
    browser.execute_script("layout.heat = 0; settle()")
    browser.find_element("id", "search").send_keys("person likes town")
    hits = browser.execute_script("return hits.size")
    texts = labels(browser)
    assert hits == 20 and len(texts) > 14
    others = {text for text in texts if not text.startswith("likes Town ")}
    assert others <= {
        "conflicts with",
        "followed by",
    }  # lines of what is found, if a font leaves room


def test_what_is_searched_has_labels_while_many_nodes_move(tmp_path, opened):
    with recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(8)) as store:
        a = store.agent("a")
        with a.transaction() as tx:
            for n in range(160):
                tx.facts.add(f"Person {n % 9}", "met", f"Friend {n}")
        browser = opened(drawing(a))
    found = browser.execute_script(
        "layout.heat = 1; move(); relabel();"
        "const before = find('labels').getClientRects().length;"
        "find('search').value = 'Friend 159'; search();"
        "return [shown.nodes.size > BUSY, moving, before, texts.has('fact:159'),"
        " find('labels').getClientRects().length]"
    )
    assert found == [True, True, 0, True, 1]
    browser.execute_script("find('search').value = ''; search(); while (layout.step());")
    browser.execute_async_script("setTimeout(arguments[0], 300)")
    assert len(labels(browser)) > 20  # they are back at rest


def test_an_id_is_found_whole_and_not_by_a_part_of_it(crowd, opened):
    browser = opened(crowd)
    id = browser.execute_script("return drawing.facts[7].id")
    search = browser.find_element("id", "search")
    search.send_keys(id[:-1])
    assert browser.find_element("id", "found").text == "0 found"
    search.send_keys(id[-1])
    assert browser.find_element("id", "found").text == "1 found"


def test_the_clock_of_the_world_changes_all_that_is_drawn(crowd, opened):
    browser = opened(crowd)
    everything = len(nodes(browser))

    def hold(at):
        micros = None if at is None else int(at.timestamp() * 1e6)
        browser.execute_script("world = arguments[0]; redraw()", micros)

    hold(day(10))
    kinds = [kind for kind, _ in nodes(browser)]
    assert kinds.count("fact") == kinds.count("memory") == 11  # those of the days 0 to 10
    assert "event" not in kinds
    found = browser.find_element("css selector", '#legend [data-hides="fact"] .number').text
    assert found == "11"
    hold(day(60))
    assert "event" in [kind for kind, _ in nodes(browser)]
    hold(None)
    assert len(nodes(browser)) == everything


def test_the_card_covers_no_node(crowd, opened):
    browser = opened(crowd)
    browser.execute_script("layout.heat = 0; settle()")
    whole = boxes(browser, "#graph")[0]
    browser.execute_script("choose('fact:7')")
    browser.execute_async_script("setTimeout(arguments[0], 200)")
    (card,), (graph,), (legend,) = (
        boxes(browser, f"#{id}") for id in ("details", "graph", "legend")
    )
    assert graph[2] < whole[2] and not meet(card, graph) and not meet(legend, graph)
    shapes = boxes(browser, "#nodes .shape")
    assert len(shapes) > 60 and all(within(shape, graph) for shape in shapes)
    # Also after the reader moved the graph: the chosen node stays in sight.
    browser.execute_script("choose(null); zoom(2, 0, 0)")
    browser.execute_async_script("setTimeout(arguments[0], 200)")
    browser.execute_script("choose('fact:7')")
    browser.execute_async_script("setTimeout(arguments[0], 200)")
    assert within(boxes(browser, '[data-key="fact:7"] .shape')[0], graph)


@pytest.mark.parametrize("card", [False, True])
def test_the_page_fits_a_window_of_420_pixels(crowd, browser, opened, card):
    resize(browser, 420, 800)
    try:
        opened(crowd)
        browser.execute_script("layout.heat = 0; settle()")
        if card:
            browser.execute_script("choose('event:0')")
            browser.execute_async_script("setTimeout(arguments[0], 200)")
        assert browser.execute_script("return document.documentElement.scrollWidth") == 420
        assert browser.execute_script("return document.documentElement.scrollHeight") == 800
        window = [0, 0, 420, 800]
        controls = "#search, summary, #count, .close"
        found = boxes(browser, controls)
        assert len(found) == 3 + card
        assert all(within(box, window) for box in found)
        assert not any(meet(one, two) for n, one in enumerate(found) for two in found[:n])
        (graph,) = boxes(browser, "#graph")
        assert graph[3] - graph[1] >= 200
        assert all(within(shape, graph) for shape in boxes(browser, "#nodes .shape"))
        browser.find_element("css selector", "summary").click()  # the legend opens
        assert browser.find_element("css selector", '[data-hides="fact"]').is_displayed()
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 420
        fact = browser.find_element("css selector", '[data-hides="fact"]')
        fact.click()
        assert "fact" not in [kind for kind, _ in nodes(browser)]
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_many_memories_beside_facts_are_hidden_at_first_and_it_is_said(tmp_path, opened):
    with recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(8)) as store:
        a = store.agent("a")
        texts = [f"Memory {n}" for n in range(130)]
        a.retain_many(texts, embedding=[[1.0] + [0.0] * 7] * 130)
        a.facts.add("Ann", "likes", "tea")
        browser = opened(drawing(a, limit=120))
    assert [kind for kind, _ in nodes(browser)].count("memory") == 0
    said = browser.find_element("id", "said").text
    assert "10 memories are left out, the oldest" in said
    assert "memories are hidden: the legend shows them" in said
    browser.find_element("css selector", '#legend [data-hides="memory"]').click()
    assert [kind for kind, _ in nodes(browser)].count("memory") == 120
