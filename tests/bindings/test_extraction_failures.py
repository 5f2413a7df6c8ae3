"""What becomes of a chunk for which the language model gives no facts."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import recollex
import recollex.aio
from tests.bindings.extraction_script import (
    TALK,
    echo,
    extracting,
    fact,
    facts,
)
from tests.bindings.word_vectors import WordVectors
from tests.scripted_llm import Step, error, scripted

if find_spec("openai") is None or find_spec("pydantic") is None:
    pytest.skip("needs the extra: recollex[llm]", allow_module_level=True)


REFUSAL = Step(None, refusal="I will not.")
MALFORMED = Step('{"facts": [{"text": "Ben')
CUT = Step('{"facts": [', finish="length")


@pytest.mark.parametrize(
    ("step", "reason"),
    [(REFUSAL, "refused"), (MALFORMED, "malformed"), (CUT, "truncated")],
)
def test_a_chunk_without_an_answer_waits_and_is_asked_about_again(
    tmp_path: Path, step: Step, reason: str
) -> None:
    answers = [step, step, echo]

    def script(sent: Any) -> Step:
        now = answers.pop(0) if answers[1:] else answers[0]
        return now(sent) if callable(now) else now

    with extracting(tmp_path, script) as (ada, _):
        if reason == "refused":
            answers.pop(0)  # a refusal is not repaired
        ada.retain_dialogue(TALK, document_id="call")
        with pytest.warns(RuntimeWarning, match="gave no facts"):
            done = ada.extract()
        assert done == recollex.Extraction(failed={reason: 1})
        assert ada.facts.count() == 0
        (job,) = ada.jobs.find()
        assert (job.status, job.reason, job.attempts, job.model) == ("failed", reason, 1, "m")
        again = ada.extract()  # asks the model again
        assert len(again.facts) == 4 and ada.jobs.find() == []


def test_an_answer_that_does_not_fit_is_repaired(tmp_path: Path) -> None:
    with extracting(tmp_path, [MALFORMED, facts(fact("Ben moved to Rome.", "m2"))]) as (ada, _):
        ada.retain_dialogue(TALK, document_id="call")
        assert len(ada.extract().facts) == 1


@pytest.mark.parametrize("status", [429, 500, 401])
def test_a_model_that_is_away_is_asked_once_and_the_rest_waits(tmp_path: Path, status: int) -> None:
    away = [True]

    def script(sent: Any) -> Step:
        return error(status) if away[0] else echo(sent)

    with extracting(tmp_path, script) as (ada, served):
        for day in range(3):
            ada.retain_dialogue(TALK, document_id=f"call-{day}")
        with pytest.warns(RuntimeWarning, match="is away") as told:
            done = ada.extract()
        assert len([each for each in told if "is away" in str(each.message)]) == 1
        assert (done.chunks, sum(done.failed.values()), done.facts) == (0, 3, ())
        assert len(served.asked) <= 2  # the attempts of the first chunk
        assert {job.status for job in ada.jobs.find()} == {"failed"}
        with pytest.warns(RuntimeWarning, match="is away"):
            again = ada.extract()  # the first alone was asked about, and failed again
        assert sum(again.failed.values()) == 1
        assert [job.attempts for job in ada.jobs.find()] == [2, 1, 1]
        away[0] = False
        assert len(ada.extract().facts) == 12 and ada.jobs.find() == []


def test_a_slow_model_is_given_up(tmp_path: Path) -> None:
    with (
        scripted([Step({"facts": []}, wait=1.0)]) as served,
        recollex.llm("m", base_url=served.url, deadline=0.1) as llm,
        recollex.open(tmp_path, embedder=WordVectors(), llm=llm) as store,
    ):
        ada = store.agent("ada")
        ada.retain_dialogue(TALK, document_id="call")
        with pytest.warns(RuntimeWarning, match="did not answer within"):
            assert ada.extract().failed == {"deadline": 1}


def test_a_cancelled_call_records_nothing_of_the_chunk(tmp_path: Path) -> None:
    with (
        extracting(tmp_path, [Step({"facts": []}, wait=0.5)]) as (ada, _),
        recollex.Cancellation() as token,
    ):
        ada.retain_dialogue(TALK, document_id="call")
        token.cancel()
        with pytest.raises(recollex.errors.LanguageModelError, match="cancelled"):
            ada.extract()
        assert [job.status for job in ada.jobs.find()] == ["waiting"]


def test_a_turn_that_is_forgotten_meanwhile_gives_no_fact(tmp_path: Path) -> None:
    forgets: list[recollex.Agent] = []

    def script(sent: Any) -> Step:
        for ada in forgets:
            ada.forget(document_id="call")
        return echo(sent)

    with extracting(tmp_path, script) as (ada, _):
        ada.retain_dialogue(TALK, document_id="call")
        forgets.append(ada)
        assert ada.extract() == recollex.Extraction()
        assert ada.count() == 0 and ada.jobs.find(status=["waiting", "done"]) == []
