"""A copy of the decorator with one toy kernel, as a package of its own, for other processes."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import recollex_engine
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
    for name in ("__init__.py", "jit.py", "lazy_library.py"):
        shutil.copy(Path(recollex_kernels.__file__).parent / "machine" / name, machine)
    engine = place / "recollex_engine"
    engine.mkdir()
    for name in ("__init__.py", "compiled_code.py", "private_files.py"):
        shutil.copy(Path(recollex_engine.__file__).parent / name, engine)
    (package / "__init__.py").write_text("import recollex_engine\n")
    (package / "toy.py").write_text(TOY.format(plus=41))
    return package


class Prepared:
    """A process of `prepared_process`, started when it is first asked for."""

    def __init__(self):
        self._process = None
        self._folder = None

    def run(self, script, environment):
        """Return the exit status of a script, and what it printed."""
        if self._process is None:
            self._folder = tempfile.mkdtemp()
            program = Path(__file__).with_name("prepared_process.py")
            self._process = subprocess.Popen(
                [sys.executable, str(program)],
                env={k: v for k, v in os.environ.items() if not k.startswith("NUMBA")},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        out = f"{self._folder}/out"
        self._process.stdin.write(json.dumps([script, environment, out]) + "\n")
        self._process.stdin.flush()
        status = int(self._process.stdout.readline())
        return status, *(Path(f"{out}.{number}").read_text() for number in (1, 2))

    def close(self):
        if self._process is not None:
            self._process.communicate()
            shutil.rmtree(self._folder)
            self._process = None


PREPARED = Prepared()


def ask(source, **environment):
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA", "RECOLLEX"))}
    inherited |= {"PYTHONPATH": str(source.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    value, *hits = printed(ASK, inherited | environment).split(maxsplit=1)
    return int(value), "(" in hits[0] and "{}" not in hits[0] and ": 1" in hits[0]


def said(source, cache, script, *, alone=False):
    environment = {**os.environ, "PYTHONPATH": str(source.parent), "RECOLLEX_CACHE": str(cache)}
    return printed(script, environment, alone=alone)


def printed(script, environment, *, alone=False):
    """Return what a script prints; ``alone`` it has a process that has imported nothing.

    So has a script in whose environment numba finds settings.
    """
    if alone or any(name.startswith("NUMBA") for name in environment):
        run = subprocess.run(
            [sys.executable, "-W", "error", "-c", script],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        status, out, err = run.returncode, run.stdout, run.stderr
    else:
        status, out, err = PREPARED.run(script, environment)
    assert status == 0, err
    return out
