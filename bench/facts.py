"""How fast does an agent find a fact as of a moment, all facts as of one, the history of one?

Claim: at 1,000,000 versions of 250,000 facts a point-in-time look-up takes at most 20 us (p50), a
snapshot at most 150 ms, the history of one fact at most 50 us (p50), and `find` with operators on
start and end at most 100 us (p50), with and without a subject, also as of then.

Command: python -m bench.facts [--versions 1000000] [--json] [--out FILE]

Check: before any clock starts, look-ups, histories and snapshots of cuts chosen at random are
compared with a naive model that keeps every version in a list.

Each fact is recorded and then corrected three times, at moments in random order. Subjects are drawn
from 50,000 entities; objects are numbers or drawn from 5,000 entities. Half of the cuts name a
valid time too. A fact that was found is read when it is used. `first` is the first question of its
kind after opening, which may sort a column of all versions.
"""

import contextlib
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

import recollex
from bench.lib.drawing import Plot
from bench.lib.latency import Bound, Page, Section, claim, finish, parse
from bench.lib.rundata import percentiles

VERSIONS_A_FACT = 4
A_TRANSACTION = 1_000
SUBJECTS = 50_000
OBJECTS = 5_000
CHECKED = 500
LOOKUPS = 20_000
SELECTIONS = 2_000
SELECTED = 12
SNAPSHOTS = 15
SEED = 11
START = datetime(2020, 1, 1, tzinfo=UTC)
STEP = timedelta(minutes=1)
YEARS = [datetime(2000 + year, 1, 1, tzinfo=UTC) for year in range(30)]

UNKNOWN = recollex.errors.UnknownIdError

Version = tuple[int, int | None, int, int, object]
"""(recording transaction, closing transaction, first year, last year, object)"""


