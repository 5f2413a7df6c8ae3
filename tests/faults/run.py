"""Checks the states that crashes leave of all workloads: `python -m tests.faults.run`.

Each workload runs once with each durability and is recorded. The states that a crash can leave of
it are made again from the recording, and those with equal files are one state. Processes that stay
open the states. A state has a number, which stays the same for the same recordings and seed:
`--from` goes on at one, `--only` checks one alone, both with the recordings of the run before.
"""

import argparse
import os
import pickle
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any
from zlib import crc32

from tests.faults.checking import Checker, empty_folder, laid_out
from tests.faults.progress import Progress
from tests.faults.recorder import Promise
from tests.faults.states import BYTES, KILLED, NAMES, State, states
from tests.faults.workloads import WORKLOADS, record, small_files

DURABILITIES = ("always", "interval", "off")
DRAWN = 4
"""States that are drawn for each that is to be checked: many have equal files."""
CHUNK = 100
"""States that a process is given at once."""
PATIENCE = 120.0
"""Seconds after which a state that does not open counts as failed, and its process is killed."""


@dataclass(frozen=True, slots=True)
class Case:
    """A workload with one durability, recorded in ``folder``."""

    workload: str
    durability: str
    folder: str

    @property
    def path(self) -> Path:
        """The file of the recording."""
        return Path(self.folder, f"{self.workload}-{self.durability}.pickle")


@dataclass(frozen=True, slots=True)
class Planned:
    """A state to check. promises: of all moments at which a crash leaves these files."""

    number: int
    case: Case
    at: int
    how: str
    promises: tuple[Promise, ...]

    def __str__(self) -> str:
        return (
            f"state {self.number} ({self.case.workload}, {self.case.durability}, "
            f"after event {self.at}, {self.how})"
        )


class Drawn:
    """A share of the states, and every prefix; `in` it are pairs of `State.at` and `State.how`."""

    def __init__(self, seed: int, share: float) -> None:
        self.seed, self.least = seed, round((1 - share) * 2**32)

    def __contains__(self, state: object) -> bool:
        at, how = state  # type: ignore[misc]
        return how == KILLED or crc32(f"{self.seed} {at} {how}".encode()) >= self.least


def plan(
    case: Case, seed: int, draws: int, most: int
) -> tuple[int, int, list[tuple[int, str, tuple]]]:
    """Record a case if need be; return how many states it has, how many were drawn, and which.

    About ``most`` are drawn, and of those with equal files one is returned.
    """
    if not case.path.exists():
        with empty_folder() as root:
            case.path.write_bytes(pickle.dumps(record(root, case.workload, case.durability)))
    recorded = pickle.loads(case.path.read_bytes())
    found: dict[bytes, tuple[int, str, dict[str, Promise]]] = {}
    drawn = 0
    count = len(recorded.events) * (1 + draws * len(NAMES) * len(BYTES))
    chosen = Drawn(seed, min(1.0, most / count) if most else 1.0)
    for state in states(recorded.start, recorded.events, seed, draws, chosen=chosen):
        drawn += 1
        promised = found.setdefault(state.content(), (state.at, state.how, {}))[2]
        for promise in state.promises:
            least = state.least(promise.place)
            known = promised.get(promise.place)
            if known is None:
                promised[promise.place] = replace(promise, acknowledged=least, durable=least)
            else:
                least = max(least, known.durable)
                gone = promise.gone if len(promise.gone) > len(known.gone) else known.gone
                readable = promise.readable or known.readable
                promised[promise.place] = Promise(promise.place, least, least, gone, readable)
    return count, drawn, [(at, how, tuple(held.values())) for at, how, held in found.values()]


def made(planned: list[Planned], seed: int, draws: int) -> Iterator[tuple[Planned, State, Any]]:
    """Yield each planned state of one case with its files, and what is expected of it."""
    case = planned[0].case
    recorded = pickle.loads(case.path.read_bytes())
    chosen = {(each.at, each.how): each for each in planned}
    for state in states(recorded.start, recorded.events, seed, draws, chosen=chosen):
        each = chosen[state.at, state.how]
        yield each, replace(state, promises=each.promises), recorded.expected


