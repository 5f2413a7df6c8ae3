"""The demo: an agent remembers half a year of talk and answers from it, with each stage timed."""

import statistics
import sys
import tempfile
import time
from contextlib import nullcontext
from functools import partial

import recollex
from recollex.api.plurals import counted
from recollex.cli.options import add_agent, count
from recollex.cli.parser import Arguments, Command, Parser
from recollex.cli.terminal import recall_table, show, stage_table, summary_lines

_FIRST = "What did Joseph and Priya say about a sock in June 2024?"
"""An untimed question that uses every arm: the first recall of a process loads the compiled
kernels."""
_REPEATS = 20


def _demo_options(parser: Parser) -> None:
    parser.add_argument(
        "--store", metavar="FOLDER", help="keep the memory here (else: thrown away)"
    )
    add_agent(parser, "workshop")
    parser.add_argument("--top", type=count, default=3, metavar="N", help="memories shown (3)")


def demo(arguments: Arguments) -> int:
    """Retain the sample talk, ask the sample questions, and print the answers and their times.

    The first time that a question is asked, it is embedded; after that its vector is remembered. So
    the two medians at the end show the cost of the model and the cost of recall itself.
    """
    from recollex.cli.demo.conversation import DOCUMENT, NOW, QUESTIONS, turns

    kept = arguments.store
    folder = nullcontext(kept) if kept else tempfile.TemporaryDirectory(prefix="recollex-")
    with folder as store_folder, recollex.open(store_folder) as store:
        agent = store.agent(arguments.agent)
        talk = turns()
        started = time.perf_counter()
        agent.retain_dialogue(talk, document_id=DOCUMENT)
        seconds = time.perf_counter() - started
        said = partial(print, file=sys.stderr) if arguments.json else print
        people = sorted({turn["speaker"] for turn in talk})
        first = talk[0]["at"].date()
        last = talk[-1]["at"].date()
        said(
            f"{arguments.agent} heard {counted(len(talk), 'turn')} of {', '.join(people)}\n"
            f"from {first} to {last}, and stored them in {seconds:.2f} s.\n"
        )
        agent.recall(_FIRST, now=NOW)
        recalls, agains = _ask(agent, None if arguments.json else arguments.top)
        firsts = [recall.trace.total for recall in recalls]
        said(
            f"p50 of a recall: {statistics.median(firsts):,.0f} µs with the question's embedding "
            f"({counted(len(firsts), 'question')}), {statistics.median(agains):,.0f} µs when "
            f"asked again ({counted(len(agains), 'time')})"
        )
        if arguments.json:
            found = [recall.to_dict() for recall in recalls]
            show(arguments, "", agent=arguments.agent, turns=len(talk), recalls=found)
        if kept:
            said(f'kept: recollex recall {kept} --agent {arguments.agent} "{QUESTIONS[0]}"')
    return 0


def _ask(agent: "recollex.Agent", top: int | None) -> "tuple[list[recollex.Recall], list[float]]":
    """Return the recall of each question, and microseconds of later ones; print the best ``top``.

    top: None prints nothing.
    """
    from recollex.cli.demo.conversation import NOW, QUESTIONS

    recalls: list[recollex.Recall] = []
    agains: list[float] = []
    for question in QUESTIONS:
        recall = agent.recall(question, now=NOW)
        recalls.append(recall)
        agains += [float(agent.recall(question, now=NOW).trace.total) for _ in range(_REPEATS)]
        if top is not None:
            print(f"? {question}\n")
            print(f"{recall_table(recall, top)}\n")
            print(f"{summary_lines(recall)}\n")
            print(f"{stage_table(recall.trace)}\n")
    return recalls, agains


COMMANDS = (
    Command(
        "demo",
        "watch an agent remember half a year of talk and answer from it",
        ["demo", "demo --store kept/", 'recall kept/ --agent workshop "Who has the van?"'],
        _demo_options,
        demo,
    ),
)