def main() -> None:
    parser = parse(__doc__)
    parser.add_argument("--versions", type=int, default=1_000_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = measure(Path(folder), arguments.versions)
    finish(page(run), arguments)


def record(agent: recollex.Agent, count: int) -> tuple[dict[str, list[Version]], float]:
    """Record ``count`` versions; return them and the number of versions per second."""
    rng = np.random.default_rng(SEED)
    facts = np.repeat(np.arange(count // VERSIONS_A_FACT), VERSIONS_A_FACT)
    rng.shuffle(facts)
    model: dict[str, list[Version]] = {}
    started = time.perf_counter()
    for number, first in enumerate(range(0, len(facts), A_TRANSACTION)):
        at = START + number * STEP
        with agent.transaction(by="bench", why="measured", recorded_at=at) as tx:
            for fact in facts[first : first + A_TRANSACTION].tolist():
                begin = int(rng.integers(0, 20))
                end = begin + int(rng.integers(1, 10))
                draw = int(rng.integers(0, OBJECTS))
                value: Any = float(draw) if fact % 3 == 0 else f"object {draw}"
                versions = model.setdefault(f"fact {fact}", [])
                valid = (YEARS[begin], YEARS[end])
                if not versions:
                    subject = f"subject {fact % SUBJECTS}"
                    tx.facts.add(subject, "is", value, valid=valid, id=f"fact {fact}")
                else:
                    if versions[-1][2:] == (begin, end, value):
                        continue
                    tx.facts.correct(f"fact {fact}", object=value, valid=valid)
                    versions[-1] = (versions[-1][0], number, *versions[-1][2:])
                versions.append((number, None, begin, end, value))
    return model, len(facts) / (time.perf_counter() - started)


def expected(versions: list[Version], cut: int, world: int | None) -> Version | None:
    """Return the version that a cut sees, by a scan of all versions."""
    for version in versions:
        recorded, closed, begin, end, _ = version
        if recorded <= cut and (closed is None or closed > cut):
            return version if world is None or begin <= world < end else None
    return None


def check(agent: recollex.Agent, model: dict[str, list[Version]]) -> None:
    """Compare look-ups, histories and snapshots with the model."""
    rng = np.random.default_rng(SEED + 1)
    ids = list(model)
    last = max(version[0] for versions in model.values() for version in versions)
    for _ in range(CHECKED):
        id = ids[int(rng.integers(len(ids)))]
        cut = int(rng.integers(0, last + 1))
        world = int(rng.integers(0, 30)) if rng.integers(2) else None
        version = expected(model[id], cut, world)
        try:
            found = agent.facts.get(
                id,
                as_recorded=START + cut * STEP,
                as_world=None if world is None else YEARS[world],
            )
        except UNKNOWN:
            assert version is None, (id, cut, world)
        else:
            assert version is not None
            assert found.object == version[4]
            assert found.valid == (YEARS[version[2]], YEARS[version[3]])
            assert found.recorded[0] == START + version[0] * STEP
        history = agent.facts.history(id)
        assert [fact.object for fact in history] == [version[4] for version in model[id]]
    for cut, world in ((last, None), (last // 2, None), (last // 3, 10), (last, 15)):
        found = agent.facts.snapshot(
            as_recorded=START + cut * STEP, as_world=None if world is None else YEARS[world]
        )
        assert set(found.ids) == {
            id for id, versions in model.items() if expected(versions, cut, world) is not None
        }


def check_selections(agent: recollex.Agent, model: dict[str, list[Version]]) -> None:
    """Compare pages and counts of `find` with a filter of the model."""
    rng = np.random.default_rng(SEED + 3)
    last = max(version[0] for versions in model.values() for version in versions)
    for _ in range(SELECTED):
        cut = int(rng.integers(0, last + 1))
        world = int(rng.integers(0, 30)) if rng.integers(2) else None
        first, end = sorted(rng.integers(0, 30, 2).tolist())
        seen = [expected(versions, cut, world) for versions in model.values()]
        starts = sorted(v[2] for v in seen if v is not None and v[2] >= first and v[3] <= end)
        asked: dict[str, Any] = {
            "start": {"ge": f"{2000 + first}"},
            "end": {"lt": f"{2000 + end}"},
            "as_recorded": START + cut * STEP,
            "as_world": None if world is None else YEARS[world],
        }
        assert agent.facts.count(**asked) == len(starts)
        page = agent.facts.find(**asked, order_by="start", limit=10, offset=3)
        assert [fact.valid[0] for fact in page] == [YEARS[start] for start in starts[3:13]]


def selections(agent: recollex.Agent, cuts: list[datetime]) -> dict[str, dict[str, float]]:
    """Return the microseconds of `find` and `count` by several kinds of conditions."""
    rng = np.random.default_rng(SEED + 4)
    years = [f"{year}" for year in rng.integers(2000, 2020, SELECTIONS).tolist()]
    subjects = [f"subject {n}" for n in rng.integers(0, SUBJECTS, SELECTIONS).tolist()]
    objects = [f"object {n}" for n in rng.integers(0, OBJECTS, SELECTIONS).tolist()]
    find, count = agent.facts.find, agent.facts.count
    asked: dict[str, Callable[[int], Any]] = {
        "of a subject, begun by a year": lambda n: find(
            subject=subjects[n], start={"le": years[n]}, order_by="start", limit=10
        ),
        "of an object, the latest to end": lambda n: find(
            object=objects[n], order_by="end", descending=True, limit=1
        ),
        "ten begun in a year or later": lambda n: find(
            start={"ge": years[n]}, order_by="start", limit=10
        ),
        "ten true in a year": lambda n: find(
            start={"le": years[n]}, end={"ge": years[n]}, limit=10
        ),
        "the same, as of then": lambda n: find(
            start={"le": years[n]}, end={"ge": years[n]}, limit=10, as_recorded=cuts[n]
        ),
        "the same, and the ten are read": lambda n: list(
            find(start={"le": years[n]}, end={"ge": years[n]}, limit=10, as_recorded=cuts[n])
        ),
        "how many began in a year": lambda n: count(start=years[n]),
    }
    found = {}
    for name, ask in asked.items():
        started = time.perf_counter()
        ask(0)
        first = time.perf_counter() - started
        taken = []
        for number in range(SELECTIONS):
            before = time.perf_counter_ns()
            ask(number)
            taken.append((time.perf_counter_ns() - before) / 1000)
        found[name] = {**percentiles(taken), "first": 1e6 * first}
    return found


def measure(folder: Path, count: int) -> dict[str, Any]:
    embedder = recollex.GivenVectors(8)
    with recollex.open(folder, embedder=embedder, durability="off") as store:
        model, rate = record(store.agent("bench"), count)
        checkpointed = time.perf_counter()
        store.agent("bench").checkpoint()
        checkpointed = time.perf_counter() - checkpointed
    opened = []
    for _ in range(5):
        before = time.perf_counter()
        with recollex.open(folder, embedder=embedder) as store:
            store.agent("bench").facts.get(next(iter(model)))
            opened.append(time.perf_counter() - before)
    with recollex.open(folder, embedder=embedder) as store:
        agent = store.agent("bench")
        check(agent, model)
        check_selections(agent, model)
        rng = np.random.default_rng(SEED + 2)
        ids = list(model)
        last = -(-count // A_TRANSACTION) - 1
        chosen = [ids[place] for place in rng.integers(0, len(ids), LOOKUPS).tolist()]
        cuts = [START + cut * STEP for cut in rng.integers(0, last + 1, LOOKUPS).tolist()]
        worlds = [YEARS[year] for year in rng.integers(0, 30, LOOKUPS).tolist()]
        get, history = agent.facts.get, agent.facts.history
        lookups, histories, snapshots = [], [], []
        for place, (id, cut, world) in enumerate(zip(chosen, cuts, worlds, strict=True)):
            as_world = world if place % 2 else None
            before = time.perf_counter_ns()
            with contextlib.suppress(UNKNOWN):
                get(id, as_recorded=cut, as_world=as_world)
            lookups.append((time.perf_counter_ns() - before) / 1000)
        for id in chosen:
            before = time.perf_counter_ns()
            history(id)
            histories.append((time.perf_counter_ns() - before) / 1000)
        for cut, world in zip(cuts[:SNAPSHOTS], worlds, strict=False):
            before = time.perf_counter_ns()
            len(agent.facts.snapshot(as_recorded=cut, as_world=world))
            snapshots.append((time.perf_counter_ns() - before) / 1e6)
        subjects = []
        for id in chosen[:2000]:
            subject = f"subject {int(id.split()[1]) % SUBJECTS}"
            before = time.perf_counter_ns()
            list(agent.facts.find(subject=subject, predicate="is"))
            subjects.append((time.perf_counter_ns() - before) / 1000)
        selected = selections(agent, cuts)
    used = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return {
        "versions": count,
        "facts": len(model),
        "recorded_per_s": rate,
        "checkpoint_s": checkpointed,
        "bytes_per_version": used / count,
        "open_to_first_fact_ms": percentiles([each * 1000 for each in opened]),
        "lookup_us": percentiles(lookups),
        "history_us": percentiles(histories),
        "snapshot_ms": percentiles(snapshots),
        "facts_of_a_subject_us": percentiles(subjects),
        "selections_us": selected,
    }


def page(run: dict[str, Any]) -> Page:
    asked = {
        "a fact at a point in time": run["lookup_us"],
        "the history of one fact": run["history_us"],
        "the facts of a subject": run["facts_of_a_subject_us"],
        "a snapshot": {p: 1000 * ms for p, ms in run["snapshot_ms"].items()},
        "from opening to the first fact": {
            p: 1000 * ms for p, ms in run["open_to_first_fact_ms"].items()
        },
    }
    held = {
        "versions": run["versions"],
        "facts": run["facts"],
        "recorded/s": run["recorded_per_s"],
        "bytes a version": run["bytes_per_version"],
        "checkpoint s": run["checkpoint_s"],
    }
    return Page(
        "facts",
        claim(__doc__),
        f"python -m bench.facts --versions {run['versions']}",
        [
            Section(
                "Questions, us",
                [{"question": name, **us} for name, us in asked.items()],
                Plot("bars", "question", "p50", unit="p50 us"),
            ),
            Section(
                "Facts by start and end, us",
                [{"facts": name, **us} for name, us in run["selections_us"].items()],
                Plot("bars", "facts", "p50", unit="p50 us"),
            ),
            Section("Taking in", [held]),
        ],
        [
            Bound("a fact at a point in time, p50 us", run["lookup_us"]["p50"], 20),
            Bound("the history of one fact, p50 us", run["history_us"]["p50"], 50),
            *(
                Bound(f"{name}, p50 us", us["p50"], 100)
                for name, us in run["selections_us"].items()
                if "read" not in name and not name.startswith("how many")
            ),
            Bound("a snapshot, p50 ms", run["snapshot_ms"]["p50"], 150),
        ],
        [],
        (),
        {"looked up": LOOKUPS, "checked": CHECKED, "snapshots": SNAPSHOTS},
    )


if __name__ == "__main__":
    main()
