"""What an index shows of the package, and what an import of it loads."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LINKS = re.compile(r"\]\(([^)\s]+)|^\[[^\]]+\]: (\S+)", re.MULTILINE)
"""The targets of inline links, and of references."""


@pytest.fixture(scope="module")
def metadata():
    build = [sys.executable, "-m", "hatchling", "metadata"]
    return json.loads(subprocess.run(build, cwd=ROOT, capture_output=True, check=True).stdout)


def links(text):
    return [inline or reference for inline, reference in LINKS.findall(text)]


def test_the_readme_of_the_index_has_the_links_of_the_repository_made_absolute(metadata):
    files = f"{metadata['urls']['Repository']}/blob/main/"
    shown, own = metadata["readme"]["text"], (ROOT / "README.md").read_text("utf-8")
    assert all(link.startswith("https://") for link in links(shown))
    assert [link.removeprefix(files) for link in links(shown)] == links(own)
    assert len(links(own)) > 25
    for link in links(shown):
        if link.startswith(files):
            assert (ROOT / link.removeprefix(files).partition("#")[0]).exists()
    assert re.sub(re.escape(files), "", shown) == own


def test_every_url_of_the_project_is_below_that_of_its_repository(metadata):
    urls = metadata["urls"]
    assert {"Repository", "Documentation", "Changelog", "Issues"} <= urls.keys()
    for url in urls.values():
        assert url.startswith(urls["Repository"])
        if "/blob/main/" in url:
            assert (ROOT / url.partition("/blob/main/")[2]).is_file()


def test_a_model_that_is_converted_is_used_without_onnx():
    code = (
        "import sys, recollex\n"
        "from recollex_engine.models import encoder, convert\n"
        "print('onnx' in sys.modules, 'google.protobuf' in sys.modules)"
    )
    roots = os.pathsep.join(str(ROOT / root) for root in ("kernels", "engine", "bindings"))
    run = [sys.executable, "-c", code]
    env = os.environ | {"PYTHONPATH": roots}
    done = subprocess.run(run, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
