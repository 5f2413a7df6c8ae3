"""How large is the graph of gists and facts on LoCoMo, and what do its index and its loop cost?

Claim: none: REMem's Tables 19, 20 and 22, with LoCoMo's ``observation`` facts in place of what a
model draws, and a script in place of the model that calls tools.

Command: python -m bench.tables.episodic_costs --data FOLDER [--json FILE] [--limit N]

Check: every turn is read once, no job is left, and every investigation is answered.

Each observation is a gist and a triple of its words: subject, verb, rest. So there are as many
triples as gists, and fewer dates than a model would give. Time: the model's answers come at once;
the time of a real one is to be added. "REMem-I" calls semantic_retrieve, lexical_retrieve and
output_answer with the question, whatever it is; a real model chooses, and says more. Printed are
the paper's figures, with GPT-4.1-mini on its own server. Tokens are those of o200k_base, as in the
paper, or those of cl100k_base where its vocabulary cannot be had; the page says which. Context
edges join a gist with the phrases of the facts of its chunk. Memory is the most that the process
held, with the embedding model.
"""

import json
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import tiktoken
from tqdm import tqdm

import recollex
from bench.datasets import load
from bench.datasets.bank import Bank
from bench.datasets.locomo import observations
from bench.lib.counting_endpoint import counting_endpoint
from bench.lib.replayed_model import ReplayedModel
from bench.tables.lib.evaluation import retain
from bench.tables.lib.report import Cell, Section, Table, arguments, keep
from bench.tables.lib.trials import claim_of
from recollex.api.tools import Tools

ALL = 100_000
STEPS = ("semantic_retrieve", "lexical_retrieve")
"""The tools that the script calls, one a step, before `output_answer`."""
PRINTED_TOKENS = {
    "indexing": (0.90, 0.72),
    "REMem-S": (1.83, 0.18),
    "REMem-I": (18.10, 0.79),
}
"""Millions of tokens sent and received for LoCoMo (Table 20)."""
PRINTED_GRAPH = {
    "phrase nodes": 777.5,
    "gist nodes": 730.1,
    "relation edges": 736.2,
    "context edges": 25_172.4,
    "synonymy edges": 1_082.2,
    "triples": 763.9,
    "input tokens": 15_965.8,
    "phrase-node tokens": 5_105.8,
    "gist-node tokens": 21_743.8,
    "degree of phrase nodes": 34.0,
    "degree of gist nodes": 34.4,
}
"""LoCoMo's column of Table 22, the mean of its graphs."""
REMARK = "A query's time is that of the client and the tools; that of a model is to be added."
MODES = {"REMem-S": "single", "REMem-I": "iterative"}


def main() -> None:
    given = arguments(__doc__.splitlines()[0]).parse_args()
    counter = vocabulary()
    facts, banks = observations(given.data), load(given.data, ("locomo",))
    measured = Measured(counter.name, lambda text: len(counter.encode(text, disallowed_special=())))
    model = Scripted(measured)
    with (
        counting_endpoint(model.answer) as endpoint,
        recollex.llm("replayed", base_url=endpoint.url) as llm,
    ):
        for bank in tqdm(banks, "conversations"):
            model.drawing.hear(bank, facts[bank.name])
            measure(bank, llm, model, measured, given.limit)
    settings = {"tokens": measured.counter}
    claim, found = claim_of(__doc__), sections(measured)
    keep(Table("episodic_costs", claim, found, [REMARK], settings), given.json)


def vocabulary() -> tiktoken.Encoding:
    """Return o200k_base, or cl100k_base where the former's file cannot be fetched."""
    try:
        return tiktoken.get_encoding("o200k_base")
    except OSError:
        return tiktoken.get_encoding("cl100k_base")


@dataclass
class Measured:
    """What all conversations gave. phase: that of the requests that come now."""

    counter: str
    count: Callable[[str], int]
    phase: str = "indexing"
    sent: Counter[str] = field(default_factory=Counter)
    received: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    index_seconds: list[float] = field(default_factory=list)
    query_seconds: dict[str, list[float]] = field(default_factory=lambda: {m: [] for m in MODES})
    tool_seconds: list[float] = field(default_factory=list)
    graphs: list[dict[str, float]] = field(default_factory=list)


class Scripted:
    """The model: it draws the observations, calls the tools in turn, and answers."""

    def __init__(self, measured: Measured) -> None:
        self.drawing = ReplayedModel("episodic")
        self._measured = measured
        self._question = ""
        self._steps = 0

    def answer(self, sent: Mapping[str, Any]) -> str:
        """Return what the model says, and count the tokens of both."""
        measured = self._measured
        reply = self._reply(sent)
        measured.calls[measured.phase] += 1
        measured.sent[measured.phase] += sum(
            measured.count(each["content"]) for each in sent["messages"]
        )
        measured.received[measured.phase] += measured.count(reply)
        return reply

    def ask(self, question: str) -> None:
        """Take the next question."""
        self._question, self._steps = question, 0

    def _reply(self, sent: Mapping[str, Any]) -> str:
        if self._measured.phase == "indexing":
            return self.drawing.answer(sent)
        if "response_format" not in sent:
            return "found"
        step, self._steps = self._steps, self._steps + 1
        if step == len(STEPS):
            return json.dumps({"function": "output_answer", "parameters": {"answer": "found"}})
        return json.dumps({"function": STEPS[step], "parameters": {"query": self._question}})


