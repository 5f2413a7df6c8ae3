"""The tutorial is short; tests/test_docs.py runs it, and checks what it prints."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/tutorial.md"


def test_the_tutorial_takes_less_than_60_lines() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)
    lines = [line for block in blocks for line in block.splitlines() if line.strip()]
    assert 30 < len(lines) < 60
    assert sum("  # " in line and "print(" in line for line in lines) >= 5
