"""A copy of the decorator with one toy kernel, as a package of its own, for other processes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import recollex_kernels

TOY = """
from recollex_kernels.machine.jit import kernel


@kernel
def answer(x: int) -> int:
    return x + {plus}
"""
ASK = "from recollex_kernels.toy import answer; print(answer(1), answer.stats.cache_hits)"


def toy_package(place):
    """Make the package in a folder, and return its own folder."""
    package = place / "recollex_kernels"
    machine = package / "machine"
    machine.mkdir(parents=True)
    for name in ("jit.py", "compiled_code.py"):
        shutil.copy(Path(recollex_kernels.__file__).parent / "machine" / name, machine)
    (package / "__init__.py").touch()
    (machine / "__init__.py").touch()
    (package / "toy.py").write_text(TOY.format(plus=41))
    return package


def ask(source, **environment):
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA", "RECOLLEX"))}
    inherited |= {"PYTHONPATH": str(source.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", ASK],
        env=inherited | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    value, *hits = run.stdout.split(maxsplit=1)
    return int(value), "(" in hits[0] and "{}" not in hits[0] and ": 1" in hits[0]


def said(source, cache, script):
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(source.parent), "RECOLLEX_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout
