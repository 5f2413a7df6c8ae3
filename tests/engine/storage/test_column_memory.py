"""Columns take no private memory for what their files hold."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

MAPS = Path("/proc/self/maps")
needs_maps = pytest.mark.skipif(not MAPS.exists(), reason="the system does not list its maps")


LIMITED = """
import resource, sys
import numpy as np
from pathlib import Path
from recollex_engine.storage.column import Column
path = Path(sys.argv[1])
resource.setrlimit(resource.RLIMIT_DATA, (400 << 20, 400 << 20))
columns = [Column("u1", path, 8 << 20) for _ in range(20)]
for column in columns:
    column.append(1)
    assert column.array[-1] == 1
"""


def test_columns_open_under_a_data_limit(tmp_path):
    np.zeros(8 << 20, np.uint8).tofile(tmp_path / "c")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    environment |= {"OPENBLAS_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-c", LIMITED, tmp_path / "c"], check=True, env=environment)


FIXED = """
import resource, sys
from pathlib import Path
from recollex_engine.storage.column import Column
path, fixed = Path(sys.argv[1]), sys.argv[2] == "fixed"
resource.setrlimit(resource.RLIMIT_DATA, (400 << 20, 400 << 20))
columns = [Column("u1", path, 64 << 20, fixed=fixed) for _ in range(20)]
for column in columns:
    column.extend([1] * 1000)
    assert column.array[-1] == 1 and column.array[5] == 0 and len(column) == (64 << 20) + 1000
mapped = Path("/proc/self/maps").read_text().count(path.name)
assert (mapped == 20) == fixed, mapped  # without a map the file would have to be copied
"""


@needs_maps
@pytest.mark.parametrize("kind", ["fixed", "changing"])
def test_the_pages_of_a_fixed_column_are_not_private_memory(tmp_path, kind):
    with (tmp_path / "column").open("wb") as file:
        file.truncate(64 << 20)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    environment |= {"OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", FIXED, tmp_path / "column", kind]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (run.returncode == 0) == (kind == "fixed"), run.stderr
    assert kind == "fixed" or "MemoryError" in run.stderr
