from collections.abc import Iterator
from typing import Any

import pytest

from tests.bindings.pages.studio.told_store import tell
from tests.bindings.remote.http.http_service import Served, served

pytest.register_assert_rewrite("tests.bindings.pages.studio.studio_browser")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("studio")
    tell(folder / "store")
    with served(folder / "store") as running:
        running.telemetry.add_service_gauges(running.service)
        yield running


@pytest.fixture
def studio(browser: Any, server: Served) -> Iterator[Any]:
    """Return the studio, whose page must log no error, and run no text as code."""
    from tests.bindings.pages.studio.studio_browser import Studio

    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    yield Studio(browser, server.url)
    log = [each["message"] for each in browser.get_log("browser") if "/api/" not in each["message"]]
    assert log == []  # refusals of the API are logged by the browser itself
    assert browser.execute_script("return window.hurt") is None
