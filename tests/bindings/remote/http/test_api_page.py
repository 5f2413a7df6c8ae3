"""The page at `/docs`: its text, and in a real browser where there is one."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from recollex.remote.server.access import Access
from tests.bindings.remote.http.http_service import Served, served
from tests.waiting import until

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
        assert set(re.findall(r'(?:src|href|spec-url)="([^"]*)"', answer.text)) == {
            "data:,",
            "/docs/rapidoc-min.js",
            "/openapi.json",
        }
        assert 'load-fonts="false"' in answer.text and "://" not in answer.text
        script = client.get("/docs/rapidoc-min.js")
        assert script.headers["content-encoding"] == "gzip" and "RapiDoc 9.3.8" in script.text[:99]
        document = client.get("/openapi.json").json()
        assert document == client.get("/api/openapi.json").json()
        assert document["security"] == [{"token": []}]
        assert client.post("/docs").status_code == 405


def test_a_browser_draws_every_endpoint(browser: Any, server: Served) -> None:
    with server.http() as client:
        paths = client.get("/openapi.json").json()["paths"]
    told = {f"{verb} {path}" for path, verbs in paths.items() for verb in verbs}
    browser.get(f"{server.url}/docs")
    summaries = "return [...(document.querySelector('rapi-doc').shadowRoot ?? document)"
    summaries += ".querySelectorAll('.endpoint-head')].map((each) => each.textContent)"
    until(lambda: len(browser.execute_script(summaries)) == len(told))
    log = [each["message"] for each in browser.get_log("browser") if each["level"] == "SEVERE"]
    assert log == []
