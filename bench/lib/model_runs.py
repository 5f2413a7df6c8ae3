"""What the benches of models share: texts with a given number of tokens, and timed runs."""

import random
import time
from collections.abc import Callable
from typing import Any

from recollex_engine.models.backends import Precision

MODEL = "all-MiniLM-L6-v2"
WAYS: tuple[Precision, ...] = ("int8", "fp32", "bf16")
QUESTION = "Where did Caroline move from last year"
TEXT_TOKENS = 36
SEED = 7
SECONDS = 1.5
"""How long a measurement is repeated; pairs are measured for half as long."""
_WORDS = """
the of and a to in is you that it he was for on are as with his they at be this have from or one had
by word but not what all were we when your can said there use an each which she do how their if will
up other about out many then them these so some her would make like
"""
WORDS = _WORDS.split()


def sentence(rng: random.Random, tokens: int) -> str:
    """Return a text of ``tokens`` tokens, the two special ones included; each word is one."""
    return " ".join(rng.choices(WORDS, k=max(1, tokens - 2)))


def repeated(
    run: Callable[[], object], seconds: float, least: int = 5, warm: bool = True
) -> list[float]:
    """Return the milliseconds of runs, repeated for ``seconds`` after one warm-up run."""
    return timed(run, seconds, least, warm)[0]


def timed(
    run: Callable[[], object], seconds: float, least: int = 5, warm: bool = True
) -> tuple[list[float], list[float]]:
    """Return the wall milliseconds of runs as `repeated` does, and the CPU milliseconds.

    CPU time is that of all threads. On one thread of an idle machine the two are the same; on a
    busy machine the CPU time says more.
    """
    if warm:
        run()
    taken: list[float] = []
    spent: list[float] = []
    while len(taken) < least or sum(taken) < seconds * 1000:
        began, started = time.process_time(), time.perf_counter()
        run()
        taken.append((time.perf_counter() - started) * 1000)
        spent.append((time.process_time() - began) * 1000)
    return taken, spent


def not_run(part: str, runs: str, why: object) -> dict[str, Any]:
    return {"part": part, "runs": runs, "not_run": " ".join(str(why).split())}
