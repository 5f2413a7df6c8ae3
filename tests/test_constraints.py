"""The versions that were tried together lie within the bounds that are declared."""

import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = ("languages", "llm", "http", "parquet", "cloud", "dev")


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    found = [Requirement(line) for line in lines if not line.startswith("#")]
    assert all([each.operator for each in pin.specifier] == ["=="] for pin in found)
    return {canonicalize_name(pin.name): str(pin.specifier)[2:] for pin in found}


def test_every_requirement_of_development_has_a_version_within_its_bounds() -> None:
    extras = PROJECT["optional-dependencies"]
    wanted = PROJECT["dependencies"] + [each for name in EXTRAS for each in extras[name]]
    held = pins()
    for requirement in map(Requirement, wanted):
        if requirement.name != "recollex":
            assert requirement.specifier.contains(held[canonicalize_name(requirement.name)])
