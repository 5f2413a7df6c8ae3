"""The adapter for Anthropic's memory tool against their tool for a file system."""

import asyncio
import os
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

import recollex
from tests.bindings.word_vectors import WordVectors

tools = pytest.importorskip("anthropic.tools.memory", reason="anthropic is not installed")
adapter = pytest.importorskip("recollex.frameworks.anthropic", reason="anthropic is not installed")

PATHS = st.sampled_from(
    [
        "/memories",
        "/memories/",
        "/memories/a.md",
        "/memories/a.md/",
        "/memories/b",
        "/memories/b/c.md",
        "/memories/b/../a.md",
        "/memories/b/d",
        "/memories/b/d/e.md",
        "/memories/b/d/f/g.md",
        "/memories/.hidden",
        "/memories/b-d",
        "/memories/../x",
        "/else",
    ]
)
WORDS = ["", " ", "Ann rows.\n", "tea\ntea\n\nink", "é\r\nB\n", "\n", "a" * 1536]
TEXTS = st.integers(0, len(WORDS) - 1)


def answer(tool, command):
    """Return what a tool says, or the words of its error; "" if those are not the tool's own."""
    try:
        return tool.call(command), None
    except adapter.ToolError as error:
        return None, str(error)
    except (OSError, ValueError):
        return None, ""


def without_sizes(said):
    """Return what is said of a folder without the bytes of folders."""
    if said is None or not said.startswith("Here're"):
        return said
    first, *lines = said.split("\n")
    return [first, *(line if not line.endswith("/") else line.split("\t")[1] for line in lines[1:])]


class Folder(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name)
        self.theirs = tools.BetaLocalFilesystemMemoryTool(str(path / "files"))
        self.open()

    def open(self):
        path = Path(self.folder.name) / "s"
        self.store = recollex.open(path, embedder=WordVectors(), durability="off")
        self.ours = adapter.RecollexMemoryTool(self.store.agent("a"))

    def both(self, command):
        said, refused = answer(self.ours, command)
        expected, error = answer(self.theirs, command)
        for folder, _, _ in os.walk(self.theirs.memory_root, topdown=False):
            if not os.listdir(folder) and folder != str(self.theirs.memory_root):  # noqa: PTH208
                os.rmdir(folder)  # noqa: PTH106
        assert without_sizes(said) == without_sizes(expected), command
        assert (refused is None) == (error is None) and (refused == error or error == ""), command

    @rule(path=PATHS, text=TEXTS)
    def create(self, path, text):
        self.both({"command": "create", "path": path, "file_text": WORDS[text]})

    @rule(path=PATHS, range=st.none() | st.tuples(st.integers(-1, 3), st.integers(-1, 4)))
    def view(self, path, range):
        given = {} if range is None else {"view_range": list(range)}
        self.both({"command": "view", "path": path, **given})

    @rule(path=PATHS, old=st.sampled_from(["", "tea", "rows", "\n"]), new=TEXTS)
    def str_replace(self, path, old, new):
        both = {"old_str": old, "new_str": WORDS[new]}
        self.both({"command": "str_replace", "path": path, **both})

    @rule(path=PATHS, line=st.integers(-1, 4), text=TEXTS)
    def insert(self, path, line, text):
        what = {"insert_line": line, "insert_text": WORDS[text]}
        self.both({"command": "insert", "path": path, **what})

    @rule(path=PATHS)
    def delete(self, path):
        self.both({"command": "delete", "path": path})

    @rule(old=PATHS, new=PATHS)
    def rename(self, old, new):
        self.both({"command": "rename", "old_path": old, "new_path": new})

    @rule()
    def reopen(self):
        self.store.close()
        self.open()

    @invariant()
    def every_file_is_the_same(self):
        root = self.theirs.memory_root
        files = {
            f"/memories/{path.relative_to(root)}": path.read_bytes()
            for path in root.rglob("*")
            if path.is_file()
        }
        held = self.store.agent("a").list(limit=1000)
        assert {adapter._path(each): adapter._content(each).encode() for each in held} == files

    def teardown(self):
        assert self.ours.clear_all_memory() == self.theirs.clear_all_memory()
        assert self.store.agent("a").count() == 0
        self.store.close()
        self.folder.cleanup()


