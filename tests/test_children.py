import subprocess
import sys

import pytest

STARTED = "import gc, sys; print(gc.get_threshold()[0], sys.modules.get('coverage', 'free'))"


@pytest.mark.parametrize("path", [None, ":".join(sys.path)])
def test_a_process_that_a_test_starts_seldom_looks_for_garbage(
    path: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if path is not None:
        monkeypatch.setenv("PYTHONPATH", path)
    run = [sys.executable, "-c", STARTED]
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout == "100000 None\n"
