"""Which evidence do REMem's tools find, by type of question?

Claim: none: the tools search gists and facts for a model that goes on from there, and are measured
beside the default recall, which has more arms.

Command: python -m bench.tables.episodic_evidence --data FOLDER [--sets lifebench locomo]
    [--json FILE]

Check: every list is of ids that the bank holds.

R@10 is the share of a question's evidence among the first ten memories, or gists. A memory is its
own gist here: no model wrote others, and there are no facts. The last column fuses the default's
list with those of the tools by reciprocal ranks. LifeBench: phone records of the report half, by
the set's types of question. LoCoMo: all conversations, by REMem's temporal categories (Tables 17
and 18), by rule; the paper's counts are those of GPT-4.1-mini. Tokens are those of the ten gists as
a prompt, of REMem-S without its instructions (Table 20), by the agent's own counter.
"""

import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import recollex
from bench.datasets import lifebench, locomo
from bench.datasets.bank import Bank, Query
from bench.lib.kept_vectors import KeptVectors
from bench.lib.temporal_categories import CATEGORIES, PRINTED_COUNTS, temporal_category
from bench.tables.lib.evaluation import NO_LIMIT, asked, open_store
from bench.tables.lib.metrics import bootstrap, recall_at
from bench.tables.lib.report import Section, Table, arguments, keep
from bench.tables.lib.trials import claim_of

FUSED = "all three, by RRF"
METHODS = ("default", "semantic_retrieve", "lexical_retrieve", FUSED)
RANK = 60
Found = dict[str, list[str]]


def main() -> int:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument(
        "--sets", nargs="+", choices=("lifebench", "locomo"), default=["lifebench", "locomo"]
    )
    given = parser.parse_args()
    embedder = KeptVectors()
    sections = []
    tokens: dict[str, float] = {}
    if "lifebench" in given.sets:
        banks = [each for each in lifebench.load(given.data) if each.queries[0].split == "report"]
        rows, tokens["lifebench"] = measure(banks, lambda q: q.category, embedder, given.limit)
        sections.append(Section("LifeBench, report half, R@10", rows, plot="default"))
    if "locomo" in given.sets:
        rows, tokens["locomo"] = measure(
            locomo.load(given.data), lambda q: temporal_category(q.text), embedder, given.limit
        )
        order = [*CATEGORIES, "all"]
        rows.sort(key=lambda row: order.index(row["type"]))
        for row in rows:
            row["REMem's count (printed)"] = PRINTED_COUNTS.get(row["type"], "")
        sections.append(Section("LoCoMo by temporal category, R@10", rows, plot="default"))
    sections.append(
        Section(
            "Tokens of ten gists",
            [{"set": name, "mean": round(mean)} for name, mean in tokens.items()],
        )
    )
    remarks = ["REMem's Table 18 judges answers of a model and is not comparable."]
    keep(Table("episodic_evidence", claim_of(__doc__), sections, remarks), given.json)
    return 0


def measure(
    banks: Sequence[Bank],
    kind_of: Callable[[Query], str],
    embedder: KeptVectors,
    limit: int | None,
) -> tuple[list[dict[str, Any]], float]:
    """Return a row for each kind of question, and the mean number of tokens of ten gists."""
    values: dict[str, dict[str, list[float]]] = {}
    tokens: list[int] = []
    for bank in banks:
        known = {turn["id"] for turn in bank.turns}
        with tempfile.TemporaryDirectory() as folder, open_store(folder, embedder) as store:
            agent = store.agent(bank.name)
            for place, query in enumerate(asked(agent, bank)):
                if not query.evidence or (limit is not None and place >= limit):
                    continue
                found, cost = find(agent, query, embedder)
                tokens.append(cost)
                for kind in (kind_of(query), "all"):
                    row = values.setdefault(kind, {name: [] for name in METHODS})
                    for name, ids in found.items():
                        assert known.issuperset(ids)
                        row[name].append(recall_at(10, ids, query.evidence))
    rows = [
        {"type": kind, "questions": len(row["default"])}
        | {name: bootstrap(scores) for name, scores in row.items()}
        for kind, row in sorted(values.items(), key=lambda item: (item[0] == "all", item[0]))
    ]
    return rows, sum(tokens) / len(tokens)


def find(agent: recollex.Agent, query: Query, embedder: KeptVectors) -> tuple[Found, int]:
    """Return the ids that each method finds, best first, and the tokens of ten gists."""
    vector = embedder.embed_query(query.text)
    recalled = agent.recall(
        query.text, query_embedding=vector, max_tokens=NO_LIMIT, now=query.asked_at
    )
    semantic = agent.tools.semantic_retrieve(query.text, query_embedding=vector, max_tokens=None)
    lexical = agent.tools.lexical_retrieve(query.text, max_tokens=None)
    found = {
        "default": list(recalled.ids),
        "semantic_retrieve": [gist.id for gist in semantic.gists],
        "lexical_retrieve": [gist.id for gist in lexical.gists],
    }
    fused: dict[str, float] = {}
    for ids in found.values():
        for rank, id in enumerate(ids, 1):
            fused[id] = fused.get(id, 0.0) + 1 / (RANK + rank)
    found[FUSED] = sorted(fused, key=lambda id: (-fused[id], id))
    return found, semantic.tokens


if __name__ == "__main__":
    sys.exit(main())
