"""Clients are killed while they write, and come back: nothing is lost, wrong or grows."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def soak(seconds: int) -> None:
    run = [sys.executable, "-m", "tests.bindings.soak", "--seconds", str(seconds)]
    path = ":".join(str(ROOT / name) for name in ("kernels", "engine", "bindings", ""))
    env = os.environ | {"PYTHONPATH": path}  # with the caller's cache of compiled kernels
    done = subprocess.run(run, capture_output=True, text=True, env=env, timeout=seconds + 300)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["lost"] == 0 and report["wrong"] == []
    assert report["acknowledged_writes"] > 0 and report["killed"] > 0


def test_a_short_soak() -> None:
    soak(10)


@pytest.mark.slow
def test_ten_minutes() -> None:
    soak(600)
