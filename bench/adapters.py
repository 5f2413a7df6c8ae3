"""What does an adapter add to a recall and to a retain?

Claim: an adapter adds at most 0.2 ms to a recall, and 10 % to a retain, by the p50 of each
question's best time.

Command: python -m bench.adapters [--rows N ...] [--json] [--out FILE]

Check: before the clock starts, the adapter returns the memories of the plain call, in its order.

Adapters whose frameworks are installed and the plain calls that they make alternate, on one agent,
in one process. The default model embeds questions and texts. A write is timed in CPU time, and does
not wait for the disk, so what an adapter adds stands beside the least that a write costs. One
recall returns 10 memories; their text and metadata are read. The retriever is called without
LangChain's own callbacks. Texts are made up (see `bench.lib.made_up`).
"""

import asyncio
import itertools
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import Any

import recollex
from bench.lib import made_up
from bench.lib.latency import (
    Bound,
    Page,
    Section,
    System,
    claim,
    finish,
    parse,
    race,
    with_one_thread,
)
from recollex.frameworks.adapter_calls import EACH

QUESTIONS = 100
SECONDS = 4.0
MOST_ADDED, MOST_RATIO = 200.0, 1.1  # us, and times
WANTED = {"limit": 10, "max_tokens": None, "preset": EACH}
LABELS = [f"topic {n}" for n in range(8)]

Call = Callable[[Any], Any]
Pair = tuple[str, Call, Call]
"""A name, the adapter's call and the plain call; both return the same."""


def main() -> None:
    with_one_thread()
    arguments = parse(__doc__, (2_000,)).parse_args()
    rows = [row for size in arguments.rows for row in measure(size)]
    finish(page(rows), arguments)


def measure(size: int) -> Iterator[dict[str, Any]]:
    texts = [made_up.text_of(words) for words in made_up.words(0, size + QUESTIONS)]
    asked = [" ".join(text.split()[:6]) for text in texts[:QUESTIONS]]
    new = texts[size : size + QUESTIONS]
    for pairs, questions, kind in ((recalls, asked, "recall"), (retains, new, "retain")):
        with filled(texts[:size]) as agent:
            for name, adapter, plain in pairs(agent):
                if kind == "recall":
                    assert [adapter(each) for each in asked] == [plain(each) for each in asked]
                asks = (("adapter", adapter), ("plain", plain))
                systems = [
                    System(each, cpu_time(call), reported=float)
                    if kind == "retain"
                    else System(each, call)
                    for each, call in asks
                ]
                spent = race(systems, questions, seconds=SECONDS)
                one, other = (spent[each]["best p50"] for each in ("adapter", "plain"))
                yield {
                    "what": name,
                    "kind": kind,
                    "memories": size,
                    "best p50 us": one,
                    "plain": other,
                    "added us": one - other,
                    "ratio": one / other,
                }


@contextmanager
def filled(texts: list[str]) -> Iterator[recollex.Agent]:
    """Open a store whose memories every adapter takes for its own."""
    with tempfile.TemporaryDirectory() as folder, recollex.open(folder, durability="off") as store:
        agent = store.agent("a")
        for first in range(0, len(texts), 500):
            part = texts[first : first + 500]
            agent.retain_many(
                part,
                id=[f'["langchain", "{first + n}"]' for n in range(len(part))],
                document_id='["langchain"]',
                tags=["[]", '["langchain"]', "langchain"],
                metadata=[{"text": text, "label": LABELS[len(text) % 8]} for text in part],
            )
        agent.checkpoint()
        yield agent


def cpu_time(call: Call) -> Callable[[Any], float]:
    """Return a function that calls, and returns the microseconds of CPU that it took."""

    def timed(given: Any) -> float:
        before = time.process_time_ns()
        call(given)
        return (time.process_time_ns() - before) / 1000

    return timed


def read(memories: Any) -> list[Any]:
    return [(each.text, dict(each.metadata)) for each in memories]


def recalls(agent: recollex.Agent) -> Iterator[Pair]:
    if find_spec("langgraph"):
        from recollex.frameworks.langgraph import RecollexStore

        store = RecollexStore(agent)
        own = {"tags": ['["langchain"]'], "no_tags": ["unindexed"]}

        def plain(query: str) -> list[Any]:
            now = datetime.now(UTC)
            found = agent.recall(query, ends_after=now, **own, **WANTED)
            return [metadata for _, metadata in read(found)]

        yield (
            "LangGraph, search",
            lambda query: [each.value for each in store.search(("langchain",), query=query)],
            plain,
        )
    if find_spec("langchain_core"):
        from recollex.frameworks.langchain import RecollexRetriever, RecollexVectorStore

        vectors, retriever = RecollexVectorStore(agent), RecollexRetriever(agent=agent)
        yield (
            "LangChain, similarity_search",
            lambda query: [
                (each.page_content, each.metadata)
                for each in vectors.similarity_search(query, k=10)
            ],
            lambda query: read(agent.recall(query, tags=["langchain"], **WANTED)),
        )
        yield (
            "LangChain, retriever",
            lambda query: [
                each.page_content
                for each in retriever._get_relevant_documents(query, run_manager=None)
            ],
            lambda query: [each.text for each in agent.recall(query, limit=10)],
        )


def retains(agent: recollex.Agent) -> Iterator[Pair]:
    numbers = itertools.count()  # each write is new
    if find_spec("langgraph"):
        from recollex.frameworks.langgraph import RecollexStore

        store = RecollexStore(agent)
        yield (
            "LangGraph, put",
            lambda each: store.put(("users", "ann"), f"k{next(numbers)}", {"text": each}),
            lambda each: agent.retain(
                f"text: {each}",
                id=f"p{next(numbers)}",
                tags=["[]", '["users"]', '["users", "ann"]'],
                document_id="users/ann",
                metadata={"text": each},
            ),
        )
    if find_spec("langchain_core"):
        from recollex.frameworks.langchain import RecollexVectorStore

        vectors = RecollexVectorStore(agent)
        yield (
            "LangChain, add_texts",
            lambda each: vectors.add_texts([each], [{"n": 1}]),
            lambda each: agent.retain_many([each], metadata=[{"n": 1}], tags=["x"]),
        )
    if find_spec("agents"):
        from recollex.frameworks.openai_agents import RecollexSession

        session, loop = RecollexSession("talk", agent), asyncio.new_event_loop()

        def items(text: str) -> list[dict[str, Any]]:
            return [{"role": role, "content": text} for role in ("user", "assistant")]

        def plain(text: str) -> Any:
            turns = [{**item, "metadata": {"message": item}} for item in items(text)]
            return agent.retain_dialogue(turns, document_id="plain")

        yield (
            "OpenAI Agents, add_items of two",
            lambda each: loop.run_until_complete(session.add_items(items(each))),
            plain,
        )
        loop.close()


def page(rows: list[dict[str, Any]]) -> Page:
    bounds = [
        Bound(f"{row['what']}, us added", row["added us"], MOST_ADDED)
        if row["kind"] == "recall"
        else Bound(f"{row['what']}, times the plain call", row["ratio"], MOST_RATIO)
        for row in rows
    ]
    sizes = sorted({row["memories"] for row in rows})
    return Page(
        "adapters",
        claim(__doc__),
        "python -m bench.adapters --rows " + " ".join(map(str, sizes)),
        [Section("Adapters beside the calls that they make", rows)],
        bounds,
        [],
        (),
        {"questions": QUESTIONS},
    )


if __name__ == "__main__":
    main()
