"""How fast are the tools over gists and facts, and how fast and small is the memory under them?

Claim: at 1,000,000 facts every tool answers within 500 us (p50) and 3 ms (p99); structured facts
are recorded at 20,000/s or more with a durable log, one more episode in 1 ms or less (p50); a fact
takes 600 bytes or less on disk, everything included.

Command: python -m bench.episodic [--facts 1000000] [--json] [--out FILE]

Check: before any clock starts, pages and counts of `find_entity_contexts` are compared with a list
of all facts, the tools of a cut with those of the agent before the later facts were recorded, and
each tool must have found something for most of its questions.

Structured facts are triples of made-up names, found by their words (``embed=False``): a tenth have
no time, half a point in time (a day, a month or a year), the others a start and perhaps an end.
Entities are drawn from facts / 20 names, predicates from 200. The disk is measured with these
alone. Then gists are retained, a tenth as many, each with a vector and with a fact that cites it
and has one too. An episode is a gist and three facts, recorded as one transaction with a flush.
"""

import tempfile
import time
import zlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import recollex
from bench.lib.drawing import Plot
from bench.lib.latency import Bound, Page, Section, claim, finish, parse
from bench.lib.rundata import percentiles

A_TRANSACTION = 2_000
PREDICATES = 200
QUESTIONS = 1_000
EPISODES = 300
CHECKED = 60
DIMENSION = 384
PLACES = 1 << 22  # where a word's vector may begin
SEED = 21
FIRST = datetime(1990, 1, 1, tzinfo=UTC)
Triple = tuple[str, str, str, datetime | None, datetime | None]


class HashedWords(recollex.GivenVectors):
    """Embeds a text as the sum of its words' vectors, in 20 us.

    A word's vector is a part of one drawn row of numbers; the word's hash tells where it begins.
    """

    def __init__(self) -> None:
        super().__init__(DIMENSION)
        self.fingerprint = "hashed-words-384"
        drawn = np.random.default_rng(SEED).standard_normal(PLACES + DIMENSION, np.float32)
        self._at = np.lib.stride_tricks.sliding_window_view(drawn, DIMENSION)

    def embed(
        self,
        texts: Sequence[str],
        threads: int = 1,
        progress: Callable[[int], None] | None = None,
    ) -> npt.NDArray[np.float32]:
        """Return the vectors of texts."""
        return np.array([self.embed_query(text) for text in texts], np.float32)

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        """Return the vector of a text."""
        total = np.zeros(DIMENSION, np.float32)
        for word in text.lower().split():
            total += self._at[zlib.crc32(word.encode()) % PLACES]
        norm = float(np.linalg.norm(total)) or 1.0
        return total / np.float32(norm)


