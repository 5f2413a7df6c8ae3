"""Which language model is meant: by arguments or the environment; what cannot be one."""

import os
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import pytest

import recollex
from recollex.errors import InputError, LanguageModelError
from tests.scripted_llm import Step, scripted

if find_spec("openai") is None or find_spec("pydantic") is None:
    pytest.skip("needs the extra: recollex[llm]", allow_module_level=True)

ASKED = [{"role": "user", "content": "Where is Bob?"}]


def test_arguments_or_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RECOLLEX_LLM_KEY", "OPENAI_API_KEY", "RECOLLEX_LLM_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InputError, match="RECOLLEX_LLM_MODEL"):
        recollex.llm()
    with pytest.raises(InputError, match="OpenAI needs a key"):
        recollex.llm("m")
    with scripted([Step("yes")]) as served:
        monkeypatch.setenv("RECOLLEX_LLM_MODEL", "from-env")
        monkeypatch.setenv("RECOLLEX_LLM_BASE_URL", served.url)
        monkeypatch.setenv("OPENAI_API_KEY", "not for others")
        with recollex.llm() as door:
            assert door.ask(ASKED).text == "yes"
        monkeypatch.setenv("RECOLLEX_LLM_KEY", "sesame")
        with recollex.llm() as door:
            door.ask(ASKED)
    assert [each["authorization"] for each in served.headers] == ["Bearer none", "Bearer sesame"]
    assert served.asked[0]["model"] == "from-env"


@pytest.mark.parametrize(
    ("given", "meant"),
    [("api_key", "key"), ("baseurl", "base_url"), ("timeout", "deadline"), ("cach", "cache")],
)
def test_an_option_that_it_does_not_know_is_named_with_what_is_meant(
    given: str, meant: str
) -> None:
    with pytest.raises(TypeError, match=rf"argument '{given}'\. Did you mean '{meant}'\?"):
        recollex.llm("m", **{given: "x"})


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"base_url": "localhost:8000"}, "http://"),
        ({"base_url": "http://ann:pw@h/v1"}, "password"),
        ({"deadline": 0}, "deadline"),
        ({"attempts": 0}, "attempts"),
        ({"concurrency": 0}, "concurrency"),
        ({"first_wait": -1}, "first_wait"),
        ({"price": 3}, "price"),
        ({"price": (1, -1)}, "price"),
        ({"key": "schlüssel"}, "ASCII"),
        ({"replay": "a", "record": "b"}, "replay"),
        ({"replay": "/nowhere/a"}, "cannot be read"),
        ({"model": "local:/nowhere/a.gguf"}, "no file"),
    ],
)
def test_what_cannot_be_used(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        recollex.llm(**({"model": "m", "key": "k"} | options))


def test_a_key_is_not_shown() -> None:
    door = recollex.llm("m", base_url="http://127.0.0.1:1/v1", key="sesame", attempts=1)
    assert "sesame" not in repr(door)
    with door, pytest.raises(LanguageModelError) as caught:
        door.ask(ASKED)
    assert "sesame" not in str(caught.value)


def test_importing_recollex_loads_no_model() -> None:
    code = (
        "import sys, recollex, recollex.cli; recollex.llm('m', base_url='http://127.0.0.1:1/v1');"
        "print(sorted({'openai', 'pydantic', 'httpx', 'xllamacpp'} & set(sys.modules)));"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert run.stdout.strip() == "[]", run.stderr
    code = "import sys, recollex; recollex.open; print('asyncio' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert run.stdout.strip() == "False", run.stderr
    code = "import sys, recollex; print('recollex_mind.llm' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert run.stdout.strip() == "False", run.stderr
