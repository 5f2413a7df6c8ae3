"""bindings/SERVER.md is right: its server starts as typed, and its Python runs."""

import configparser
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from recollex.cli import subcommands
from recollex.remote.server.access import Access

BINDINGS = Path(__file__).parents[2] / "bindings"
PAGE = (BINDINGS / "SERVER.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.M | re.S)


def commands() -> list[str]:
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    return [line for line in lines if line.startswith("recollex ")]


def test_its_python_runs_beside_its_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code = "import sys; from recollex.cli import main; sys.exit(main(sys.argv[1:]))"
    words = shlex.split(commands()[0])[1:]
    roots = ":".join(str(BINDINGS.parent / root) for root in ("kernels", "engine", "bindings"))
    monkeypatch.setenv("PYTHONPATH", roots)
    with subprocess.Popen(
        [sys.executable, "-c", code, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as server:
        try:
            assert server.stdout is not None
            assert server.stdout.readline().endswith(b"/memory/socket\n")
            names: dict[str, object] = {}
            stores = []
            for block in blocks("python"):
                exec(compile(block, "SERVER.md", "exec"), names)
                stores.append(names["store"])
            for store in stores:
                store.close()  # type: ignore[attr-defined]
        finally:
            server.terminate()
            assert server.wait(60) == 0
    said = capsys.readouterr().out.splitlines()
    assert said == [
        "Alice joined Google in Mountain View.",
        "['Google']",
        "['Bob likes tea.', 'Bob plays the cello.']",
        "True",
    ]


@pytest.mark.parametrize("line", commands())
def test_its_commands_can_be_typed(line: str) -> None:
    subcommands.build().parse_args(shlex.split(line)[1:])


def test_its_tokens_are_tokens(tmp_path: Path) -> None:
    (told,) = blocks("toml")
    path = tmp_path / "tokens.toml"
    path.write_text(told)
    path.chmod(0o600)
    secret = tomllib.loads(told)["token"][0]["secret"]
    principal = Access.from_file(path).principal(secret)
    assert principal.reaches("alice") and principal.reaches("team-a")
    assert not principal.reaches("bob")


def test_the_pages_examples_serve() -> None:
    for example in re.findall(r"\]\((examples/[^)]+)\)", PAGE):
        assert (BINDINGS / example).exists()
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(BINDINGS / "examples" / "recollex.service")
    words = shlex.split(unit["Service"]["ExecStart"])
    subcommands.build().parse_args(words[1:])
    image = (BINDINGS / "examples" / "Containerfile").read_text("utf-8")
    entry, given = (re.findall(r'"([^"]+)"', line) for line in image.splitlines()[-2:])
    subcommands.build().parse_args([*entry, *given][1:])