def check(planned: list[Planned], seed: int, draws: int, say: Callable[..., None]) -> None:
    """Check states of one case, and say what was found."""
    with small_files(planned[0].case.workload):
        for each, state, expected in made(planned, seed, draws):
            say("at", each.number)
            checker = Checker(expected)
            try:
                checker.check(state)
                error = None
            except Exception:
                error = traceback.format_exc(limit=-4)
            say("checked", each.number, error, checker.counts)


def work(pipe: Connection) -> None:
    """Do what the parent asks for, until it hangs up."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    while True:
        try:
            job, *arguments = pipe.recv()
        except EOFError:
            return
        if job == "plan":
            pipe.send(("planned", *plan(*arguments)))
        else:
            check(*arguments, lambda *said: pipe.send(said))
        pipe.send(("done",))


class Child:
    """A process that records or checks, and where it is."""

    def __init__(self) -> None:
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.job: list[Planned] = []
        self.number: int | None = None
        self.heard = time.monotonic()


def run_jobs(jobs: list[tuple], processes: int, hear: Callable[..., None]) -> None:
    """Give jobs to processes that stay; ``hear(job, said)`` is called with all that they say.

    A process that dies, or says nothing for a long time, is replaced by another, which goes on
    after the state at which it was.
    """
    waiting = jobs[::-1]
    children: dict[Connection, tuple[Child, tuple]] = {}
    idle = [Child() for _ in range(min(processes, len(waiting)))]
    while waiting or children:
        while waiting and idle:
            child, job = idle.pop(), waiting.pop()
            child.heard, child.number = time.monotonic(), None
            child.pipe.send(job)
            children[child.pipe] = child, job
        ready = wait(list(children), timeout=5.0)
        for pipe in [*ready, *(p for p, (c, _) in children.items() if p not in ready)]:
            child, job = children[pipe]
            error = None
            try:
                if pipe in ready:
                    said = pipe.recv()
                    child.heard = time.monotonic()
                    if said[0] == "done":
                        idle.append(child)
                        del children[pipe]
                    elif said[0] == "at":
                        child.number = said[1]
                    else:
                        hear(job, said)
                    continue
            except (EOFError, ConnectionResetError):
                child.process.join()
                error = f"the process died with exit status {child.process.exitcode}"
            patience = PATIENCE if job[0] == "check" else 10 * PATIENCE
            if error is None and time.monotonic() - child.heard > patience:
                child.process.kill()
                child.process.join()
                error = f"it took more than {patience:.0f} s"
            if error is None:
                continue
            del children[pipe]
            idle.append(Child())
            if child.number is None:
                raise RuntimeError(f"{job[:2]}: {error}")
            hear(job, ("checked", child.number, error, {}))
            places = [each.number for each in job[1]]
            rest = job[1][places.index(child.number) + 1 :]
            if rest:
                waiting.append(("check", rest, *job[2:]))
    for child in idle:
        child.pipe.close()
        child.process.join()


def choose(found: dict[Case, list], count: int, seed: int) -> list[Planned]:
    """Return ``count`` states, at least half of them after a loss of power; all for 0."""
    rng = random.Random(seed)
    prefixes = [(case, each) for case in found for each in found[case] if each[1] == KILLED]
    others = [(case, each) for case in found for each in found[case] if each[1] != KILLED]
    rng.shuffle(prefixes)
    rng.shuffle(others)
    if count:
        prefixes = prefixes[: count // 2]
        others = others[: count - len(prefixes)]
    order = {case: number for number, case in enumerate(found)}
    taken = sorted([*prefixes, *others], key=lambda pair: (order[pair[0]], pair[1][:2]))
    random.Random(seed + 1).shuffle(taken)  # so that the first thousands are of all cases
    return [Planned(number, case, *each) for number, (case, each) in enumerate(taken)]


def chunks(planned: list[Planned]) -> Iterator[list[Planned]]:
    """Yield the states in groups of one case each, roughly in order of their numbers."""
    for first in range(0, len(planned), 20 * CHUNK):
        by_case: dict[Case, list[Planned]] = {}
        for each in planned[first : first + 20 * CHUNK]:
            by_case.setdefault(each.case, []).append(each)
        for group in by_case.values():
            group.sort(key=lambda each: (each.at, each.how))  # the order in which they are made
            yield group


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.run", description=__doc__)
    parser.add_argument("--states", type=int, default=60_000, help="at most this many; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--draws", type=int, default=1, help="states of each kind of chance")
    parser.add_argument("--workloads", nargs="+", choices=WORKLOADS, default=list(WORKLOADS))
    parser.add_argument("--durabilities", nargs="+", choices=DURABILITIES, default=DURABILITIES)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--recordings",
        type=Path,
        default=Path(tempfile.gettempdir(), "recollex-faults"),
        help="the folder of the recordings; they are made anew without --from and --only",
    )
    parser.add_argument("--from", dest="first", type=int, default=0, help="the number to begin at")
    parser.add_argument("--only", type=int, help="check one state, in this process")
    parser.add_argument("--keep", type=Path, help="with --only: copy the state's files to here")
    return parser.parse_args(arguments)


def check_one(planned: Planned, options: argparse.Namespace) -> int:
    """Check one state in this process, for a debugger; return the exit status."""
    print(planned)
    with small_files(planned.case.workload):
        for _, state, expected in made([planned], options.seed, options.draws):
            if options.keep:
                with laid_out(state.tree) as root:
                    shutil.copytree(root, options.keep)
            print(state.promises)
            Checker(expected).check(state)
    print("it holds")
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Run; return 0 if every promise was kept in every state."""
    options = parse(arguments)
    folder = options.recordings
    if not options.first and options.only is None:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    cases = [Case(w, d, str(folder)) for w in options.workloads for d in options.durabilities]
    found: dict[Case, list] = dict.fromkeys(cases)  # type: ignore[arg-type]
    total = drawn = 0

    def hear_plan(job: tuple, said: tuple) -> None:
        nonlocal total, drawn
        _, count, more, different = said
        total += count
        drawn += more
        found[job[1]] = different

    most = DRAWN * options.states // len(cases)
    jobs = [("plan", case, options.seed, options.draws, most) for case in cases]
    run_jobs(jobs, options.processes, hear_plan)
    different = sum(map(len, found.values()))
    planned = choose(found, options.states, options.seed)
    print(
        f"{len(cases)} recordings of {total} states; {drawn} drawn, {different} of them different; "
        f"{len(planned)} are checked, seed {options.seed}",
        flush=True,
    )
    if options.only is not None:
        return check_one(planned[options.only], options)

    failures: list[tuple[int, str]] = []
    counts: Counter[str] = Counter()
    progress = Progress("different states", len(planned) - options.first)

    def hear(_: tuple, said: tuple) -> None:
        _, number, error, more = said
        counts.update(more)
        if error is not None:
            failures.append((number, error))
            if len(failures) <= 20:
                print(f"FAILED {planned[number]}:\n{error}", flush=True)
        progress.add(failed=int(error is not None))

    chosen = planned[options.first :]
    checks = [("check", group, options.seed, options.draws) for group in chunks(chosen)]
    run_jobs(checks, options.processes, hear)
    for what, count in sorted(counts.items()):
        if what.startswith("warned"):
            print(f"{what}: {count}")
    kinds = Counter(error.strip().splitlines()[-1][:160] for _, error in failures)
    for kind, count in kinds.most_common(30):
        first = min(n for n, e in failures if e.strip().splitlines()[-1][:160] == kind)
        print(f"{count} times, first in {planned[first]}: {kind}")
    progress.end()
    return 1 if failures or not progress.done else 0


if __name__ == "__main__":
    sys.exit(main())
