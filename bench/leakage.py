"""Does a cut know the future? LoCoMo told turn by turn, and asked about at every session.

Claim: at the end of every session, every question of the conversation, recalled as of then from a
store that knows the whole conversation, has the same memories, scores, order and tokens as on a
store rebuilt from the log up to then. No memory of it was recorded later.

Command: python -m bench.leakage --data FOLDER [--conversations N] [--json] [--out FILE]
(FOLDER/locomo holds locomo10.json of github.com/snap-research/locomo.)

Check: exits with 1 if a recall differs or holds a memory from the future. It also counts how many
recalls would have held a memory from the future without the cut, to show that the cut matters.
"""

import sys
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

import recollex
from bench.datasets.locomo import Conversation, conversations
from bench.lib.latency import Bound, Page, Section, claim, finish, parse

GAP = timedelta(minutes=30)
"""A longer pause starts a new session: the turns of one session are a second apart."""


def main() -> int:
    parser = parse(__doc__)
    parser.add_argument("--conversations", type=int, default=10, help="the first so many (10)")
    arguments = parser.parse_args()
    encoder = recollex.load_encoder()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            measure(Path(folder) / conversation.id, conversation, encoder)
            for conversation in conversations(arguments.data)[: arguments.conversations]
        ]
    total = {name: sum(row[name] for row in rows) for name in rows[0] if name != "conversation"}
    seconds = time.perf_counter() - started
    finish(page([*rows, {"conversation": "all", **total}], seconds), arguments)
    return int(total["differences"] + total["from_the_future"] > 0)


def measure(folder: Path, conversation: Conversation, encoder: recollex.Encoder) -> dict[str, Any]:
    asked = [(q.text, encoder.embed_query(q.text)) for q in conversation.questions]
    row = {"conversation": conversation.id, "turns": len(conversation.turns), "questions": 0}
    row |= {"cuts": 0, "recalls": 0, "memories": 0, "differences": 0, "from_the_future": 0}
    row |= {"uncut_recalls_from_the_future": 0}
    row["questions"] = len(asked)
    with recollex.open(folder / "whole", embedder=encoder, durability="off") as store:
        agent = store.agent("a")
        boundaries = tell(agent, conversation)
        whole = [agent.recall(text, query_embedding=vector) for text, vector in asked]
        latest = [np.array([m.recorded_at for m in recall]) for recall in whole]
        for number, moment in enumerate(boundaries):
            agent.snapshot(moment, folder / str(number))
            row["cuts"] += 1
            with recollex.open(folder / str(number), embedder=encoder, read_only=True) as rebuilt:
                compare(agent, rebuilt.agent("a"), moment, asked, row)
            row["uncut_recalls_from_the_future"] += sum(
                bool((times > moment).any()) for times in latest
            )
    return row


def tell(agent: recollex.Agent, conversation: Conversation) -> list[datetime]:
    """Retain turn by turn, each recorded when it was said; return the end of each session."""
    boundaries: list[datetime] = []
    last = None
    for turn in conversation.turns:
        if last is not None and turn["at"] - last > GAP:
            boundaries.append(last)
        last = turn["at"]
        agent.retain_dialogue([dict(turn)], document_id=conversation.id, recorded_at=last)
    return [*boundaries, last] if last is not None else []


def compare(
    agent: recollex.Agent,
    rebuilt: recollex.Agent,
    moment: datetime,
    asked: list[tuple[str, np.ndarray]],
    row: dict[str, Any],
) -> None:
    for text, vector in asked:
        options: dict[str, Any] = {"query_embedding": vector, "explain": True}
        cut = agent.recall(text, as_recorded=moment, **options)
        expected = rebuilt.recall(text, exact=True, now=moment, **options)
        assert not cut.trace.errors and not expected.trace.errors, (cut.trace, expected.trace)
        found = list(cut)
        same = found == list(expected)
        same = same and (cut.tokens, cut.time_range) == (expected.tokens, expected.time_range)
        row["recalls"] += 1
        row["memories"] += len(found)
        row["differences"] += not same
        row["from_the_future"] += sum(memory.recorded_at > moment for memory in found)


def page(rows: list[dict[str, Any]], seconds: float) -> Page:
    total = rows[-1]
    return Page(
        "leakage",
        claim(__doc__),
        "python -m bench.leakage --data FOLDER",
        [
            Section(
                "Recalls as of every session",
                [{name.replace("_", " "): cell for name, cell in row.items()} for row in rows],
            )
        ],
        [
            Bound("recalls that differ", total["differences"], 0),
            Bound("recalls with a memory from the future", total["from_the_future"], 0),
        ],
        [f"{seconds:.0f} s in all."],
    )


if __name__ == "__main__":
    sys.exit(main())
