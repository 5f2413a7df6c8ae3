"""The studio in a real browser: every view, both clocks, two cuts, keys, and small windows."""

import re
from typing import Any

import pytest

from tests.bindings.graph_browser import nodes, resize
from tests.bindings.pages.studio.told_store import NASTY, day
from tests.bindings.remote.http.http_service import Served

MEMORIES = ".view .memories .memory .text"


def test_agents_lead_to_their_memories(studio: Any) -> None:
    studio.open("")
    studio.until_text("#agents-title", "2 agents")
    assert studio.texts(".heading p") == ["As of now: the clocks are in the views of one agent."]
    rows = [re.sub(r"\s+", " ", each) for each in studio.texts(".agents tbody tr")]
    assert rows[0].startswith("alice 59") or rows[0].startswith("alice59")
    studio.one('a[href="#/team%2Fone/memories"]').click()
    studio.until_text(MEMORIES, "The office kitchen")
    assert studio.one("#agent").get_attribute("value") == "team/one"
    assert studio.browser.title == "team/one: memories \u2013 recollex studio"


def test_memories_come_a_page_at_a_time(studio: Any) -> None:
    studio.open("#/alice/memories").one(MEMORIES)
    found = studio.texts(MEMORIES)
    assert len(found) == 50 and found[0].endswith("the bicycle is broken.")
    assert found[1] == NASTY and studio.all(".view img") == []
    studio.one(".more").click()
    studio.until(lambda: len(studio.texts(MEMORIES)) == 59)
    assert studio.texts(MEMORIES)[-1].startswith("Ann met Bob in Oslo on day 0")
    assert studio.all(".more") == []


def test_a_search_and_filters_narrow_them(studio: Any) -> None:
    studio.open("#/alice/memories").one("#search").send_keys("choir Bergen day 11\n")
    studio.until_text(".view .memories li:first-child", "Bergen on day 11")
    assert len(studio.texts(MEMORIES)) > 1
    studio.open("#/alice/memories?tags=home&since=2024-01-05&until=2024-01-10").one(MEMORIES)
    assert [re.findall(r"day (\d+)", each)[0] for each in studio.texts(MEMORIES)] == ["4", "8"]
    assert studio.texts(".filters summary .chip") == ["3"]
    studio.until_text(".heading p", "2 memories that pass the filter")
    studio.open("#/alice/memories?tags=nothing")
    studio.until_text(".notice", "Nothing was found.")


def test_one_memory_has_its_history_evidence_neighbours_and_writer(studio: Any) -> None:
    studio.open("#/alice/memories").one('.view [data-id="m4"]').click()
    studio.until_text(".card .whole", "the bicycle is broken.")
    studio.until_text(".card h3", "History: 2 versions")
    studio.until_text(".card .history li:first-child", "by ann, \u201cit broke\u201d")
    studio.until_text(".card .history li:last-child .said", "the bicycle is ready.")
    studio.until_text(".card .writer", "Written by ann")
    studio.until_text(".card .near h4", "Names Rome")
    studio.one(".card .near .memory").click()
    studio.until(lambda: "m4" not in studio.texts(".card dl dd")[:1])
    studio.open("#/alice/memories?memory=m1")
    studio.until_text(".card .facts .fact", "Ann lives_in Oslo")
    studio.open("#/alice/memories?memory=nasty")
    studio.until(lambda: studio.texts(".card .whole") == [NASTY])
    studio.open("#/alice/memories?memory=m6")  # it was forgotten
    studio.until_text(".card .notice", "UnknownIdError")


def micros(text: str) -> float:
    """Return the first time that a text names."""
    number, unit = re.findall(r"([\d.]+) (\u00b5s|ms|s)", text)[0]
    return float(number) * {"\u00b5s": 1, "ms": 1e3, "s": 1e6}[unit]


