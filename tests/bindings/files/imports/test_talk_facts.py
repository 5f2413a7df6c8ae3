"""Talks that are ingested with the facts that a language model draws from them."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

import recollex
from recollex_engine.errors import InputError
from tests.bindings.command_line import command_line
from tests.bindings.extraction_script import TALK, drawn, echo, extracting
from tests.bindings.files.imports.conftest import Ingest
from tests.scripted_llm import scripted

needs_llm = pytest.mark.skipif(
    find_spec("openai") is None or find_spec("pydantic") is None,
    reason="needs the extra: recollex[llm]",
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    told = [turn | {"id": f"t{place}"} for place, turn in enumerate(TALK)]
    path = tmp_path / "talk.json"
    path.write_text(json.dumps(told), "utf-8")
    return path


@needs_llm
def test_a_model_draws_the_facts_of_new_turns(tmp_path: Path, file: Path) -> None:
    with extracting(tmp_path / "memory", echo) as (ada, served):
        done = recollex.ingest(ada, file, facts=True, batch=1)
        assert (done.stored, done.facts) == (4, 4)
        assert [fact.metadata["evidence"] for fact in drawn(ada)] == [[f"t{n}"] for n in range(4)]
        again = recollex.ingest(ada, file, facts=True)
        assert (again.stored, again.facts, len(served.asked)) == (0, 0, 1)


def test_without_a_model_nothing_is_read(agent: recollex.Agent, file: Path) -> None:
    with pytest.raises(InputError, match="needs a language model"):
        recollex.ingest(agent, file, facts=True)
    assert agent.count() == 0
    assert recollex.ingest(agent, file).stored == 4 and agent.facts.count() == 0


def test_without_a_model_structured_facts_are_read(agent: recollex.Agent, ingest: Ingest) -> None:
    triple = {"subject": "Ann", "predicate": "lives in", "object": "Oslo", "start_time": "2001"}
    assert ingest(json.dumps(triple), "facts.jsonl", format="triples", facts=True).facts == 1
    assert agent.facts.count(subject="Ann", object="Oslo") == 1


def test_facts_are_true_or_false(agent: recollex.Agent, file: Path) -> None:
    with pytest.raises(InputError, match="facts must be True or False"):
        recollex.ingest(agent, file, facts=1)  # type: ignore[arg-type]


@needs_llm
def test_the_command_takes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("RECOLLEX_LLM_MODEL", raising=False)
    run = command_line(tmp_path, monkeypatch, capsys)
    line = json.dumps(TALK[1] | {"id": "t"})
    words = ("ingest", "memory", "-", "--document", "d", "--facts")
    code, out, errors = run(*words, stdin=line)
    assert (code, out) == (2, "") and "needs a language model" in errors
    with scripted(echo) as served:
        words = (*words, "--llm", "m", "--llm-url", served.url)
        assert run(*words, stdin=line)[1] == "1 memory stored for default, 1 fact\n"
        assert run(*words, stdin=line)[1] == "0 memories stored for default, 1 there already\n"
