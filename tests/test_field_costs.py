"""A derived field of a memory is added in two files: it is done on a copy.

CONTRIBUTING.md has the recipe of a stored one. The files that are made (`python -m
tests.made_tables`, `python -m bindings.js.declarations`) are not counted: nobody writes in
them.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
ENGINE = "engine/recollex_engine"
Changes = dict[str, list[tuple[str, str]]]

DERIVED: Changes = {
    f"{ENGINE}/recall/memory_columns.py": [
        ('    "role": number("role"),\n', '    "words": number("words"),\n'),
    ],
    f"{ENGINE}/recall/memory.py": [
        (
            "    tags: Annotated[",
            '    words: Annotated[int, Told("How many words it has.", in_recall=True)] = 0\n',
        ),
    ],
}
"""File -> (what stands there, what is put before it)."""

OPENED = """
import sys
import tempfile

import recollex
from recollex.remote.http.responses import MEMORY
from recollex.remote.wire import codec

VECTOR = [1.0] * 8
folder = tempfile.mkdtemp()
with recollex.open(folder, embedder=recollex.GivenVectors(8)) as store:
    agent = store.agent("ann")
    {code}
    agent.verify()
"""
OF_DERIVED = """
    agent.retain("Tea is fine today.", id="m", embedding=VECTOR)
    assert agent.get("m").words == 3, agent.get("m")
    recall = agent.recall("tea", query_embedding=VECTOR)
    assert recall[0].words == 3 and recall[0].to_dict()["words"] == 3
    received = codec.decode(codec.encode(recall))
    assert received[0].words == 3
    assert MEMORY["properties"]["words"]["type"] == "integer"
"""


def test_a_derived_field_is_added_in_two_files(tmp_path: Path) -> None:
    assert len(DERIVED) == 2
    for root in ("engine", "bindings"):
        ignored = shutil.ignore_patterns("__pycache__", "node_modules")
        shutil.copytree(ROOT / root, tmp_path / root, ignore=ignored, symlinks=True)
    for name, edits in DERIVED.items():
        path = tmp_path / name
        text = path.read_text("utf-8")
        for before, added in edits:
            assert before in text, f"{name} has no {before!r}: change the recipe"
            text = text.replace(before, added + before)
        path.write_text(text, encoding="utf-8")
    roots = [ROOT / "kernels", tmp_path / "engine", tmp_path / "bindings", ROOT]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, roots))}
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", OPENED.format(code=OF_DERIVED.strip())],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr[-4000:]
