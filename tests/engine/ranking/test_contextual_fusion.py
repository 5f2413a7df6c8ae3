"""The table of features: every kernel has an entry, every entry a run that shows it is needed."""

import ast
from dataclasses import fields
from pathlib import Path

import pytest

from recollex_engine.ranking.contextual_fusion import TABLE, Contextual
from recollex_kernels.fusing.features import NAMES

ROOT = Path(__file__).parents[3]
ENGINE = ROOT / "engine/recollex_engine"
TUNED = {
    "ranking/contextual_fusion.py": (
        *("KEYWORD_CONTEXT", "WIDENED", "MOMENT", "BURST", "RECENT", "SURE", "FEW_WORDS"),
    ),
    "state/postings.py": ("K1", "B"),
    "ranking/small_stores.py": ("CHANCE", "STEEPNESS", "FEW", "SIMILARITY"),
    "ranking/spelling.py": ("UNKNOWN", "LEAST"),
    "ranking/reordering.py": ("INSIDE", "SLACK"),
}
"""The numbers behind the default's order that were chosen by a measure, beside its weights.

Left out are bounds of cost (`HUB`, `REACH`, `FOLDED`, ...), numbers that a paper gives (`SEEDS`,
`ANCHORS`), and the semantic weight, which is the unit.
"""


def numbers_of(path: str) -> set[str]:
    """Return the names that a module of the engine assigns at its top."""
    tree = ast.parse((ENGINE / path).read_text())
    return {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def test_every_kernel_has_an_entry() -> None:
    assert set(TABLE) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_feature_has_a_weight_and_a_run(name: str) -> None:
    assert getattr(Contextual(), name) != 0
    assert (ROOT / TABLE[name].run).is_file()


def test_at_most_forty_numbers_are_tuned() -> None:
    for path, names in TUNED.items():
        assert numbers_of(path) >= set(names)
    weights = {each.name for each in fields(Contextual) if each.type is float}
    tuned = weights - {"semantic", "spelling"}
    assert len(tuned) + sum(map(len, TUNED.values())) <= 40
