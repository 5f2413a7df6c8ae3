"""The page at `/docs`: its text, and in a real browser where there is one."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from recollex.remote.server.access import Access
from tests.bindings.remote.http.http_service import Served, served

SECRET = "a secret of the page's user"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("page")
    tokens = folder / "tokens.toml"
    tokens.write_text(f'[[token]]\nname = "all"\nsecret = "{SECRET}"\nscope = "write"\n')
    tokens.chmod(0o600)
    with served(folder / "store", access=Access.from_file(tokens)) as running:
        yield running


def test_it_loads_nothing_from_elsewhere_and_needs_no_token(server: Served) -> None:
    with server.http() as client:
        answer = client.get("/docs")
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert set(re.findall(r'(?:src|href)="([^"]*)"', answer.text)) == {
            "data:,",
            "/openapi.json",
        }
        assert not re.search(r"https?://|@import|\burl\(|\{\{|innerHTML", answer.text)
        document = client.get("/openapi.json").json()
        assert document == client.get("/api/openapi.json").json()
        assert document["security"] == [{"token": []}]
        assert client.post("/docs").status_code == 405


# -- in the browser --------------------------------------------------------------------------------


@pytest.fixture
def page(browser: Any, server: Served) -> Iterator[Any]:
    browser.get(f"{server.url}/docs")
    browser.implicitly_wait(10)
    browser.find_element("css selector", "details")
    browser.implicitly_wait(0)
    yield browser
    log = [each["message"] for each in browser.get_log("browser") if each["level"] == "SEVERE"]
    assert [message for message in log if "/api/" not in message] == []  # those are refusals


def sent(page: Any, name: str, body: str | None = None, **inputs: str) -> tuple[str, int, Any]:
    """Fill a form and send it; return the command line shown, the status and the answer."""
    form = page.find_element("id", name)
    if form.get_attribute("open") is None:
        form.find_element("tag name", "summary").click()
        page.implicitly_wait(10)  # the form is filled by a later event
        form.find_element("tag name", "button")
        page.implicitly_wait(0)
    for label, value in inputs.items():
        field = form.find_element("css selector", f'input[aria-label="{label}"]')
        field.clear()
        field.send_keys(value)
    if body is not None:
        area = form.find_element("tag name", "textarea")
        area.clear()
        area.send_keys(body)
    page.execute_script("arguments[0].querySelectorAll('pre')[1].textContent = ''", form)
    form.find_element("tag name", "button").click()
    for _ in range(100):
        said, shown = (
            each.get_attribute("textContent") for each in form.find_elements("tag name", "pre")
        )
        if shown:
            break
        page.execute_async_script("setTimeout(arguments[0], 50)")
    status, _, answer = shown.partition("\n")
    return said, int(status), json.loads(answer)


def test_every_endpoint_can_be_opened(page: Any, server: Served) -> None:
    with server.http() as client:
        paths = client.get("/openapi.json").json()["paths"]
    told = {each["operationId"] for verbs in paths.values() for each in verbs.values()}
    shown = page.find_elements("tag name", "details")
    assert {each.get_attribute("id") for each in shown} == told
    page.execute_script("document.querySelectorAll('details').forEach((each) => each.open = true)")
    page.execute_async_script("setTimeout(arguments[0], 100)")
    assert all(each.find_elements("tag name", "button") for each in shown)
    assert page.execute_script("return document.documentElement.scrollWidth <= innerWidth")


def test_a_form_calls_its_endpoint(page: Any) -> None:
    agent = "a/b"
    _, status, told = sent(page, "post_agents_memories", agent_id=agent)
    assert (status, told["title"]) == (401, "UnauthorizedError")
    page.find_element("id", "token").send_keys(SECRET)
    said, status, told = sent(page, "post_agents_memories", agent_id=agent)
    assert status == 200 and list(told) == ["id"]
    assert "/api/agents/a%2Fb/memories' -H" in said and SECRET not in said
    query = '{"query": "Who joined it\'s Google?", "limit": 1}'
    said, status, found = sent(page, "post_agents_search", query, agent_id=agent)
    assert [each["text"] for each in found["memories"]] == ["Alice joined Google."]
    assert "it'\\''s Google" in said
    _, status, listed = sent(page, "get_agents_memories", agent_id=agent, limit="1")
    assert [each["id"] for each in listed["memories"]] == [told["id"]]
    _, status, wrong = sent(page, "get_agents_memories", agent_id=agent, limit="0")
    assert (status, wrong["detail"]) == (422, "limit must lie in [1, 1000], got 0")


def test_a_word_finds_endpoints(page: Any) -> None:
    page.find_element("id", "search").send_keys("retention")
    shown = [each for each in page.find_elements("tag name", "details") if each.is_displayed()]
    assert {each.get_attribute("id") for each in shown} == {
        "get_agents_retention",
        "put_agents_retention",
    }


def test_it_fits_a_phone(page: Any) -> None:
    page.set_window_size(420, 900)
    page.execute_script("document.querySelectorAll('details').forEach((each) => each.open = true)")
    page.execute_async_script("setTimeout(arguments[0], 100)")
    assert page.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    page.set_window_size(1280, 860)
