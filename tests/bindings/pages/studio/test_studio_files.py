"""The files of the studio's page: they ask for no token, and load nothing from elsewhere."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from recollex.pages import studio
from recollex.remote.server.access import Access, Principal
from recollex_engine.agents.logbook import KINDS
from recollex_engine.ranking.presets import PRESETS
from tests.bindings.remote.http.http_service import served

FOLDER = Path(studio.__file__).parent / "page"
ELSEWHERE = re.compile(
    r"https?://(?!www\.w3\.org)|@import|\burl\((?!#)|\beval\b|new Function|innerHTML"
)


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    access = Access([(b"0" * 32, Principal("nobody"))])
    with (
        served(tmp_path_factory.mktemp("files") / "store", access=access) as running,
        running.http() as client,
    ):
        yield client


def test_every_file_is_there_without_a_token(http: httpx.Client) -> None:
    for path, file in studio.paths().items():
        answer = http.get(path)
        assert (answer.status_code, answer.content) == (200, file.read_bytes()), path
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        framed = "'self'" if path == studio.FRAME else "'none'"  # the frame: by its own server
        assert policy.endswith(f"frame-ancestors {framed}")
        assert http.post(path).status_code == 405
    assert http.get("/studio").headers["content-type"] == "text/html; charset=utf-8"
    assert http.get("/studio/page.js").status_code == 401  # no page: an unknown path
    assert http.get("/api/summaries").status_code == 401


@pytest.mark.parametrize("path", sorted(studio.paths()))
def test_a_file_imports_files_of_ours_alone(path: str) -> None:
    text = studio.paths()[path].read_text("utf-8")
    imported = re.findall(r"""(?:\bfrom|import)\s*["']([^"']+)["']""", text)
    imported += re.findall(r'(?:src|href)="([^"$#]+)"', text)
    known = {*studio.paths(), "data:,"}
    if path == studio.FRAME:
        imported = [f"/studio/graph/{each}" if "data:" not in each else each for each in imported]
    assert {each.replace("./", "/studio/vendor/") for each in imported} <= known
    if "/vendor/" not in path:
        assert not ELSEWHERE.search(text)
        assert "unsafe" not in text and "dangerously" not in text


def test_the_page_offers_every_preset_and_every_kind_of_operation_is_one() -> None:
    offered = re.search(r"PRESETS = (\[.*?\]);", (FOLDER / "recall.js").read_text("utf-8"), re.S)
    assert offered is not None and json.loads(offered[1]) == list(PRESETS)
    kinds = re.search(r"KINDS = (\[.*?\]);", (FOLDER / "log.js").read_text("utf-8"), re.S)
    assert kinds is not None and set(json.loads(kinds[1])) <= set(KINDS)


def test_what_others_wrote_has_its_licence() -> None:
    vendor = FOLDER / "vendor"
    table = (vendor / "README.md").read_text("utf-8")
    for file in vendor.glob("*.js"):
        (licence,) = re.findall(rf"^\| {file.name} \|.* (LICENSE-\w+) \|", table, re.M)
        assert (vendor / licence).stat().st_size > 1000