def test_a_recall_shows_parts_as_bars_and_stages_with_their_times(studio: Any) -> None:
    studio.open("#/alice/recall").until_text(".notice", "Ask something.")
    studio.one("#search").send_keys("Where is the garden in Rome?\n")
    studio.until_text(".results li", "garden")
    assert len(studio.all(".results > li")) == 10
    first = studio.one(".results > li")
    assert first.find_elements("css selector", ".bars .bar")
    parts = dict(
        zip(
            studio.texts(".results > li:first-child .name"),
            map(float, studio.texts(".results > li:first-child .value")),
            strict=True,
        )
    )
    score = float(studio.texts(".results .score strong")[0])
    assert {"keyword", "semantic"} <= parts.keys()
    assert sum(parts.values()) == pytest.approx(score, abs=0.01)
    studio.until_text(".stages h3", "Time of each stage:")
    stages = dict(zip(studio.texts(".stages .name"), studio.texts(".stages .value"), strict=True))
    assert {"keyword", "semantic", "fusion"} <= stages.keys()
    assert all(re.fullmatch(r"[\d.]+ (\u00b5s|ms|s)", each) for each in stages.values())
    (total,) = (micros(each) for each in studio.texts(".stages h3"))
    (said,) = studio.texts(".stages .soft")
    assert micros(said) == pytest.approx(sum(map(micros, stages.values())), rel=0.02)
    if micros(said) > total:
        assert said.endswith(": some ran at the same time.")
    else:
        between = micros(said.partition("at least ")[2])
        assert micros(said) + between == pytest.approx(total, rel=0.02)
    studio.open("#/alice/recall?ask=garden&preset=tempr&limit=3")
    studio.until(lambda: len(studio.all(".results > li")) == 3)
    studio.open("#/alice/recall?ask=garden&preset=none")
    studio.until_text(".notice.wrong", "preset must be one of")


def test_both_clocks_change_everything(studio: Any) -> None:
    studio.open("#/alice/memories").one(MEMORIES)
    studio.slide("recorded", 5)
    studio.until_text(".heading p", "5 memories, as recorded by 2024-01-05 02:24:00 UTC")
    studio.until(lambda: len(studio.texts(MEMORIES)) == 5)
    studio.type_time("world", "2024-01-03")
    studio.until_text(".heading p", "3 memories, as recorded by")
    studio.until(lambda: len(studio.texts(MEMORIES)) == 3)
    studio.press("2")
    studio.one("#search").send_keys("Ann met Bob\n")
    studio.until_text(".results", "Ann met Bob in Oslo on day 0")
    assert len(studio.all(".results > li")) == 3
    studio.press("4")
    studio.until(lambda: studio.all(".graph iframe"))
    studio.browser.switch_to.frame(studio.one(".graph iframe"))
    studio.until(lambda: [kind for kind, _ in nodes(studio.browser)].count("memory") == 3)
    studio.browser.switch_to.default_content()
    studio.press("5")
    studio.until(lambda: len(studio.all(".log tbody tr")) == 6)
    studio.press("1n")
    studio.until_text(".heading p", "59 memories")
    studio.type_time("recorded", "yesterday")
    assert studio.one("#recorded .exact input").get_attribute("aria-invalid") == "true"
    assert studio.texts(".heading p")[0].startswith("59 memories")


def test_a_memory_is_that_of_the_clock(studio: Any) -> None:
    studio.open("#/alice/memories?memory=m4").until_text(".card .whole", "broken")
    studio.slide("recorded", 9)
    studio.until_text(".card .whole", "the bicycle is ready.")
    studio.until_text(".card h3", "History: 1 version")
    studio.slide("recorded", 2)
    studio.until_text(".card .notice", "UnknownIdError")


def test_two_cuts_are_shown_side_by_side(studio: Any) -> None:
    studio.open("#/alice/compare").one(".sides .memory")
    studio.type_time("recorded2", "2024-02-10")
    studio.until_text(".side:first-child h3", "as recorded by 2024-02-10 UTC")
    studio.until_text(".side:last-child p", "22 memories, 2 facts, 1 event")
    studio.until_text(".side:first-child p", "3 memories, 0 facts, 0 events")
    assert studio.texts(".side:first-child mark") == ["ready."]
    assert studio.texts(".side:last-child mark") == ["broken."]
    studio.until_text(".side:last-child .facts", "Ann lives_in Oslo")
    studio.type_time("recorded", "2024-01-20")  # now the left cut is the later one
    studio.until_text(".side:last-child p", "0 memories, 0 facts")
    studio.until_text(".side:first-child p", "21 memories, 0 facts")
    studio.one(".ask #search").send_keys("the choir in Rome\n")
    studio.until_text(".ranked .chip", "only here")
    assert len(studio.all(".ranked")) == 2


