"""What a killed process left of a copy is removed; what a process is still writing is not."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import recollex
from recollex_engine.storage.unfinished import (
    BESIDE,
    INSIDE,
    left_unfinished,
    remove_unfinished,
    unfinished_folder,
)
from tests.engine.erasure.secret import BY
from tests.engine.erasure.traces import assert_gone
from tests.engine.faults.small_store import opened, vectors

WORDS = ["quuxley"]
MAKING = """
import sys, pathlib, recollex_engine.storage.unfinished as unfinished
with unfinished.unfinished_folder(pathlib.Path(sys.argv[1]), sys.argv[2]) as folder:
    (folder / "log").write_text("Quuxley")
    print(folder, flush=True)
    sys.stdin.read()
"""


class Copying:
    """Another process, in the middle of a copy."""

    def __init__(self, parent: Path, prefix: str) -> None:
        command = [sys.executable, "-c", MAKING, str(parent), prefix]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.folder = Path(self.process.stdout.readline().strip())

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.communicate()


def reopen(path: Path) -> None:
    with opened(path):
        pass


def erase(path: Path) -> None:
    with opened(path) as agent:
        agent.erase("m1", **BY)


def delete(path: Path) -> None:
    with recollex.open(path, embedder=recollex.GivenVectors(32)) as store:
        store.delete_agent("a")


def copy(path: Path) -> None:
    recollex.replay(path / "agents" / "a", path, agent_id="b", embedder=recollex.GivenVectors(32))


@pytest.mark.parametrize("how", [reopen, erase, delete, copy])
def test_what_a_killed_copy_left_is_removed(tmp_path, how):
    path = tmp_path / "store"
    with opened(path) as agent:
        agent.retain("Memory.", id="m1", embedding=vectors(0, 1)[0])
    copying = [Copying(path, INSIDE), Copying(tmp_path, BESIDE)]
    reopen(path)
    assert all(each.folder.exists() for each in copying)  # they are being written
    for each in copying:
        each.kill()
        assert each.folder.exists()
    how(path)
    assert_gone(tmp_path, WORDS)


def test_an_erasure_reaches_what_was_left_while_the_store_was_open(tmp_path):
    path = tmp_path / "store"
    with opened(path) as agent:
        agent.retain("Memory.", id="m1", embedding=vectors(0, 1)[0])
        for parent, prefix in ((path, INSIDE), (tmp_path, BESIDE)):
            Copying(parent, prefix).kill()
        agent.erase("m1", **BY)
        assert_gone(tmp_path, WORDS)


def test_only_what_nobody_holds_is_found(tmp_path):
    with unfinished_folder(tmp_path, INSIDE) as held:
        (tmp_path / ".new-left").mkdir()
        (tmp_path / ".newer").mkdir()
        (tmp_path / ".new-link").symlink_to(tmp_path / ".newer")
        assert list(left_unfinished(tmp_path, INSIDE)) == [tmp_path / ".new-left"]
        remove_unfinished(tmp_path)
        assert sorted(tmp_path.iterdir()) == sorted(
            [held, tmp_path / ".newer", tmp_path / ".new-link"]
        )
    assert not held.exists()
    with unfinished_folder(tmp_path, INSIDE) as made:
        made.rename(tmp_path / "whole")
    assert (tmp_path / "whole").is_dir()
    assert list(left_unfinished(tmp_path / "none", INSIDE)) == []


def test_an_export_removes_what_a_killed_one_left(tmp_path):
    left = tmp_path / "memories.jsonl.0a1b2c3d.tmp"
    left.write_text("Quuxley")
    with opened(tmp_path / "store") as agent:
        agent.retain("Memory.", embedding=vectors(0, 1)[0])
        recollex.export_memories(agent, tmp_path / "memories.jsonl")
    assert not left.exists() and (tmp_path / "memories.jsonl").exists()
