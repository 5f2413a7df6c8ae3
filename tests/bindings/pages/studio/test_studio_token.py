"""The studio of a server with tokens, in a real browser: in the address, and typed."""

from collections.abc import Iterator
from typing import Any

import pytest

from recollex.remote.server.access import Access
from tests.bindings.pages.studio.told_store import tell
from tests.bindings.remote.http.http_service import Served, served

SECRET = "a secret of the page's user"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("tokens")
    tell(folder / "store", 8)
    tokens = folder / "tokens.toml"
    tokens.write_text(f'[[token]]\nname = "reader"\nsecret = "{SECRET}"\n')
    tokens.chmod(0o600)
    with served(folder / "store", access=Access.from_file(tokens)) as running:
        yield running


def test_a_token_in_the_address_is_taken_out_of_it(studio: Any) -> None:
    studio.open(f"#token={SECRET.replace(' ', '%20')}&agent=team%2Fone")
    studio.until_text(".view .text", "The office kitchen")
    assert "token" not in studio.browser.current_url
    studio.browser.refresh()
    studio.until_text(".view .text", "The office kitchen")
    studio.open(f"#token={SECRET.replace(' ', '%20')}&agent=alice&view=graph").one(".graph iframe")
    studio.browser.execute_script("sessionStorage.clear()")


def test_without_a_token_it_asks_for_one(studio: Any) -> None:
    studio.open("#/alice/log").one("#token").send_keys("a wrong token\n")
    studio.until_text(".gate", "the server does not know this token")
    field = studio.one("#token")
    field.clear()
    field.send_keys(f"{SECRET}\n")
    studio.until(lambda: studio.all(".log tbody tr"))
    studio.browser.execute_script("sessionStorage.clear()")
