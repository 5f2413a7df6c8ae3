"""The studio's graph, in a real browser without a screen.

Chromium and ChromeDriver (Debian: apt-get install chromium chromium-driver) and the package
selenium are needed; without them the tests of the page are skipped, and those of its drawing run.
"""

import json
from datetime import UTC, datetime, timedelta

import pytest

import recollex
from recollex.pages.studio.reads import drawing
from tests.bindings.graph_browser import edges, labels, nodes

START = datetime(2024, 1, 1, tzinfo=UTC)
NASTY = '</script><img src=x onerror="window.hurt=1">\'"&<!-- \u2028 {{page}} \\u003c'


def day(number):
    return START + timedelta(days=number)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Return a store in which something of every kind happens, one operation a day."""
    path = tmp_path_factory.mktemp("graph") / "store"
    with recollex.open(path, embedder=recollex.GivenVectors(8)) as store:
        a = store.agent("a")
        vector = [1.0] + [0.0] * 7
        texts = {"m1": "Ann moved to Oslo.", "m2": NASTY, "m3": "Ann told a secret."}
        for place, (id, text) in enumerate(texts.items(), 1):
            a.retain(text, id=id, embedding=vector, recorded_at=day(place))
        a.facts.add("Ann", "lives_in", "Oslo", id="f1", evidence="m1", recorded_at=day(4))
        a.facts.add(NASTY, "likes", recollex.Text(NASTY), id="f2", recorded_at=day(5))
        a.events.add(
            "The move",
            participants={"Ann": NASTY},
            facts=["f1"],
            id="e1",
            span=(day(0), day(1)),
            recorded_at=day(6),
        )
        a.events.add(NASTY, participants=["Al"], id="e2", recorded_at=day(7))
        a.events.link("e1", "causes", "e2", recorded_at=day(8))
        a.events.add_episode("A new life", ["e1", "e2"], id="p1", recorded_at=day(9))
        a.facts.add("Al", "lives_in", "Rome", id="f3", evidence="m3", recorded_at=day(10))
        a.facts.merge("Al", "Ann", recorded_at=day(11))  # now f1 and f3 contradict each other
        a.facts.correct("f1", object="Bergen", recorded_at=day(12))
        a.facts.archive("f2", recorded_at=day(13))
        a.forget("m3", recorded_at=day(14))
        a.facts.archive("f1", recorded_at=day(15))  # hides e1
    return path


@pytest.fixture(scope="module")
def agent(store):
    with recollex.open(store, embedder=recollex.GivenVectors(8), read_only=True) as opened:
        yield opened.agent("a")


def test_what_was_forgotten_is_not_in_it_unless_the_cut_is_earlier(agent):
    assert "secret" not in json.dumps(drawing(agent))
    assert "secret" in json.dumps(drawing(agent.at(day(13))))
    assert "Bergen" not in json.dumps(drawing(agent.at(day(11))))


def test_the_newest_are_drawn_and_the_rest_counted(agent):
    drawn = drawing(agent, limit=1)
    assert drawn["left_out"] == {"facts": 5, "memories": 1}
    assert len(drawn["facts"]) + len(drawn["events"]) == 1


def test_an_agent_that_knows_nothing_has_a_drawing(tmp_path):
    with recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(8)) as store:
        drawn = drawing(store.agent("nobody"))
    assert (drawn["facts"], drawn["until"]) == ([], 0)


# -- in the browser --------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [day(5), day(9), day(11), day(15)])
def test_the_cut_of_a_moment_is_shown(agent, opened, at):
    browser = opened(drawing(agent.at(at)))
    facts = list(agent.facts.snapshot(as_recorded=at))
    events = agent.events.find(as_recorded=at)
    memories = agent.at(at).list()
    expected = [("fact", f"{fact.subject} {fact.predicate} {fact.object}") for fact in facts]
    expected += [("event", event.summary) for event in events]
    expected += [("episode", each.title) for each in agent.events.episodes(as_recorded=at)]
    expected += [("memory", memory.text) for memory in memories]
    found = [tuple(node) for node in nodes(browser)]
    assert sorted(node for node in found if node[0] != "entity") == sorted(expected)
    names = {entity.name for entity in agent.facts.entities(as_recorded=at)}
    names |= {who.name for event in events for who in event.participants}
    shown = {label for kind, label in found if kind == "entity"}
    assert names <= shown <= names | {name for memory in memories for name in memory.entities}
    conflicts = len(agent.facts.conflicts(as_recorded=at))
    assert edges(browser).count("conflicts_with") == conflicts
    assert edges(browser).count("includes_fact") == sum(len(event.facts) for event in events)
    assert browser.find_element("id", "count").text.startswith(f"{len(found)} node")


def test_a_click_tells_all_and_a_search_lights_what_it_finds(agent, opened):
    browser = opened(drawing(agent.at(day(12))))
    before = len(nodes(browser))
    (event,) = browser.find_elements("css selector", '.node.event[aria-label="event: The move"]')
    press = "const n = arguments[0]; n.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}))"
    browser.execute_script(press, event)
    details = browser.find_element("id", "details").text
    assert "The move" in details
    assert "2024-01-01 to 2024-01-02" in details
    assert NASTY.split("\u2028")[0].strip() in details  # the participant's role
    browser.find_element("id", "search").send_keys("BERGEN")
    assert browser.find_element("id", "found").text == "2 found"  # the fact and the place
    assert len(browser.find_elements("css selector", ".node.hit")) == 2
    browser.find_element("css selector", '#legend [data-hides="memory"]').click()
    assert len(nodes(browser)) == before - 3
    browser.find_element("css selector", '#legend [data-hides="memory"]').click()
    assert len(nodes(browser)) == before


def test_a_real_click_on_a_node(agent, opened):
    browser = opened(drawing(agent.at(day(7))))
    browser.execute_script("layout.heat = 0; settle()")
    shape = browser.find_element("css selector", "#nodes .node.fact .shape")
    selenium = pytest.importorskip("selenium.webdriver")
    selenium.ActionChains(browser).move_to_element(shape).click().perform()
    details = browser.find_element("id", "details").text
    assert details.split("\n")[1:3] == ["FACT", "Ann lives_in Oslo"]
    assert "2024-01-05 UTC" in details
    assert "2024-01-13" not in details  # when it was corrected, which was not known then
    assert "versions" not in details


def test_an_empty_page_says_so(tmp_path, opened):
    with recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(8)) as store:
        browser = opened(drawing(store.agent("nobody")))
    assert browser.find_element("id", "empty").text == "Nothing was known at this time."
    assert nodes(browser) == []


def test_the_label_of_a_fact_says_its_object_and_an_edge_what_it_leads_to(agent, opened):
    browser = opened(drawing(agent.at(day(11))))
    assert {"lives_in Oslo", "lives_in Rome", "conflicts with"} <= set(labels(browser))
    titles = browser.execute_script(
        "return [...document.querySelectorAll('.edge title')].map((title) => title.textContent)"
    )
    assert {"object: Oslo", "object: Rome", "conflicts with: Ann lives_in Rome"} <= set(titles)
    assert "includes fact: Ann lives_in Oslo" in titles
