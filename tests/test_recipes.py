"""CONTRIBUTING.md's recipes: each names its files, and an example of it works on a copy."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.recipes import RECIPES, Recipe

ROOT = Path(__file__).parents[1]
ROOTS = ("kernels", "engine", "bindings")
PAGE = ROOT.joinpath("CONTRIBUTING.md").read_text("utf-8")


def copied(folder: Path) -> None:
    """Make a copy of the packages in which each file is a link, with what Python compiled."""
    for root in ROOTS:
        for path, folders, files in os.walk(ROOT / root):
            target = folder / Path(path).relative_to(ROOT)
            target.mkdir(parents=True)
            for name in files:
                (target / name).symlink_to(Path(path) / name)
            if "__pycache__" in folders:
                (target / "__pycache__").symlink_to(Path(path) / "__pycache__")
            folders[:] = [each for each in folders if each not in ("__pycache__", "node_modules")]


def followed(recipe: Recipe, folder: Path) -> None:
    """Make the edits of a recipe in a copy."""
    for edit in recipe.edits:
        path = folder / edit.path
        anchor = edit.after or edit.before
        text = path.read_text("utf-8") if anchor else ""
        assert path.exists() == bool(anchor), path
        if anchor:
            assert text.count(anchor) == edit.times, (edit.path, anchor)
            both = anchor + edit.added if edit.after else edit.added + anchor
            text = text.replace(anchor, both)
            path.unlink()  # the link, not the file of the repository
        path.write_text(text or edit.added, "utf-8")


def section(title: str) -> str:
    found = re.search(rf"^### {re.escape(title)}\n(.*?)(?=^##|\Z)", PAGE, re.M | re.S)
    assert found is not None, title
    return found[1]


def cases() -> list[object]:
    return [
        pytest.param(recipe, id=recipe.title, marks=[pytest.mark.slow] if recipe.compiles else [])
        for recipe in RECIPES
    ]


@pytest.mark.parametrize("recipe", cases())
def test_a_recipe_works_on_a_copy(recipe: Recipe, tmp_path: Path) -> None:
    copied(tmp_path)
    followed(recipe, tmp_path)
    path = os.pathsep.join(str(tmp_path / root) for root in ROOTS)
    environment = os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", recipe.check],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.title)
def test_a_recipe_names_its_files(recipe: Recipe) -> None:
    named = set(
        re.findall(r"`((?:kernels|engine|bindings|tests)/[\w./]+\.py)`", section(recipe.title))
    )
    assert named == {edit.path for edit in recipe.edits}


def test_every_recipe_is_tried() -> None:
    recipes = PAGE.partition("## How is something added?\n")[2].partition("\n## ")[0]
    titles = re.findall(r"^### (.+)$", recipes, re.M)
    assert titles == [recipe.title for recipe in RECIPES]
