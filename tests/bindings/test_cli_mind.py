"""The subcommands think and profile."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.bindings.command_line import Shell, command_line
from tests.scripted_llm import Step, error, scripted

TOLD = ("Remote work saves two hours a day.", "Carol runs the maps team.")


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    for name in ("RECOLLEX_LLM_MODEL", "RECOLLEX_LLM_BASE_URL", "RECOLLEX_LLM_KEY"):
        monkeypatch.delenv(name, raising=False)
    run = command_line(tmp_path, monkeypatch, capsys)
    assert run("retain", "memory", *TOLD, "--at", "2024-05-01")[0] == 0
    return run


def test_a_profile_is_set_and_shown(shell: Shell) -> None:
    code, out, _ = shell("profile", "memory")
    assert code == 0 and "moderate emotional sensitivity" in out and "50% bias" in out
    shell("profile", "memory", "--neuroticism", "0.9", "--bias-strength", "1", "--by", "ann")
    code, out, _ = shell("profile", "memory", "--merge", "You were born in Texas.")
    assert code == 0 and out.splitlines()[-3:] == [
        "very high emotional sensitivity",
        "100% bias strength",
        "I was born in Texas.",
    ]
    _, out, _ = shell("profile", "memory", "--as-recorded", "2024-05-02", "--json")
    assert json.loads(out)["personality"]["neuroticism"] == 0.5
    assert shell("profile", "memory", "--openness", "2")[0] == 2
    assert shell("profile", "memory", "--agent", "nobody")[0] == 1
    log = shell("log", "memory")[1]
    assert "ann" in log


def test_without_a_model_it_says_what_is_missing(shell: Shell) -> None:
    code, out, errors = shell("think", "memory", "Who runs the maps team?")
    assert (code, out) == (1, "") and "--llm NAME" in errors
    code, out, _ = shell("think", "memory", "Who runs the maps team?", "--prompt")
    assert code == 0 and "[system]" in out and "Carol runs the maps team." in out
    code, out, _ = shell("think", "memory", "What is the capital of Peru?")
    assert code == 1 and out.startswith("I do not know. I looked for")


def labelled(sent: Any) -> str:
    """Return the label under which a prompt shows who runs the maps team."""
    lines = sent["messages"][1]["content"].splitlines()
    (line,) = [each for each in lines if each.endswith("Carol runs the maps team.")]
    return str(line[: line.index("]") + 1])


@pytest.mark.skipif(find_spec("openai") is None, reason="needs the extra: recollex[llm]")
def test_a_model_answers(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    opinion = {"text": "Carol is able.", "confidence": 0.8, "reasons": [], "evidence": []}

    def script(sent: Any) -> Step:
        if "response_format" in sent:
            return Step({"opinions": [opinion | {"supersedes": None}]})
        return Step(f"Carol runs it {labelled(sent)}.\x1b[2J")

    question = "Who runs the maps team?"
    with scripted(script) as served:
        llm = ("--llm", "m", "--llm-url", served.url)
        code, out, _ = shell("think", "memory", question, *llm)
        assert code == 0 and "\x1b" not in out
        assert out.startswith("Carol runs it [m") and "2024-05-01 Carol runs the maps team." in out
        listed = shell("list", "memory", "--network", "opinion")[1]
        assert "Carol is able." in listed
        listed = shell("jobs", "memory", "--status", "done")[1]
        assert "done opinions-1: 2 turns, 1 opinion\n" in listed
        monkeypatch.setenv("RECOLLEX_LLM_MODEL", "m")
        monkeypatch.setenv("RECOLLEX_LLM_BASE_URL", served.url)
        code, out, _ = shell("think", "memory", question, "--stream", "--no-opinions")
        assert code == 0 and out.startswith("Carol runs it [m") and "\x1b" not in out
        then = ("--as-recorded", "2024-05-02", "--json")
        code, out, _ = shell("think", "memory", question, *then)
        assert code == 1 and json.loads(out)["refused"]
    assert len(served.asked) == 3
    with scripted([error(401)]) as served, pytest.warns(RuntimeWarning, match="could not think"):
        code, _, _ = shell("think", "memory", question, "--llm", "m", "--llm-url", served.url)
    assert code == 1


def test_facts_are_drawn_and_jobs_listed(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, errors = shell("jobs", "memory")
    assert code == 0 and out.endswith("waiting narrative-1: 2 turns\n")
    assert "what waits needs a language model: recollex extract --llm NAME" in errors
    words = ("jobs", "memory", "--status", "done", "--status", "failed")
    none = "recollex: none: default has no jobs that are done or failed\n"
    assert shell(*words) == (0, "", none)
    code, out, errors = shell("extract", "memory")
    assert (code, out) == (2, "") and "extract needs a language model: --llm NAME" in errors
    with scripted([error(500)]) as served:
        options = ("--llm", "m", "--llm-url", served.url, "--mode", "atomic")
        monkeypatch.setattr("recollex_mind.llm.language_model.FIRST_WAIT", 0.01)
        with pytest.warns(RuntimeWarning, match="is away"):
            code, out, _ = shell("extract", "memory", *options)
        assert code == 1 and "failed failed: 1" in out
    code, out, _ = shell("jobs", "memory")  # without a model, too
    assert code == 1 and "failed atomic-1: 2 turns, failed, 1 attempt" in out
    with scripted([Step({"facts": []})]) as served:
        options = ("--llm", "m", "--llm-url", served.url, "--mode", "atomic")
        code, out, _ = shell("extract", "memory", *options, "--json")
        assert code == 0 and json.loads(out)["turns"] == 2
    code, out, _ = shell("jobs", "memory", "--status", "done", "--json")
    assert code == 0 and json.loads(out)["prompt"] == "atomic-1"
    assert shell("jobs", "memory")[2] == "recollex: none: default has no jobs that are left\n"
    assert shell("jobs", "memory", "--status", "lost")[0] == 2
    assert shell("jobs", "memory", "--agent", "nobody")[0] == 1


def test_entities_are_made_one(shell: Shell) -> None:
    code, out, errors = shell("resolve-entities", "memory")
    assert (code, out) == (0, "") and "no two entities" in errors
    shell("retain", "memory", "I met Carol Quinn.", "--at", "2024-05-02")
    told = "Carol is Carol Quinn (part, 0.90, by rule: a part of the name)\n"
    assert shell("resolve-entities", "memory", "--preview")[1] == told
    code, out, _ = shell("resolve-entities", "memory", "--by", "ann", "--json")
    said = json.loads(out)
    assert (said["source"], said["target"], said["same"]) == ("Carol", "Carol Quinn", True)
    assert "ann" in shell("log", "memory", "--op", "merge_entity")[1]
    assert shell("resolve-entities", "memory", "--agent", "nobody")[0] == 1


def test_investigate_says_what_is_missing_without_a_model(shell: Shell) -> None:
    code, out, errors = shell("investigate", "memory", "Who runs the maps team?")
    assert (code, out) == (2, "") and "--llm NAME" in errors and errors.count("\n") == 1
