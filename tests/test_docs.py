"""What the Markdown pages say is so: their links, their Python and their command lines."""

import argparse
import ast
import io
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

from recollex.cli import main, subcommands

ROOT = Path(__file__).parents[1]


def found(pattern: str) -> list[str]:
    """Return the pages whose paths match, from the root of the repository."""
    return sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern))


PAGES = [
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    *found("docs/**/*.md"),
    *found("bindings/*.md"),
    "engine/LOG.md",
    "bindings/js/README.md",
    *found("bench/**/README.md"),
]
RUNS = found("bench/runs/*/*.md")
MOST_BYTES = {"README.md": 9 * 1024, "ARCHITECTURE.md": 10 * 1024}
# tests/bindings/test_server_page.py and tests/bindings/js/test_js.py start servers for these.
OWN_TESTS = {"bindings/CLUSTER.md", "bindings/SERVER.md", "bindings/js/README.md"}
LASTING = {"mcp", "serve", "studio", "top"}  # subcommands that go on until they are ended
INSTALLING = (["pip", "install"], ["npm", "install"], ["git", "clone"])
RUN_ELSEWHERE = (["npx", "@modelcontextprotocol/conformance"],)  # test_mcp_peers.py


def text_of(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text_of(page), re.M | re.S)


def lines_of(page: str) -> list[str]:
    lines = (line for block in blocks(page, "sh") for line in block.splitlines())
    return [line.split(" #")[0].strip() for line in lines if line.strip()]


def shell_lines() -> list[str]:
    return [line for page in PAGES for line in lines_of(page)]


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", text_of("Makefile"), re.M))


def with_python() -> list[str]:
    return [page for page in PAGES if blocks(page, "python") and page not in OWN_TESTS]


def with_commands() -> list[str]:
    lines = {page: lines_of(page) for page in PAGES if page not in OWN_TESTS}
    return [page for page, own in lines.items() if any("recollex " in line for line in own)]


class Printed:
    """Stands in for ``print``: keeps what each line of a snippet printed first."""

    def __init__(self) -> None:
        self.by_line: dict[int, str] = {}

    def __call__(self, *values: object) -> None:
        line = sys._getframe(1).f_lineno
        self.by_line.setdefault(line, " ".join(map(str, values)))


def test_pages_with_something_to_run_are_found() -> None:
    assert "README.md" in with_python() and "README.md" in with_commands()


