"""Moves to another model that are interrupted, killed, damaged or out of disk space."""

import errno
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import recollex
from recollex_engine.errors import ModelError, StoreFullError
from recollex_engine.log.writer import LogWriter
from recollex_engine.storage import disk
from recollex_engine.storage.vectors_file import HEADER_BYTES
from recollex_engine.writing import reembedding
from tests.engine.log.whole_log import LogReader
from tests.engine.writing.named_model import MODELS, Model, move
from tests.waiting import until


def test_a_call_that_was_interrupted_goes_on_where_it_was(store, monkeypatch):
    monkeypatch.setattr(reembedding, "BATCH", 4)
    with pytest.raises(ModelError, match="silent"):
        move(store, Model("b", 64, fails_after=19))
    with recollex.open(store, embedder=Model("a", 32)) as opened:  # serves, and takes in more
        opened.agent("a").retain("One more of the owl.", id="more")
        assert opened.agent("a").recall("One more of the owl")[0].id == "more"
    model = Model("b", 64)
    assert move(store, model) == len(model.embedded)
    assert model.embedded[0] == "Number 16 of the tea." and model.embedded[-1].startswith(
        "One more"
    )


def test_what_is_damaged_or_of_another_model_is_made_anew(store, monkeypatch):
    monkeypatch.setattr(reembedding, "BATCH", 4)
    folder = store / "agents/a"
    with pytest.raises(ModelError):
        move(store, Model("b", 64, fails_after=19))
    with (folder / "vectors-2.f16").open("r+b") as file:
        file.seek(HEADER_BYTES + 5 * 128)
        file.write(b"\1\2")
    with (folder / "vectors-2.progress").open("ab") as record:
        record.write(b'{"rows": 4, "te')  # torn
    with pytest.raises(ModelError):
        move(store, model := Model("b", 64, fails_after=9))
    assert model.embedded[0] == "Number 4 of the oak."
    model = Model("c", 32)
    assert move(store, model) == len(model.embedded)
    assert model.embedded[0] == "Number 0 of the tea."


@pytest.mark.parametrize("fails", ["vectors-2.f16", "vectors-2.progress", "00000001.jsonl"])
def test_a_full_disk_changes_nothing_and_the_next_call_goes_on(store, monkeypatch, fails):
    def full(fd, data, offset, _real=os.pwrite):
        if Path(f"/proc/self/fd/{fd}").readlink().name.startswith(fails):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return _real(fd, data, offset)

    with monkeypatch.context() as patch:
        patch.setattr(disk.os, "pwrite", full)
        with pytest.raises(StoreFullError, match="No space left"):
            move(store, Model("b", 64))
    with recollex.open(store, embedder=Model("a", 32)) as opened:
        assert opened.agent("a").verify().problems == ()
        assert opened.agent("a").recall("Number 7 of the jam")[0].id == "m7"
    model = Model("b", 64)
    move(store, model)
    assert bool(model.embedded) == (fails != "00000001.jsonl")
    with recollex.open(store, embedder=Model("b", 64)) as opened:
        assert opened.agent("a").verify().problems == ()


CHILD = """
import sys, time
import recollex
from recollex_engine.writing import reembedding
from tests.engine.writing.named_model import Model
reembedding.BATCH = 1
class Slow(Model):
    def embed(self, texts, threads=1, progress=None):
        time.sleep(0.03 if len(self.embedded) < int(sys.argv[2]) else 60)
        return super().embed(texts, threads, progress)
print("ready", flush=True)
print(recollex.reembed(sys.argv[1], "a", embedder=Slow("b", 64)), flush=True)
"""


def test_killed_at_any_moment_it_goes_on_and_ends(store):
    rng = random.Random(5)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    record = store / "agents/a/vectors-2.progress"
    for run in range(4):
        before = record.stat().st_size if record.exists() else 0
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(store), "20" if run < 3 else "1000"],
            stdout=subprocess.PIPE,
            env=environment,
        )
        assert child.stdout.readline() == b"ready\n"
        if run < 3:
            until(lambda before=before: record.exists() and record.stat().st_size > before + 300)
            time.sleep(rng.uniform(0, 0.04))
            child.kill()
        said = child.stdout.read()
        child.wait()
        child.stdout.close()
        if run < 3:
            with recollex.open(store, embedder=Model("a", 32)) as opened:
                agent = opened.agent("a")
                assert agent.verify().problems == ()
                assert agent.recall("Number 7 of the jam", exact=True)[0].id == "m7"
                agent.retain(f"Run {run}.", id=f"run{run}")
                total = agent.stats().passages
    assert 0 < int(said) < total  # something was kept of the runs that were killed
    with recollex.open(store, embedder=Model("b", 64)) as opened:
        agent = opened.agent("a")
        assert agent.verify().problems == () and agent.stats().passages == total


STEPS = {
    "the op is logged": (LogWriter, "append"),
    "it is on the disk": (LogWriter, "sync"),
    "the manifest is gone": (Path, "unlink"),
    "the old file is removed": (reembedding, "remove_former"),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_crash_around_the_change_leaves_the_old_state_or_the_new_one(store, monkeypatch, step):
    """Of each step, before it and after it; a crash is an error that is not caught."""
    owner, name = STEPS[step]
    real = getattr(owner, name)
    for late in (False, True):
        path = store.with_name(f"{store.name}-{late}")
        shutil.copytree(store, path)

        def crash(*given, late=late, **options):
            if isinstance(given[0], Path) and given[0].name not in ("MANIFEST", "a"):
                return real(*given, **options)
            if late:
                real(*given, **options)
            raise RuntimeError("crashed")

        with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="crashed"):
            patch.setattr(owner, name, crash)
            move(path, Model("b", 64))
        moved = step != "the op is logged" or late
        assert in_force(path) == ("b" if moved else "a")
        for read_only in (True, False, False):
            with recollex.open(path, embedder=Model(*MODELS[moved]), read_only=read_only) as opened:
                agent = opened.agent("a")
                assert agent.verify().problems == ()
                assert agent.recall("Number 7 of the jam", exact=True)[0].id == "m7"
        if moved:
            assert not (path / "agents/a/vectors.f16").exists()


def in_force(store: Path) -> str:
    kinds = [
        operation.kind
        for transaction in LogReader(store / "agents/a/log").transactions()
        for operation in transaction.operations
    ]
    return "b" if "reembed" in kinds else "a"
