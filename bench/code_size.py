"""How much code is there, and how many of its files does one call enter?

Claim: none; ARCHITECTURE.md states the bounds, and tests/bench/test_code_size.py holds them.

Command: python -m bench.code_size

Lines and modules are those of `kernels`, `engine` and `bindings`, in Python. Files are counted by
``sys.setprofile`` in the calling thread: those in which a function begins during one call of a
store that has been used, with vectors given.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import numpy as np

import recollex

ROOT = Path(__file__).parents[1]
ROOTS = tuple(str(ROOT / name) + "/" for name in ("kernels", "engine", "bindings"))
DIMENSION = 32
MEMORIES = 30


def main() -> None:
    lines, modules = size()
    print(f"{lines:,} lines in {modules} modules")
    for call, count in entered().items():
        print(f"{call}: {count} files")


def size() -> tuple[int, int]:
    """Return the lines and the modules of the product."""
    paths = [path for root in ROOTS for path in Path(root).rglob("*.py")]
    paths = [path for path in paths if "node_modules" not in path.parts]
    return sum(path.read_bytes().count(b"\n") for path in paths), len(paths)


def entered() -> dict[str, int]:
    """Return how many files a sentence's ``retain``, a ``recall`` and a ``get`` enter."""
    vectors = np.random.default_rng(1).normal(size=(MEMORIES + 1, DIMENSION)).astype(np.float32)
    embedder = recollex.GivenVectors(DIMENSION)
    with tempfile.TemporaryDirectory() as folder, recollex.open(folder, embedder=embedder) as store:
        agent = store.agent("ann")
        for number, vector in enumerate(vectors[:-1]):
            agent.retain(f"Ann drinks tea {number} in Rome.", id=f"m{number}", embedding=vector)
        agent.recall("tea", query_embedding=vectors[0])
        agent.get("m1")
        sentence = "Ann moved to Oslo with Ben."
        question = "Where did Ann move?"
        return {
            "retain": len(files(lambda: agent.retain(sentence, id="x", embedding=vectors[-1]))),
            "recall": len(files(lambda: agent.recall(question, query_embedding=vectors[0]))),
            "get": len(files(lambda: agent.get("m2"))),
        }


def files(call: Callable[[], object]) -> set[str]:
    """Return the product's files in which a function begins during a call."""
    found: set[str] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(ROOTS):
            found.add(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return found


if __name__ == "__main__":
    main()
