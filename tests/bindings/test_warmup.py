"""`recollex warmup`: two processes compile; the second may fail, or be missing."""

import os
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recollex
from recollex.api.progress import reporting_to
from recollex.cli import warmup
from recollex.remote.server import reader_process
from recollex_engine import waiting
from recollex_engine.ranking.spelling import similar_terms
from recollex_engine.recall import word_search
from recollex_kernels.fusing.contextual import contextual
from recollex_kernels.vectors.nearest import best_of_rows, scan_top
from tests.bindings.word_vectors import WordVectors


@pytest.fixture
def second(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Return a function that makes a shell script the second process."""

    def be(script: str) -> None:
        path = tmp_path / "python"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(path))
        monkeypatch.setattr(warmup, "usable_cores", lambda: 2)

    return be


def test_kernels_of_the_second_process_are_counted(second: Any) -> None:
    second("printf ..; sleep 0.1; printf .")
    counted: list[int] = []
    with warmup._second_process(counted.append) as wait:
        wait(b"")
    assert sum(counted) == 3


def test_a_second_process_that_fails_is_named_and_its_half_done_here(
    second: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    second("echo one >&2; echo 'MemoryError: no room' >&2; kill -9 $$")
    assert warmup.warm(WordVectors()) == "words-64"
    said = capsys.readouterr().err
    assert said.count("ended with -9, one goes on: MemoryError: no room") == 1


def test_the_first_half_is_waited_for_alone(second: Any, tmp_path: Path) -> None:
    second(f"printf '..|'; while [ ! -e {tmp_path}/on ]; do sleep 0.01; done; printf .")
    counted: list[int] = []
    with warmup._second_process(counted.append) as wait:
        wait(warmup.HALF)
        assert sum(counted) == 2
        (tmp_path / "on").touch()
        wait(b"")
    assert sum(counted) == 3


def test_who_waits_for_the_second_process_can_be_stopped(second: Any) -> None:
    second("exec sleep 60")
    counted: list[int] = []

    def count(more: int) -> None:
        counted.append(more)
        if len(counted) == 3:
            raise warmup.Stopped

    with pytest.raises(warmup.Stopped), warmup._second_process(count) as wait:
        wait(warmup.HALF)
    assert counted == [0, 0, 0]


def test_it_ends_where_it_is_stopped_and_leaves_nothing(
    second: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second(f"echo $$ > {tmp_path}/number; exec sleep 60")
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    number = tmp_path / "number"
    asked: list[bool] = []

    def stopped() -> bool:
        asked.append(number.exists() and number.read_text() != "")
        return asked[-1]

    with pytest.raises(warmup.Stopped):
        warmup.warm(WordVectors(), stopped)
    assert asked.count(True) == 1  # nothing is begun after it
    assert list(folder.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(int(number.read_text()), 0)


def test_a_second_process_does_not_outlive_an_error_here(second: Any, tmp_path: Path) -> None:
    second(f"echo $$ > {tmp_path}/number; exec sleep 60")
    with pytest.raises(KeyError), warmup._second_process(lambda more: None):
        while not (tmp_path / "number").exists() or not (tmp_path / "number").read_text():
            pass
        raise KeyError
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "number").read_text()), 0)


def test_on_one_core_there_is_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warmup, "usable_cores", lambda: 1)
    monkeypatch.setattr(subprocess, "Popen", None)
    assert warmup.warm(WordVectors()) == "words-64"


def test_the_default_alone_runs_no_other_preset(
    second: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second(f"echo \"$@\" > {tmp_path}/asked; printf '|'")
    asked: list[dict[str, Any]] = []
    recall = recollex.Agent.recall

    def spy(agent: recollex.Agent, query: str, **options: Any) -> recollex.Recall:
        asked.append(options)
        return recall(agent, query, **options)

    monkeypatch.setattr(recollex.Agent, "recall", spy)
    monkeypatch.setattr(warmup, "search_large", None)
    assert warmup.warm(WordVectors(), only_default=True) == "words-64"
    assert (tmp_path / "asked").read_text().strip().endswith("compile_words(only_default=True)")
    assert [each["preset"] for each in asked if "preset" in each] == [warmup.VECTORS]
    assert not any(option in each for each in asked for option in ("tags", "network", "kinds"))


def test_the_demo_runs_no_kernel_that_the_default_alone_does_not() -> None:
    program = """
import contextlib, io, sys
from recollex.cli import main, warmup

def compiled():
    for name, module in list(sys.modules.items()):
        if name.startswith("recollex_kernels"):
            for kernel in vars(module).values():
                for signature in getattr(kernel, "signatures", ()):
                    yield f"{kernel.py_func.__module__}.{kernel.__name__}{signature}"

warmup.compile_words(only_default=True)
warmup.usable_cores = lambda: 1
warmup.warm(None, only_default=True)
before = set(compiled())
with contextlib.redirect_stdout(io.StringIO()):
    assert main(["demo"]) == 0
print(len(before), sorted(set(compiled()) - before), file=sys.stderr)
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    number, _, more = run.stderr.strip().rpartition("\n")[2].partition(" ")
    assert run.returncode == 0 and int(number) > 20, run.stderr
    assert more == "[]"


def test_words_that_are_spelled_alike_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []

    def search(*asked: Any) -> Any:
        found.append(similar_terms(*asked))
        return found[-1]

    monkeypatch.setattr(word_search, "similar_terms", search)
    reader_process.warm()
    assert len(found[-1][0]) == 2
    before = len(found)
    monkeypatch.setattr(warmup, "usable_cores", lambda: 1)
    warmup.warm(WordVectors())
    assert any(len(terms) for terms, _ in found[before:])


def test_the_second_process_needs_neither_model_nor_caller(tmp_path: Path) -> None:
    command = (
        "from recollex.cli.warmup import compile_words; compile_words()\n"
        "from recollex_kernels.vectors.cascade import cascade_top\n"
        "from recollex_kernels.wire.message import value_end\n"
        "assert cascade_top.signatures"  # which large agents need
        "\nassert value_end.signatures"  # and servers
    )
    paths = os.pathsep.join(path for path in sys.path if path)
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.replace(b".", b"") == b"|"


def test_a_listener_is_told_of_both(second: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    second("printf ..")

    @contextmanager
    def compiled(told: Any) -> Any:
        told()
        yield

    monkeypatch.setattr(warmup, "each_compiled", compiled)
    monkeypatch.setattr("recollex.api.progress.PAUSE", 0)
    counted: list[tuple[int, int | None]] = []
    with reporting_to(lambda done, total: counted.append((done, total))):
        warmup.warm(WordVectors())
    assert counted[-1] == (3, None)


def test_a_log_file_is_told_of_progress(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(warmup, "usable_cores", lambda: 1)
    monkeypatch.setattr(waiting, "WRITTEN", 0.001)
    warmup.warm(WordVectors())
    assert re.search(r"^recollex: kernels compiled: \d+, \d+ s$", capsys.readouterr().err, re.M)


def test_a_given_vector_runs_the_kernels_of_an_embedded_question(tmp_path: Path) -> None:
    kernels: Any = (contextual, best_of_rows, scan_top)
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        agent = store.agent("a")
        agent.retain_many(["Ines drove the blue van.", "Marek sold the kiln."])
        agent.recall("Who drove the van?")
        compiled = [set(kernel.signatures) for kernel in kernels]
        vector = np.array(WordVectors().embed_query("Who sold the kiln?"))
        assert vector.flags.writeable
        agent.recall("Who sold the kiln?", query_embedding=vector)
        assert compiled == [set(kernel.signatures) for kernel in kernels]
