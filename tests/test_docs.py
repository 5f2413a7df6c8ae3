"""What README.md, ARCHITECTURE.md and CHANGELOG.md say is so."""

import argparse
import re
import shlex
import tomllib
from pathlib import Path
from urllib.parse import unquote

import pytest

from recollex.cli import subcommands

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "bench/README.md", "bindings/SERVER.md"]


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


def shell_lines() -> list[str]:
    lines = (line for page in PAGES for block in blocks(page, "sh") for line in block.splitlines())
    return [line.split(" #")[0].strip() for line in lines if line.strip()]


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))


def test_the_python_in_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    snippets = blocks("README.md", "python")
    assert snippets
    names: dict[str, object] = {}
    for snippet in snippets:
        exec(compile(snippet, "README.md", "exec"), names)


@pytest.mark.parametrize("line", shell_lines())
def test_a_shell_line_can_be_typed(line: str) -> None:
    words = shlex.split(line)
    if words[0] == "make":
        goals = {word for word in words[1:] if "=" not in word}
        assert goals and goals <= targets()
    elif words[0] == "recollex":
        subcommands.build().parse_args(words[1:])  # leaves with a message when it is wrong
    else:
        assert words[:2] in (["pip", "install"], ["git", "clone"]) or words[0] == "cd"


def test_examples_in_help_can_be_typed() -> None:
    actions = subcommands.build()._actions
    (commands,) = (a for a in actions if isinstance(a, argparse._SubParsersAction))
    for name, command in commands.choices.items():
        examples = re.findall(r"^  recollex (.*)$", command.epilog, re.M)
        assert any(shlex.split(line)[0] == name for line in examples), name
        for line in examples:
            for part in line.split(" | recollex "):
                words = shlex.split(re.split(r" [<>]", part)[0])
                subcommands.build().parse_args(words)


@pytest.mark.parametrize("page", PAGES)
def test_links_resolve(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not re.match(r"[a-z]+:", target):
            path, _, anchor = target.partition("#")
            linked = (ROOT / page).parent / unquote(path) if path else ROOT / page
            assert linked.exists(), target
            assert not anchor or anchor in anchors(linked), target


def test_paths_named_in_architecture_exist() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    for path in re.findall(r"`((?:kernels|engine|bindings|tests|bench)/[\w./-]*)`", text):
        assert (ROOT / path).exists(), path


def test_the_changelog_has_an_entry_for_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert re.search(
        rf"^## {re.escape(version)}\b", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M
    )


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub writes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