def measure(
    bank: Bank,
    llm: recollex.LanguageModel,
    model: Scripted,
    measured: Measured,
    limit: int | None,
) -> None:
    """Index one conversation, look at its graph, and ask its questions in both modes."""
    with (
        tempfile.TemporaryDirectory() as folder,
        recollex.open(Path(folder) / "s", llm=llm) as store,
    ):
        agent = store.agent("locomo")
        measured.phase = "indexing"
        began = time.perf_counter()
        retain(agent, bank.turns, bank.turns[0]["at"].replace(year=1990))
        done = agent.extract(mode="episodic")
        measured.index_seconds.append(time.perf_counter() - began)
        assert done.turns == len(bank.turns) and not done.failed
        assert not agent.jobs.find(mode="episodic")
        measured.graphs.append(graph(agent, bank, measured.count))
        for measured.phase, mode in MODES.items():
            for query in bank.queries[:limit]:
                model.ask(query.text)
                began = time.perf_counter()
                found = agent.investigate(
                    query.text,
                    mode=mode,
                    max_steps=len(STEPS) + 1,
                    now=query.asked_at,
                )
                measured.query_seconds[measured.phase].append(time.perf_counter() - began)
                if mode == "single":
                    measured.tool_seconds.append(found.steps[0].seconds)
                assert found.error is None


def graph(agent: recollex.Agent, bank: Bank, count: Callable[[str], int]) -> dict[str, float]:
    """Return the sizes of an agent's graph, by the names of Table 22."""
    tools: Tools = agent.tools
    facts = agent.facts.find(limit=ALL)
    gists = agent.list(where={"kind": "gist"}, limit=ALL)
    phrases = {name for fact in facts for name in (fact.subject, str(fact.object))}
    synonyms = {
        frozenset((name, other)) for name in phrases for other, _ in agent.facts.synonyms(name)
    }
    relations = {(fact.subject, str(fact.object)) for fact in facts}
    context = 0
    for gist in gists:
        near = tools.find_gist_contexts(gist.id, limit=1, max_tokens=None)
        context += len({name for fact in near.facts for name in (fact.subject, str(fact.object))})
    at_phrases = context + 2 * len(relations) + 2 * len(synonyms)
    return {
        "phrase nodes": len(phrases),
        "gist nodes": len(gists),
        "relation edges": len(relations),
        "context edges": context,
        "synonymy edges": len(synonyms),
        "triples": len(facts),
        "input tokens": sum(count(str(turn["text"])) for turn in bank.turns),
        "phrase-node tokens": sum(count(name) for name in phrases),
        "gist-node tokens": sum(count(gist.text) for gist in gists),
        "degree of phrase nodes": at_phrases / len(phrases),
        "degree of gist nodes": context / len(gists),
    }


def sections(measured: Measured) -> list[Section]:
    queries = {mode: len(seconds) for mode, seconds in measured.query_seconds.items()}
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    seconds = measured.query_seconds
    times: list[dict[str, Cell]] = [
        {
            "what": "index, all conversations, s",
            "ours": round(sum(measured.index_seconds), 1),
            "printed": 3604.2,
        },
        {"what": "a query, REMem-S, ms", "ours": median(seconds["REMem-S"]), "printed": ""},
        {"what": "  of it the retrieval, ms", "ours": median(measured.tool_seconds), "printed": ""},
        {"what": "a query, REMem-I, ms", "ours": median(seconds["REMem-I"]), "printed": 4300},
        {"what": "memory of the process, GB", "ours": round(most, 2), "printed": 2.6},
    ]
    tokens: list[dict[str, Cell]] = [
        {
            "phase": phase,
            "questions": queries.get(phase, ""),
            "calls": measured.calls[phase],
            "sent, M": round(measured.sent[phase] / 1e6, 3),
            "printed": sent,
            "received, M": round(measured.received[phase] / 1e6, 3),
            "printed, received": received,
        }
        for phase, (sent, received) in PRINTED_TOKENS.items()
    ]
    sizes: list[dict[str, Cell]] = [
        {
            "of a graph, mean": name,
            "ours": round(float(np.mean([each[name] for each in measured.graphs])), 1),
            "printed": printed,
        }
        for name, printed in PRINTED_GRAPH.items()
    ]
    return [
        Section("Time and memory (Table 19; printed: REMem-I)", times),
        Section(f"Tokens by {measured.counter} (Table 20)", tokens),
        Section("The graph (Table 22)", sizes),
    ]


def median(seconds: list[float]) -> float:
    """Return the median in milliseconds."""
    return round(1000 * float(np.median(seconds)), 2)


if __name__ == "__main__":
    main()