def test_the_graph_is_drawn_and_its_world_clock_held(studio: Any) -> None:
    studio.open("#/alice/graph").one("iframe")
    studio.browser.switch_to.frame(studio.one("iframe"))
    studio.until(lambda: len(nodes(studio.browser)) > 60)
    assert NASTY in [label for _, label in nodes(studio.browser)]
    assert studio.browser.execute_script("return window.hurt") is None
    assert "nodes" in studio.one("#count").text
    studio.browser.switch_to.default_content()
    studio.slide("world", 4)
    studio.until_text("#world output, #world .free", "any time")
    studio.browser.switch_to.frame(studio.one("iframe"))
    studio.until(lambda: 0 < [kind for kind, _ in nodes(studio.browser)].count("memory") < 8)
    studio.browser.switch_to.default_content()
    studio.one("#search").send_keys("Where does Ann live?\n")
    studio.until(lambda: "about=" in studio.browser.current_url)
    studio.one("iframe")


def test_the_log_is_paged_and_leads_to_memories(studio: Any) -> None:
    studio.open("#/alice/log").one(".log tbody tr")
    rows = studio.texts(".log tbody tr")
    assert len(rows) == 50 and "forget" in rows[0] and "asked" in rows[0]
    studio.one(".more").click()
    studio.until(lambda: len(studio.all(".log tbody tr")) == 68)
    studio.open("#/alice/log?op=correct")
    studio.until(lambda: len(studio.all(".log tbody tr")) == 1)
    studio.one(".log a.id").click()
    studio.until_text(".card .whole", "broken")


PAIRS = """return [...document.querySelectorAll(".health dt")].map(
    name => [name.innerText, name.nextElementSibling.innerText])"""


def test_health_shows_size_tail_checkpoint_readers_and_latencies(studio: Any) -> None:
    studio.open("#/alice/health").until_text(".health h3", "On disk:")
    said = dict(studio.browser.execute_script(PAIRS))  # at once, as the page draws itself anew
    assert said["memories"] == "59" and said["tail, not in a segment"] == "62 memories"
    assert said["last checkpoint"] == "none yet" and said["open for writing"].startswith("yes")
    studio.until_text(".latencies", "agent_health")
    assert int(studio.texts(".health dd")[-5]) >= 0
    assert studio.all(".health .notice") == []
    studio.slide("recorded", 5)
    studio.until_text(".health .notice", "state of now. The clocks show the agent as recorded by")
    assert dict(studio.browser.execute_script(PAIRS))["memories"] == "59"


def test_keys_move_open_and_close(studio: Any) -> None:
    studio.open("#/alice/memories").one(MEMORIES)
    studio.press("jj")
    active = studio.browser.switch_to.active_element
    assert active.get_attribute("data-id") == "nasty"
    active.send_keys("\n")
    studio.until(lambda: studio.texts(".card .whole") == [NASTY])
    studio.press("\ue00c")  # Escape
    studio.until(lambda: not studio.all(".card"))
    studio.press("[")
    studio.until_text(".heading p", "as recorded by 2024-03-08")
    studio.press("?")
    studio.until(lambda: studio.one("dialog").is_displayed())
    assert "/" in studio.texts("dialog dt")
    studio.press("\ue00c")
    studio.until(lambda: not studio.one("dialog").is_displayed())
    studio.press("/")
    assert studio.browser.switch_to.active_element.get_attribute("id") == "search"


