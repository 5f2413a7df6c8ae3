import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import recollex
from recollex.pages import studio
from tests.bindings.command_line import Shell, command_line
from tests.bindings.serving import serving
from tests.bindings.word_vectors import WordVectors

pytest.register_assert_rewrite(
    "tests.bindings.contract",
    "tests.bindings.argument_contract",
    "tests.bindings.fact_contract",
    "tests.bindings.memory_contract",
    "tests.bindings.bad_input.bad_values",
)

BROWSER_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,860",
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Return a real browser without a screen, of Debian's chromium and chromium-driver."""
    selenium = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    found = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if None in found:
        pytest.skip("chromium and chromedriver are not on PATH: apt-get install chromium-driver")
    options = selenium.ChromeOptions()
    options.binary_location = found[0]
    for flag in (*BROWSER_FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = selenium.Chrome(options=options, service=selenium.ChromeService(found[1]))
    yield driver
    driver.quit()


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[[Any], Any]]:
    """Return a function that opens the studio's graph with a drawing.

    It must log nothing and run no text as code.
    """

    def open_graph(drawn: Any) -> Any:
        given = f"graphDrawing = {json.dumps(json.dumps(drawn))}; graphWorld = null"
        script = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": given})
        browser.get(studio.paths()[studio.FRAME].as_uri())
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
        return browser

    yield open_graph
    assert browser.get_log("browser") == []
    assert browser.execute_script("return window.hurt") is None


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    folder = tmp_path_factory.mktemp("certificate")
    chain, key = folder / "chain.pem", folder / "key.pem"
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    command = ["openssl", "req", "-x509", *curve, *names, "-keyout", str(key), "-out", str(chain)]
    subprocess.run(command, check=True, capture_output=True)
    yield chain, key


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    address = f"unix://{tmp_path / 'memory.sock'}"
    with serving(recollex.open(tmp_path / "memory", embedder=WordVectors()), address=address):
        yield address


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    return command_line(tmp_path, monkeypatch, capsys)
