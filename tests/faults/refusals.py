"""Refuses calls of the disk one at a time: `python -m tests.faults.refusals`.

Each workload runs again and again, and each time another call is refused with an error, or writes
one byte only, or every call from there on is refused. What was acknowledged must be there in the
process, after closing, after `kill -9` and after a loss of power. An error is one of
`recollex.errors` or an `OSError`, and a call is there as a whole, or not at all.
"""

import argparse
import errno
import gc
import random
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from recollex_engine.errors import RecollexError
from tests.engine.faults.small_store import vectors
from tests.faults.checking import empty_folder, laid_out, last_op, opened
from tests.faults.digests import Digest, digest
from tests.faults.progress import Progress
from tests.faults.recorder import Recording, recording, refusal
from tests.faults.states import KILLED, LOST, states
from tests.faults.workloads import WORKLOADS, Work, small_files

KINDS = ("EIO", "ENOSPC", "EMFILE", "EACCES", "EROFS", "short", "dead")
CHECKED = (
    KILLED,
    LOST,
    "all names, 512 bytes, draw 0",
    "journal names, first bytes, draw 0",
    "any names, 4096 bytes, draw 0",
)
"""The states that are checked after a refusal."""


def arm(held: Recording, kind: str, call: int) -> None:
    """Let a call of the recording be refused."""
    if kind == "short":
        held.fails_at[call] = 1
    elif kind == "dead":
        held.fails_from = call, refusal(errno.EIO)
    else:
        held.fails_at[call] = refusal(getattr(errno, kind))


def count_calls(root: Path, name: str, durability: str) -> tuple[int, dict[int, Digest]]:
    """Return how many calls a workload makes, and what it holds after each operation."""
    with small_files(name), recording(root) as held:
        work = Work(held, root, durability)
        WORKLOADS[name](work)
        work.close()
    return held.calls, work.expected["s"]


def run_refused(
    root: Path, name: str, durability: str, kind: str, call: int, whole: dict[int, Digest]
) -> str:
    """Run a workload and refuse one of its calls; return the error that was raised, or "".

    ``whole``: what the agent holds after each operation if nothing is refused.
    """
    said = ""
    with small_files(name), recording(root) as held:
        work = Work(held, root, durability)
        arm(held, kind, call)
        try:
            WORKLOADS[name](work)
        except (RecollexError, OSError) as error:
            said = f"{type(error).__name__}: {error}"
        held.heal()
        agent = getattr(work, "agent", None)
        if said and agent is not None:
            go_on(work, agent, whole)
        try:
            if hasattr(work, "store"):
                work.store.close()
        except (RecollexError, OSError):
            assert said or durability == "interval" or kind == "dead"
        work.agent = work.store = None  # type: ignore[assignment]
        gc.collect()  # what holds files closes them while they are recorded
    chosen = {(len(held.events), how) for how in CHECKED}
    acknowledged = work.expected["s"]
    with small_files(name):
        for state in states(held.start, held.events, call, chosen=chosen):
            with laid_out(state.tree) as place:
                check_state(place / "s", state.least("s"), acknowledged, whole)
    return said


def go_on(work: Work, agent: Any, whole: dict[int, Digest]) -> None:
    """Read and write after a refusal, in the same process."""
    known = max(work.expected["s"])
    try:
        held = digest(agent)
        op = last_op(agent)
    except (RecollexError, OSError):  # it was being closed, or opened
        return
    assert op >= known, f"it shows operation {op}, acknowledged was {known}"
    assert held[0] == (work.expected["s"].get(op) or whole[op])[0], f"half, at operation {op}"
    try:
        agent.retain("After the refusal.", id="after", embedding=vectors(3, 1)[0])
    except (RecollexError, OSError):
        return
    work.step(lambda agent: None)


def restorations(agent: Any) -> int:
    """Return how many operations the opening has added, which embed again what lost its vector."""
    kinds = [entry.kind for entry in agent.log()]
    return len(kinds) - next((n for n in range(len(kinds), 0, -1) if kinds[n - 1] != "restore"), 0)


def check_state(
    path: Path, least: int, acknowledged: dict[int, Digest], whole: dict[int, Digest]
) -> None:
    """Open what is left, both ways; see `run_refused`.

    What was not acknowledged may be there, as of a run in which nothing was refused. An opening may
    embed again what lost its vector, which is an operation of its own.
    """
    begun = (path / "agents/a/ERASE").exists()
    with opened(path) as agent:
        restored = restorations(agent)
        op = last_op(agent) - restored
        assert op >= least, f"lost: it holds operation {op}, promised was {least}"
        found = digest(agent)
        if op in acknowledged and not begun and not restored:
            assert found == acknowledged[op], f"half, at operation {op}"
        else:  # not acknowledged, so the times differ from those of any other run
            held = [each[op][0] for each in (acknowledged, whole) if op in each]
            assert found[0] in held, f"half, at operation {op}"
        if (path / "agents/a/log").exists():
            assert agent.verify().problems == ()
        agent.retain("One more.", id="more", embedding=vectors(4, 1)[0])
    with opened(path, read_only=True) as agent:
        assert agent.get("more").text == "One more."


def run(
    name: str,
    durability: str,
    step: int,
    seed: int,
    kinds: tuple[str, ...],
    counted: tuple[int, dict[int, Digest]] | None = None,
    told: Callable[..., None] = lambda failed: None,
) -> list[str]:
    """Refuse every ``step``-th call of a workload; return what went wrong, as text.

    ``counted``: what `count_calls` returned. ``told(failed=)`` is called after each.
    """
    failures = []
    rng = random.Random(f"{seed} {name} {durability}")
    calls, whole = counted or in_folder(count_calls, name, durability)
    for call in range(1 + rng.randrange(step), calls + 1, step):
        kind = rng.choice(kinds)
        before = len(failures)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                in_folder(run_refused, name, durability, kind, call, whole)
        except Exception:
            failures.append(
                f"{name}, {durability}: call {call} of {calls}, {kind}\n"
                + traceback.format_exc(limit=-6)
            )
        told(failed=len(failures) - before)
    return failures


def in_folder(work: Any, *arguments: Any) -> Any:
    """Return ``work(folder, ...)`` for a folder in memory that is removed afterwards."""
    with empty_folder() as root:
        return work(root, *arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run; return 0 if every promise was kept."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.refusals", description=__doc__)
    parser.add_argument("--step", type=int, default=5, help="refuse every n-th call")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workloads", nargs="+", choices=WORKLOADS, default=list(WORKLOADS))
    parser.add_argument("--durabilities", nargs="+", default=["always", "off"])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    options = parser.parse_args(arguments)
    cases = [
        (name, durability) for name in options.workloads for durability in options.durabilities
    ]
    counted = {case: in_folder(count_calls, *case) for case in cases}
    progress = Progress("refused calls", sum(n // options.step for n, _ in counted.values()))
    for case in cases:
        rest = options.step, options.seed, tuple(options.kinds), counted[case]
        for each in run(*case, *rest, told=lambda failed: progress.add(failed=failed))[:5]:
            print(f"FAILED {each}", flush=True)
    progress.end()
    return 1 if progress.failed else 0


if __name__ == "__main__":
    sys.exit(main())