@pytest.mark.parametrize("page", with_python())
def test_the_python_of_a_page_runs(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for snippet in blocks(page, "python"):
        names["print"] = printed = Printed()
        exec(compile(snippet, page, "exec"), names)
        for number, line in enumerate(snippet.splitlines(), 1):
            if expected := re.fullmatch(r" *print\(.*\)  # (.*)", line):
                parts = map(re.escape, re.split(r" ?\.\.\. ?", expected[1]))
                assert re.match(".*".join(parts), printed.by_line[number], re.S), line


def commands(line: str) -> Iterator[list[str]]:
    """Yield the words of each command of a line, of those that a pipe joins."""
    words: list[str] = []
    for word in [*shlex.split(line), "|"]:
        if word == "|":
            yield words
            words = []
        else:
            words.append(word)


@pytest.mark.parametrize("page", with_commands())
def test_the_command_lines_of_a_page_work_in_order(
    page: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for line in lines_of(page):
        given = ""
        for words in commands(line):
            if words[0] == "echo":
                given = " ".join(words[1:]) + "\n"
            elif words[0] == "recollex" and words[1] not in LASTING:
                stdin = io.TextIOWrapper(io.BytesIO(given.encode()), "utf-8")
                monkeypatch.setattr(sys, "stdin", stdin)
                assert main(words[1:]) == 0, (line, capsys.readouterr())
                given = capsys.readouterr().out


@pytest.mark.parametrize("line", shell_lines())
def test_a_shell_line_can_be_typed(line: str) -> None:
    for words in commands(line):
        if words[0] == "make":
            goals = {word for word in words[1:] if "=" not in word}
            assert goals and goals <= targets()
        elif words[0] == "recollex":
            subcommands.build().parse_args(words[1:])  # leaves with a message when it is wrong
        else:
            known = (*INSTALLING, *RUN_ELSEWHERE)
            assert words[:2] in known or words[0] in {"cd", "echo"}


def test_examples_in_help_can_be_typed() -> None:
    parser = subcommands.build()
    actions = parser._actions
    (choices,) = (a for a in actions if isinstance(a, argparse._SubParsersAction))
    for name, command in choices.choices.items():
        examples = re.findall(r"^  recollex (.*)$", command.epilog, re.M)
        assert any(shlex.split(line)[0] == name for line in examples), name
        for line in examples:
            for part in line.split(" | recollex "):
                words = shlex.split(re.split(r" [<>]", part)[0])
                parser.parse_args(words)


@pytest.mark.parametrize("page", [*PAGES, *RUNS])
def test_links_resolve(page: str) -> None:
    text = re.sub(r"^```.*?^```", "", text_of(page), flags=re.M | re.S)
    inline = re.findall(r"\]\(([^)\s]+)\)", text)
    defined = dict(re.findall(r"^\[([^\]]+)\]: (\S+)$", text, re.M))
    for target in [*inline, *defined.values()]:
        if not re.match(r"[a-z]+:", target):
            path, _, anchor = target.partition("#")
            linked = (ROOT / page).parent / unquote(path) if path else ROOT / page
            assert linked.exists(), target
            assert not anchor or anchor in anchors(linked), target
    assert set(re.findall(r"\]\[(\w+)\]", text)) <= set(defined)


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", *found("docs/**/*.md")])
def test_paths_named_in_a_page_exist(page: str) -> None:
    for path in re.findall(r"`((?:kernels|engine|bindings|tests|bench)/[\w./-]*)`", text_of(page)):
        assert (ROOT / path).exists(), path


def test_files_in_the_pictures_of_architecture_exist() -> None:
    tree = {path for root in ("kernels", "engine", "bindings") for path in found(f"{root}/**/*.py")}
    for path in re.findall(r"(?<![\w/])\w[\w/]*/\w+\.py", text_of("ARCHITECTURE.md")):
        assert (ROOT / path).exists() or any(own.endswith(f"/{path}") for own in tree), path


@pytest.mark.parametrize("page", sorted(MOST_BYTES))
def test_a_page_is_short_enough_to_be_read(page: str) -> None:
    assert len((ROOT / page).read_bytes()) <= MOST_BYTES[page]


def latencies() -> list[tuple[str, str, str]]:
    """Return (page of a run, p50, p99), in ms as written, for each row of the README's table."""
    text = text_of("README.md")
    runs = dict(re.findall(r"^\[(\w+)\]: (bench/runs/\S+)$", text, re.M))
    row = r"^\| \[.*\]\[(\w+)\].* \| .* \| ([\d.]+) \| ([\d.]+) \| .* \|$"
    return [(runs[run], p50, p99) for run, p50, p99 in re.findall(row, text, re.M)]


def is_rounded(written: str, cell: str) -> bool:
    """Return whether ``written``, in ms, is what a cell of a run's table holds, in ms or us."""
    half = 0.51 * 10 ** -len(written.partition(".")[2])
    if not re.fullmatch(r"\d[\d,]*\.?\d*", cell):
        return False
    measured = float(cell.replace(",", ""))
    return any(abs(value - float(written)) <= half for value in (measured, measured / 1000))


def test_the_latencies_of_the_readme_are_those_of_its_runs() -> None:
    assert len(latencies()) >= 15
    for page, p50, p99 in latencies():
        rows = [line.strip("| ").split(" | ") for line in text_of(page).splitlines()]
        assert any(
            is_rounded(p50, cells[place]) and is_rounded(p99, cells[place + 2])
            for cells in rows
            for place in range(len(cells) - 2)  # p50, p95, p99
        ), (page, p50, p99)


def test_every_page_of_docs_is_in_its_index() -> None:
    linked = set(re.findall(r"\]\(([^)\s#]+)\)", text_of("docs/README.md")))
    assert {page.removeprefix("docs/") for page in found("docs/**/*.md")} - {"README.md"} <= linked


def test_every_promise_names_its_test() -> None:
    table = text_of("docs/reliability.md").partition("\n## Promises\n")[2]
    rows = re.findall(r"^\| (?!\*\*|promise )(.+?) \| (.+?) \|$", table, re.M)
    assert len(rows) >= 15
    for promise, tests in rows:
        paths = re.findall(r"\(\.\./(tests/\S+\.py)\)", tests)
        assert paths, promise
        for path in paths:
            assert (ROOT / path).is_file(), path


def test_the_changelog_has_an_entry_for_this_version() -> None:
    version = tomllib.loads(text_of("pyproject.toml"))["project"]["version"]
    assert re.search(rf"^## {re.escape(version)}\b", text_of("CHANGELOG.md"), re.M)


COUNTED_PAGES = ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "docs/*.md")
MOST_BYTES_OF_DOCS = 220 * 1024
"""Of the pages of docs, CHANGELOG, README and ARCHITECTURE together."""


def without_code(text: str) -> str:
    """Return a page without its blocks and words of code, and without the targets of links."""
    return re.sub(r"^```.*?^```|`[^`\n]*`|\]\([^)]*\)", "", text, flags=re.M | re.S)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_writes_figures_as_english_does(page: str) -> None:
    text = without_code(text_of(page))
    assert not re.findall(r".*(?<![\w.])\.\d.*", text), "0.83, not .83"
    assert not re.findall(r".*\bin turns\b.*", text), "alternately"
    assert not re.findall(r".*\d of (?:its|the) time\b.*", text), "17 % faster, or 0.83x"


@pytest.mark.parametrize("path", found("bench/**/*.py"))
def test_a_docstring_of_a_bench_writes_figures_as_english_does(path: str) -> None:
    tree = ast.parse(text_of(path))
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            text = re.sub(r"`[^`]*`", "", str(node.value.value))
            assert not re.findall(r".*(?<![\w.*])\.\d.*", text), "0.83, not .83"
            assert not re.findall(r".*\bin turns[,.].*", text), "alternately"


def test_the_docs_are_short_enough_together() -> None:
    pages = [*found("docs/**/*.md"), "CHANGELOG.md", "README.md", "ARCHITECTURE.md"]
    assert sum(len((ROOT / page).read_bytes()) for page in pages) <= MOST_BYTES_OF_DOCS


WORDS = (
    *("one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
NOUNS = (
    "modules|commands|subcommands|tests|endpoints|tools|formats|frameworks|adapters|files|packages"
    "|roots|columns|dictionaries|kinds|types|levels|presets|arms|papers|sets|stages|kernels|options"
    "|recipes|pages|methods|languages|scenarios|parts|folders|extras|embedders|operators|prompts"
)
COUNT = re.compile(
    rf"(?<![\w.,])(\d+(?:,\d{{3}})*|(?i:{'|'.join(WORDS)})) ((?:[a-z]+ )?(?:{NOUNS}))\b"
)
LIMITS = {
    ("docs/imports.md", "files"),  # of an archive
    ("docs/reliability.md", "states"),
    ("docs/episodic.md", "parts"),  # of an answer, in TISER
    ("docs/adapters.md", "tools"),  # that edit one agent at once
    ("docs/storage.md", "files"),  # that a write touches
}
"""Numbers that are no counts of what there is: bounds, and what a run did."""


def number(word: str) -> int:
    return WORDS.index(word.lower()) + 1 if word.lower() in WORDS else int(word.replace(",", ""))


def counts() -> dict[tuple[str, str], int]:
    """Return what each statement of a page that counts something must say, by page and noun."""
    from bench.datasets import CASES, LOADERS
    from recollex import presets
    from recollex_engine.text.entity_types import ENTITY_TYPES

    roots = ("kernels", "engine", "bindings")
    packages = [path for root in roots for path in found(f"{root}/*/__init__.py")]
    listed = re.findall(r"^\| [^|]*\| `pip install", text_of("docs/adapters.md"), re.M)
    return {
        ("README.md", "data sets"): len(LOADERS),
        ("README.md", "sets"): len(LOADERS) + len(CASES),
        ("README.md", "arms"): len(presets.default.arms),
        ("CHANGELOG.md", "arms"): len(presets.tempr.arms),
        ("ARCHITECTURE.md", "packages"): len(packages),
        ("ARCHITECTURE.md", "source roots"): len(roots),
        ("CHANGELOG.md", "papers"): len(re.findall(r"^## ", text_of("docs/papers.md"), re.M)),
        ("docs/papers.md", "papers"): len(re.findall(r"^## ", text_of("docs/papers.md"), re.M)),
        ("CHANGELOG.md", "agent frameworks"): len(listed),
        ("docs/entities.md", "types"): len(ENTITY_TYPES),
    }


def test_what_a_page_counts_is_computed() -> None:
    expected = counts()
    met = set()
    for page in [each for pattern in COUNTED_PAGES for each in found(pattern)]:
        for written, noun in COUNT.findall(without_code(text_of(page)).replace("\n", " ")):
            if (page, noun) in LIMITS or (page, noun) == ("ARCHITECTURE.md", "modules"):
                continue  # tests/bench/test_code_size.py counts modules
            assert (page, noun) in expected, f"{page} counts {noun}: compute it here"
            met.add((page, noun))
            assert number(written) == expected[page, noun], (page, noun, written)
    assert met == expected.keys()


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub writes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