TestFolder = Folder.TestCase
TestFolder.settings = settings(max_examples=25, stateful_step_count=15, deadline=None)


@pytest.fixture
def agent(tmp_path):
    with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
        yield store.agent("a")


def make(tool, path, text):
    return tool.call({"command": "create", "path": path, "file_text": text})


EDITS = [
    *({"command": "insert", "insert_line": line, "insert_text": text}
      for line in range(-1, 5) for text in ("new", "new\n\n")),
    *({"command": "str_replace", "old_str": old, "new_str": "new\n"}
      for old in ("tea", "A", "\n", "ink", "")),
    *({"command": "view", "view_range": [first, last]} for first in (0, 2) for last in (-1, 1, 9)),
]  # fmt: skip


@pytest.mark.parametrize("text", [*WORDS, "tea\nA\nB\nC\nD\nE\n", "1\n2\n3\n4\nA"])
def test_each_edit_of_a_text_is_theirs(agent, tmp_path, text):
    ours = adapter.RecollexMemoryTool(agent)
    theirs = tools.BetaLocalFilesystemMemoryTool(str(tmp_path / "files"))
    for number, edit in enumerate(EDITS):
        path = f"/memories/{number}.md"
        for command in (
            {"command": "create", "file_text": text},
            edit,
            {"command": "view"},
        ):
            given = command | {"path": path}
            assert answer(ours, given) == answer(theirs, given), given


def test_a_file_keeps_its_history_through_a_rename(agent):
    tool = adapter.RecollexMemoryTool(agent)
    make(tool, "/memories/a.md", "Ann rows.")
    before = agent.list()[0].recorded_at
    edit = {"old_str": "rows", "new_str": "sails"}
    tool.call({"command": "str_replace", "path": "/memories/a.md", **edit})
    moved = {"old_path": "/memories/a.md", "new_path": "/memories/people/ann.md"}
    tool.call({"command": "rename", **moved})
    held = agent.recall("Who sails?")[0]
    told = [(each.text, each.metadata["path"]) for each in agent.history(held.id)]
    assert told == [
        ("Ann rows.", "/memories/a.md"),
        ("Ann sails.", "/memories/a.md"),
        ("Ann sails.", "/memories/people/ann.md"),
    ]
    then = adapter.RecollexMemoryTool(agent.at(before))
    assert "Ann rows." in then.call({"command": "view", "path": "/memories/a.md"})
    assert (held.source, held.trust) == ("assistant", "assistant")


def test_sizes_are_those_of_the_files(agent):
    tool = adapter.RecollexMemoryTool(agent)
    make(tool, "/memories/a.md", "é" * 768)
    make(tool, "/memories/b/c.md", "x" * 512)
    said = tool.call({"command": "view", "path": "/memories"}).split("\n")[1:]
    assert said == ["2K\t/memories", "1.5K\t/memories/a.md", "512B\t/memories/b/", *said[3:]]


def test_what_recollex_refuses_is_an_error_of_the_tool(agent):
    tool = adapter.RecollexMemoryTool(agent)
    with pytest.raises(adapter.ToolError, match=re.escape("1,000,000 characters")):
        make(tool, "/memories/a.md", "a" * 1_000_001)
    with pytest.raises(adapter.ToolError, match="the past cannot be changed"):
        now = agent.retain("x") and agent.list()[0].recorded_at
        make(adapter.RecollexMemoryTool(agent.at(now)), "/memories/a.md", "text")


def test_the_tool_of_asyncio_does_the_same(agent):
    tool = adapter.RecollexAsyncMemoryTool(agent)
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory"}

    async def run():
        call = {"command": "create", "path": "/memories/a.md", "file_text": "Ann rows."}
        assert await tool.call(call) == "File created successfully at: /memories/a.md"
        assert "Ann rows." in await tool.call({"command": "view", "path": "/memories/a.md"})
        with pytest.raises(adapter.ToolError, match="already exists"):
            await tool.call(call)
        assert await tool.clear_all_memory() == "All memory cleared"

    asyncio.run(run())
    assert agent.count() == 0
