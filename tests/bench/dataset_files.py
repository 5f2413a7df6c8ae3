"""Tiny files of data sets, and what their loaders made of them."""

import json
from pathlib import Path
from typing import Any

from bench.datasets.bank import Bank


def write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def by_id(bank: Bank) -> dict[str, Any]:
    return {turn["id"]: turn for turn in bank.turns}
