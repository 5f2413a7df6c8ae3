"""A derived field of a memory is added in two files, a stored one in four: it is done on a copy.

CONTRIBUTING.md has the recipes. The files that are made (`python -m tests.made_tables`, `python -m
tests.bindings.js.declarations`) are not counted: nobody writes in them.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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
STORED: Changes = {
    f"{ENGINE}/domain/fields.py": [
        (
            '    Field("role"',
            '    Field("mood", "How it felt.", prefix="h", counts="mood", option="--mood"),\n',
        ),
    ],
    f"{ENGINE}/domain/statement.py": [
        ("    speaker: str | None = None\n", "    mood: str | None = None\n"),
    ],
    f"{ENGINE}/recall/memory.py": [
        (
            "    tags: Annotated[",
            '    mood: Annotated[str | None, Told("How it felt.")] = None\n',
        ),
    ],
    "bindings/recollex/api/retaining.py": [
        (
            '        network: str = "world",\n        document_id: str | None',
            "        mood: str | None = None,\n",
        ),
        (
            "        network: str | Sequence[str] =",
            "        mood: str | Sequence[str | None] | None = None,\n",
        ),
        (
            "            network=network,\n            context=context,\n            document_id",
            "            mood=mood,\n",
        ),
    ],
}
"""File -> (what stands there, what is put before it)."""

OPENED = """
import sys
import tempfile

import recollex
from recollex.files import jsonl
from recollex.remote.http.responses import MEMORY
from recollex.remote.http.retaining import RETAIN
from recollex.remote.wire.received import ReceivedRecall
from recollex.remote.wire import codec
from recollex_engine.domain.records import FIELDS

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
OF_STORED = """
    agent.retain("Tea is fine today.", id="m", mood="glad", embedding=VECTOR)
    agent.retain_many(["One.", "Two."], id=["a", "b"], mood=["sad", None], embedding=[VECTOR] * 2)
    assert agent.get("m").mood == "glad"
    agent.amend("m", tags=["x"])
    assert agent.get("m").mood == "glad"
    recall = agent.recall("tea", query_embedding=VECTOR)
    received = codec.decode(codec.encode(recall))
    assert [each.mood for each in received] == [each.mood for each in recall]
    assert sorted(map(str, (each.mood for each in recall))) == ["None", "glad", "sad"]
    assert agent.value_counts("mood") == {"glad": 1, "sad": 1}
    (line,) = jsonl.read([jsonl.write(agent.get("m"))], None)
    assert line.fields["mood"] == "glad"
    assert "mood" in MEMORY["properties"] and "mood" in RETAIN["properties"]
    assert FIELDS["retain"]["mood"].fate == "goes"
    agent.checkpoint()
    agent.erase("m", by="ann", why="private")
    assert "glad" not in agent.value_counts("mood")
with recollex.open(folder, embedder=recollex.GivenVectors(8)) as store:
    agent = store.agent("ann")
    assert [each.mood for each in agent.list()] == ["sad", None]
"""


@pytest.mark.parametrize(
    ("changes", "most", "code"), [(DERIVED, 2, OF_DERIVED), (STORED, 4, OF_STORED)]
)
def test_a_field_is_added(changes: Changes, most: int, code: str, tmp_path: Path) -> None:
    assert len(changes) <= most
    for root in ("engine", "bindings"):
        ignored = shutil.ignore_patterns("__pycache__", "node_modules")
        shutil.copytree(ROOT / root, tmp_path / root, ignore=ignored, symlinks=True)
    for name, edits in changes.items():
        path = tmp_path / name
        text = path.read_text("utf-8")
        for before, added in edits:
            assert before in text, f"{name} has no {before!r}: change the recipe"
            text = text.replace(before, added + before)
        path.write_text(text, encoding="utf-8")
    roots = [ROOT / "kernels", tmp_path / "engine", tmp_path / "bindings", ROOT]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, roots))}
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", OPENED.format(code=code.strip())],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr[-4000:]