def test_a_screen_reader_is_told_what_everything_is(studio: Any) -> None:
    for view in ("memories", "recall?ask=Rome", "compare", "graph", "log", "health"):
        studio.open(f"#/alice/{view}").one(".view h2")
        nameless = studio.browser.execute_script(
            "const named = (e) => e.labels?.length || e.getAttribute('aria-label') ||"
            " e.getAttribute('aria-labelledby') || e.textContent.trim() || e.title;"
            "return [...document.querySelectorAll('button, a, input, select, iframe, nav, aside')]"
            ".filter((e) => !named(e)).map((e) => e.outerHTML)"
        )
        assert nameless == [], view
        assert len(studio.all("h1")) == len(studio.all("main")) == 1
        assert studio.texts("nav [aria-current]") == [view.split("?")[0]]


CONTRAST = """
const ratio = (one, other) => {
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map((each) => each / 255)
      .map((each) => each <= .03928 ? each / 12.92 : ((each + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const [a, b] = [light(one), light(other)].sort((x, y) => y - x);
  return (a + .05) / (b + .05);
};
const behind = (e) => {
  for (; e; e = e.parentElement) {
    const colour = getComputedStyle(e).backgroundColor;
    if (!/, 0\\)$/.test(colour)) return colour;
  }
};
return [...document.querySelectorAll('#studio *')].filter((e) => e.getClientRects().length
  && !e.disabled && !e.closest('svg')
  && [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()))
  .map((e) => [ratio(getComputedStyle(e).color, behind(e)), e.outerHTML.slice(0, 90)])
  .filter(([ratio]) => ratio < 4.5)
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out_from_what_is_behind_them(studio: Any, scheme: str) -> None:
    feature = {"name": "prefers-color-scheme", "value": scheme}
    studio.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    try:
        for view in (
            "memories?memory=m5",
            "recall?ask=Rome",
            "compare?recorded2=2024-01-09T00:00:00Z",
        ):
            studio.open(f"#/alice/{view}").one(".view .text")
            studio.until(lambda: not studio.all(".old, [aria-busy=true]"))
            assert studio.browser.execute_script(CONTRAST) == []
        colour = studio.browser.execute_script(
            "return getComputedStyle(document.body).backgroundColor"
        )
        assert (int(colour.split("(")[1].split(",")[0]) < 128) == (scheme == "dark")
    finally:
        studio.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_every_view_fits_380_pixels(studio: Any) -> None:
    resize(studio.browser, 380, 760)
    try:
        for view in (
            *("memories", "memories?memory=nasty&tags=home", "recall?ask=Rome", "compare"),
            *("graph", "log", "health"),
        ):
            studio.open(f"#/alice/{view}").one(".view h2")
            studio.until(lambda: not studio.all("[aria-busy=true]"), view)
            assert studio.overflow() <= 0, view
            wide = studio.browser.execute_script(
                "return [...document.querySelectorAll('button, input, select')].filter((e) =>"
                " e.getClientRects().length && (e.getBoundingClientRect().right > 380.5 ||"
                " e.getBoundingClientRect().left < 0)).map((e) => e.outerHTML)"
            )
            assert wide == [], view
        studio.open("#/alice/memories?memory=m4").until_text(".card .whole", "broken")
        studio.one(".close").click()
        studio.until(lambda: not studio.all(".card"))
        studio.open("")
        studio.until_text("#agents-title", "2 agents")
        assert studio.overflow() <= 0
    finally:
        studio.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_nothing_and_a_wrong_name_have_a_helpful_page(studio: Any, server: Served) -> None:
    studio.open("#/nobody/memories").until_text(".notice", "nobody remembers nothing yet.")
    assert "recollex retain STORE" in studio.texts(".notice pre")[0]
    studio.open(f"#/alice/memories?recorded={day(-3).isoformat().replace('+00:00', 'Z')}")
    studio.until_text(".notice", "Nothing was known at this time.")
    studio.open("#/nobody/graph").until_text(".notice", "There is nothing to draw.")
    studio.open("#/nobody/health").until_text(".health dd", "none yet")
    studio.open("#/nobody/log").until_text(".notice", "No operation")
    studio.open("#/nobody/compare").one("#compare-title")
