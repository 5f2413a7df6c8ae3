"""How right are the answers that a language model gives from an agent's memories?

Claim: none without a model: with one, F1, BLEU-1, exact match and a judge's verdict on LoCoMo,
LongMemEval, REALTALK, Complex-TR and Test of Time, as TEMPR 4.1, 4.2 and REMem 4 report them.

Command: python -m bench.answer_eval --data FOLDER --llm NAME [--llm-url URL] [--judge NAME]
    [--sets locomo complex_tr] [--banks N] [--limit N] [--max-tokens N] [--cache FOLDER]
    [--json FILE]
    python -m bench.answer_eval --data FOLDER --scripted     (no model: not a result)

Check: the metrics against an oracle, and a whole run against a scripted endpoint
(tests/bench/test_answer_eval.py). Every question is asked at its time, of the memories that it may
see; the model is shown what fits in --max-tokens. Where a set says that its bank holds no answer,
a refusal is right. A question whose model fails counts as wrong, and is counted. Sets whose files
are absent are named. --scripted stands where a model is not at hand: a script repeats the first
memory, which shows that the way runs.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import recollex
from bench.datasets import complex_tr, locomo, longmemeval, realtalk, test_of_time
from bench.datasets.bank import Bank, Query
from bench.lib.answer_metrics import (
    REFUSAL,
    bleu_1,
    exact_match,
    exact_without_spaces,
    is_refusal,
    normal,
    token_f1,
)
from bench.lib.answering import VERSION, ask, judge
from bench.lib.counting_endpoint import counting_endpoint
from bench.lib.kept_vectors import KeptVectors
from bench.tables.lib.evaluation import asked, open_store
from bench.tables.lib.metrics import bootstrap
from bench.tables.lib.report import Cell, Section, Table, arguments, keep
from recollex.errors import LanguageModelError

SETS: dict[str, Callable[[Path], list[Bank]]] = {
    "locomo": locomo.load,
    "longmemeval": longmemeval.load,
    "realtalk": realtalk.load,
    "complex_tr": complex_tr.load,
    "test_of_time": test_of_time.load,
}
MEASURES = ("F1", "BLEU-1", "EM", "judge")
SCRIPT = "scripted"
NOT_A_RESULT = (
    "NOT A RESULT: a script answered, which repeats the first memory. It shows that the way runs."
)


@dataclass(frozen=True, slots=True)
class Answered:
    """A question, the answer, and its measures. failed: the model gave none."""

    query: Query
    answer: str
    values: Mapping[str, float]
    failed: bool = False


@dataclass(slots=True)
class Evaluation:
    """The answers of each set, and the sets that were not there."""

    answers: dict[str, list[Answered]] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)


def main() -> None:
    given = _parser().parse_args()
    with _models(given) as (model, critic):
        found = evaluate(
            given.data,
            given.sets,
            model,
            critic,
            banks=given.banks,
            limit=given.limit,
            max_tokens=given.max_tokens,
        )
        keep(table(found, given.scripted, model, critic, given.max_tokens), given.json)


def evaluate(
    data: Path,
    sets: Sequence[str],
    model: recollex.LanguageModel,
    critic: recollex.LanguageModel | None,
    *,
    banks: int | None = None,
    limit: int | None = None,
    max_tokens: int = 4096,
    embedder: Any = None,
) -> Evaluation:
    """Ask the questions of sets, and measure the answers.

    critic: the model that judges; None for no verdicts. banks: the first of each set. limit: the
    first questions of each bank.
    """
    found, embedder = Evaluation(), KeptVectors() if embedder is None else embedder
    for name in sets:
        try:
            loaded = SETS[name](data)[:banks]
        except FileNotFoundError as error:
            files = str(error).rpartition(" in ")[0]  # without the folder of this machine
            found.absent.append(f"{name}: {files} in its folder")
            continue
        found.answers[name] = [
            answered
            for bank in loaded
            for answered in _answers(bank, name, model, critic, limit, max_tokens, embedder)
        ]
    return found


def _answers(
    bank: Bank,
    name: str,
    model: recollex.LanguageModel,
    critic: recollex.LanguageModel | None,
    limit: int | None,
    max_tokens: int,
    embedder: Any,
) -> Iterator[Answered]:
    with TemporaryDirectory() as folder, open_store(folder, embedder) as store:
        agent = store.agent(bank.name)
        for number, query in enumerate(asked(agent, bank)):
            if limit is not None and number >= limit:
                return
            recall = agent.recall(query.text, max_tokens=max_tokens, now=query.asked_at)
            try:
                said = ask(model, query.text, recall.to_prompt(0), f"{query.asked_at:%B %d, %Y}")
                values = measured(name, query, said)
                if critic is not None:
                    verdict = judge(critic, query.text, query.answers, said)
                    values["judge"] = float(verdict.right)
            except LanguageModelError:
                yield Answered(query, "", dict.fromkeys(MEASURES, 0.0), failed=True)
                continue
            yield Answered(query, said, values)


def measured(name: str, query: Query, said: str) -> dict[str, float]:
    """Return the measures of an answer; where there is no answer, a refusal is right."""
    if not query.answerable or not query.answers:
        return dict.fromkeys(("F1", "BLEU-1", "EM"), float(is_refusal(said)))
    exact = exact_without_spaces if name == "test_of_time" else exact_match
    return {
        "F1": token_f1(said, query.answers),
        "BLEU-1": bleu_1(said, query.answers),
        "EM": exact(said, query.answers),
    }


def table(
    found: Evaluation,
    scripted: bool,
    model: recollex.LanguageModel,
    critic: recollex.LanguageModel | None,
    max_tokens: int,
) -> Table:
    sections = []
    for name, answers in found.answers.items():
        categories = sorted({each.query.category for each in answers})
        rows = [_row("all", answers)]
        rows += [
            _row(category, [each for each in answers if each.query.category == category])
            for category in categories
        ]
        sections.append(Section(name, rows))
    remarks = [NOT_A_RESULT] if scripted else []
    remarks += [f"not run, {each}" for each in found.absent]
    settings = {
        "model": model.name,
        "judge": None if critic is None else critic.name,
        "prompts": VERSION,
        "max_tokens": max_tokens,
        "tokens": {name: used.prompt_tokens for name, used in model.usage.items()},
    }
    claim = NOT_A_RESULT if scripted else "Answers from an agent's memories, by set and category."
    return Table("answer_eval", claim, sections, remarks, settings)


def _row(category: str, answers: Sequence[Answered]) -> dict[str, Cell]:
    row: dict[str, Cell] = {"category": category, "questions": len(answers)}
    for measure in MEASURES:
        values = [each.values[measure] for each in answers if measure in each.values]
        row[measure] = bootstrap(np.array(values)) if values else "-"
    row["refusals"] = sum(is_refusal(each.answer) for each in answers if not each.failed)
    row["failed"] = sum(each.failed for each in answers)
    return row


def scripted_answer(sent: Mapping[str, Any]) -> str:
    """Return what the script says: the first memory, or whether two answers are the same words."""
    text = sent["messages"][-1]["content"]
    if "The answer to judge: " in text:
        right, said = text.split("The right answer: ")[1].split("\nThe answer to judge: ")
        same = any(normal(each) == normal(said) for each in right.split(" / "))
        return json.dumps({"right": same, "reason": "compared as words"})
    memories = text.split("Memories:\n")[1].split("\n\nIt is ")[0]
    first = memories.splitlines()[0] if memories != "(none)" else REFUSAL
    return str(first.split("] ", 1)[-1])


@contextmanager
def _models(
    given: argparse.Namespace,
) -> Iterator[tuple[recollex.LanguageModel, recollex.LanguageModel | None]]:
    with counting_endpoint(scripted_answer) if given.scripted else nullcontext() as served:
        options = {
            "base_url": given.llm_url if served is None else served.url,
            "cache": given.cache,
        }
        name = SCRIPT if given.scripted else given.llm
        judging = SCRIPT if given.scripted else given.judge
        with recollex.llm(name, **options) as model:
            if judging is None:
                yield model, None
            else:
                with recollex.llm(judging, **options) as critic:
                    yield model, critic


def _parser() -> argparse.ArgumentParser:
    parser = arguments(__doc__.splitlines()[0])
    add = parser.add_argument
    add("--sets", nargs="+", choices=SETS, default=list(SETS), metavar="NAME", help="of these sets")
    add("--llm", metavar="NAME", help="the model that answers (RECOLLEX_LLM_MODEL)")
    add("--llm-url", metavar="URL", help="its endpoint (RECOLLEX_LLM_BASE_URL)")
    add("--judge", metavar="NAME", help="the model that judges, at the same endpoint")
    add("--cache", type=Path, metavar="FOLDER", help="answers are kept here: a run can go on")
    add("--banks", type=int, metavar="N", help="the first N banks of each set")
    add("--max-tokens", type=int, default=4096, metavar="N", help="of memories shown (4096)")
    add("--scripted", action="store_true", help="a script answers: not a result")
    return parser


if __name__ == "__main__":
    main()