def main() -> None:
    parser = parse(__doc__)
    parser.add_argument("--facts", type=int, default=1_000_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = measure(Path(folder), arguments.facts)
    finish(page(run), arguments)


def triples(count: int) -> list[Triple]:
    """Return made-up facts; see above."""
    rng = np.random.default_rng(SEED)
    names = max(count // 20, 10)
    subjects, objects = rng.integers(0, names, count), rng.integers(0, names, count)
    predicates, kinds = rng.integers(0, PREDICATES, count), rng.random(count)
    days, lengths = rng.integers(0, 12_000, count), rng.integers(1, 2_000, count)
    found: list[Triple] = []
    for place in range(count):
        start: datetime | None = FIRST + timedelta(days=int(days[place]))
        end: datetime | None = None
        assert start is not None
        if kinds[place] < 0.1:
            start = None
        elif kinds[place] < 0.3:
            end = start + timedelta(days=1)
        elif kinds[place] < 0.5:
            start = start.replace(day=1)
            end = (start + timedelta(days=32)).replace(day=1)
        elif kinds[place] < 0.6:
            start = start.replace(month=1, day=1)
            end = start.replace(year=start.year + 1)
        elif kinds[place] < 0.8:
            end = start + timedelta(days=int(lengths[place]))
        found.append(
            (
                f"E{subjects[place]}",
                f"relation {predicates[place]} of",
                f"E{objects[place]}",
                *(start, end),
            )
        )
    return found


def record(agent: recollex.Agent, facts: Sequence[Triple]) -> tuple[float, float]:
    """Record facts; return how many a second, by the clock and by the CPU."""
    started, used = time.perf_counter(), time.process_time()
    for first in range(0, len(facts), A_TRANSACTION):
        with agent.transaction(by="bench") as tx:
            for subject, predicate, object_, start, end in facts[first : first + A_TRANSACTION]:
                tx.facts.add(subject, predicate, object_, valid=(start, end), embed=False)
    return (
        len(facts) / (time.perf_counter() - started),
        len(facts) / (time.process_time() - used),
    )


def retain_gists(agent: recollex.Agent, count: int) -> list[str]:
    """Retain gists, each with a fact that cites it; return the gists' ids."""
    rng = np.random.default_rng(SEED + 1)
    ids: list[str] = []
    people, things = rng.integers(0, count, count), rng.integers(0, 5_000, (count, 3))
    for first in range(0, count, 1_000):
        with agent.transaction(by="bench") as tx:
            for place in range(first, min(first + 1_000, count)):
                words = " ".join(f"thing{each}" for each in things[place].tolist())
                at = FIRST + timedelta(days=12_000 * place // count)
                ids.append(
                    tx.retain(
                        f"P{people[place]} bought {words} at the market.",
                        event_at=at,
                        metadata={"kind": "gist"},
                    )
                )
                tx.facts.add(
                    f"P{people[place]}",
                    "bought",
                    words,
                    valid=(at, at + timedelta(days=1)),
                    evidence=ids[-1],
                )
    return ids


def episodes(agent: recollex.Agent, count: int) -> list[float]:
    """Return the milliseconds of each of ``count`` more episodes, its flush included."""
    taken = []
    for place in range(count):
        at = FIRST + timedelta(days=place)
        before = time.perf_counter_ns()
        with agent.transaction() as tx:
            gist = tx.retain(f"P{place} sold a boat to E{place}.", event_at=at)
            for number in range(3):
                tx.facts.add(
                    *(f"P{place}", f"relation {number} of", f"E{place + number}"),
                    valid=(at, None),
                    evidence=gist,
                    embed=False,
                )
        taken.append((time.perf_counter_ns() - before) / 1e6)
    return taken


def questions(facts: Sequence[Triple], gists: Sequence[str]) -> dict[str, Callable[[int], Any]]:
    """Return name -> the arguments of a tool for a question's number."""
    rng = np.random.default_rng(SEED + 2)
    chosen = [facts[place] for place in rng.integers(0, len(facts), QUESTIONS).tolist()]
    asked = [gists[place] for place in rng.integers(0, len(gists), QUESTIONS).tolist()]
    years = rng.integers(1992, 2020, QUESTIONS).tolist()
    things = rng.integers(0, 5_000, (QUESTIONS, 2)).tolist()

    def words(n: int) -> str:
        return f"Who bought thing{things[n][0]} and thing{things[n][1]}?"

    def during(n: int) -> dict[str, Any]:
        year = str(years[n])
        return {"start_time": year, "start_operator": "le", "end_time": year, "end_operator": "ge"}

    return {
        "semantic_retrieve": lambda n: {"query": words(n)},
        "semantic_retrieve, in ten years": lambda n: {
            "query": words(n),
            "start_time": str(years[n]),
            "end_time": str(years[n] + 10),
        },
        "lexical_retrieve": lambda n: {"query": " ".join(chosen[n][:3])},
        "lexical_retrieve, of things": lambda n: {"query": words(n)},
        "lexical_retrieve, true in a year": lambda n: {
            "query": " ".join(chosen[n][:3]),
            **during(n),
        },
        "find_gist_contexts": lambda n: {"gist_id": asked[n]},
        "find_entity_contexts, a subject": lambda n: {"subject": chosen[n][0], "limit": 10},
        "find_entity_contexts, the second by time": lambda n: {
            "subject": chosen[n][0],
            "ordering": "asc",
            "offset": 1,
            "limit": 1,
        },
        "find_entity_contexts, the last of a relation": lambda n: {
            "predicate": chosen[n][1],
            "ordering": "desc",
            "limit": 1,
        },
        "find_entity_contexts, true in a year": lambda n: {
            "object": chosen[n][2],
            "limit": 10,
            **during(n),
        },
        "find_entity_contexts, a count": lambda n: {
            "subject": chosen[n][0],
            "aggregation": "count_unique_objects",
        },
        "find_entity_contexts, a count of a relation": lambda n: {
            "predicate": chosen[n][1],
            "aggregation": "count",
            **during(n),
        },
    }


def check(agent: recollex.Agent, facts: Sequence[Triple]) -> None:
    """Compare pages and counts with a filter of all facts."""
    rng = np.random.default_rng(SEED + 3)
    for place in rng.integers(0, len(facts), CHECKED).tolist():
        subject, predicate = facts[place][:2]
        year = datetime(int(rng.integers(1992, 2020)), 1, 1, tzinfo=UTC)
        mine = {each for each in facts if each[0] == subject}
        begun = [each for each in mine if each[3] is not None and each[3] >= year]
        find = agent.tools.find_entity_contexts
        told = find(subject, start_time=str(year.year), aggregation="count")
        assert told.count == len({(each[1], each[2], each[3]) for each in begun})
        page = find(subject, start_time=str(year.year), ordering="asc", limit=5).facts
        starts = sorted({(each[1], each[2], each[3]): each[3] for each in begun}.values())
        assert [fact.valid[0] for fact in page] == starts[:5]
        assert find(predicate=predicate, subject=subject).matched


def ask(agent: recollex.Agent, name: str, given: Callable[[int], Any]) -> dict[str, float]:
    """Return the microseconds of a tool."""
    tool = getattr(agent.tools, name.partition(",")[0])
    taken, found = [], 0
    for number in range(QUESTIONS + 20):
        arguments = given(number % QUESTIONS)
        before = time.perf_counter_ns()
        contexts = tool(**arguments)
        if number >= 20:  # the first ones compile, map pages, and sort columns
            taken.append((time.perf_counter_ns() - before) / 1000)
            found += bool(contexts.gists or contexts.facts or contexts.count)
    assert found > QUESTIONS / 2, (name, found)
    return percentiles(taken)


def measure(folder: Path, count: int) -> dict[str, Any]:
    facts = triples(count)
    with recollex.open(folder, embedder=HashedWords()) as store:
        agent = store.agent("bench")
        record(store.agent("warm"), triples(A_TRANSACTION))  # compiles
        rates = record(agent, facts)
        agent.checkpoint()
        used = agent.stats()
        check(agent, facts)
        before = agent.tools.find_entity_contexts(facts[0][0]).to_dict()
        past = datetime.now(UTC)
        gists = retain_gists(agent, count // 10)
        agent.checkpoint()
        more = episodes(agent, EPISODES)
        assert agent.tools.find_entity_contexts(facts[0][0], as_recorded=past).to_dict() == before
        tools = {name: ask(agent, name, of) for name, of in questions(facts, gists).items()}
        held = agent.stats()
    return {
        "facts": used.facts,
        "recorded_per_s": rates[0],
        "recorded_per_cpu_s": rates[1],
        "bytes_per_fact": used.bytes_on_disk / used.facts,
        "gists": len(gists),
        "facts_in_all": held.facts,
        "episode_ms": percentiles(more),
        "tools_us": tools,
    }


def page(run: dict[str, Any]) -> Page:
    held = {
        "facts": run["facts"],
        "recorded/s": run["recorded_per_s"],
        "recorded per CPU second": run["recorded_per_cpu_s"],
        "bytes a fact": run["bytes_per_fact"],
        "gists": run["gists"],
        "facts in all": run["facts_in_all"],
        "one more episode, p50 ms": run["episode_ms"]["p50"],
        "p99 ms": run["episode_ms"]["p99"],
    }
    return Page(
        "episodic",
        claim(__doc__),
        f"python -m bench.episodic --facts {run['facts']}",
        [
            Section(
                "Tools, us",
                [{"tool": name, **us} for name, us in run["tools_us"].items()],
                Plot("bars", "tool", "p50", unit="p50 us"),
            ),
            Section("Taking in", [held]),
        ],
        [
            *(Bound(f"{name}, p50 us", us["p50"], 500) for name, us in run["tools_us"].items()),
            *(Bound(f"{name}, p99 us", us["p99"], 3000) for name, us in run["tools_us"].items()),
            Bound("facts recorded a second", run["recorded_per_s"], 20_000, least=True),
            Bound("one more episode, p50 ms", run["episode_ms"]["p50"], 1),
            Bound("bytes a fact", run["bytes_per_fact"], 600),
        ],
        [],
        (),
        {"questions": QUESTIONS, "checked": CHECKED, "episodes": EPISODES},
    )


if __name__ == "__main__":
    main()
