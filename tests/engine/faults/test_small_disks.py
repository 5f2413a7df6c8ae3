"""A real file system of 500 KB fills up, and has space again."""

import os
import shutil
import subprocess
import sys

import pytest

CHILD = """
import os, sys, warnings
from pathlib import Path
from recollex_engine.errors import StoreFullError
from recollex_engine.writing import checkpoint
from tests.engine.faults.small_store import contents, answers, fill, opened

warnings.simplefilter("ignore", RuntimeWarning)
checkpoint.TAIL_ROWS = 64
place, durability = Path(sys.argv[1]), sys.argv[2]
(place / "ballast").write_bytes(bytes(150_000))
held, n, refused = [], 0, 0
with opened(place / "s", durability=durability) as agent:
    while refused < 30:
        count = (1, 5, 20)[n % 3]
        try:
            held += fill(agent, n, count)
        except StoreFullError:
            refused += 1
        if refused and n % 4 == 0:
            try:
                agent.checkpoint()
            except StoreFullError:
                pass
        n += count
    assert [id for id, _ in contents(agent)] == held
    answers(agent)
for read_only in (True, False):
    with opened(place / "s", read_only=read_only, durability=durability) as agent:
        assert [id for id, _ in contents(agent)] == held
        assert agent.verify().problems == ()
(place / "ballast").unlink()
with opened(place / "s", durability=durability) as agent:
    held += fill(agent, n, 20)
    agent.checkpoint()
    assert [id for id, _ in contents(agent)] == held
    assert agent.verify().problems == ()
print(len(held))
"""

MOUNT = 'mount -t tmpfs -o size=500k none "$0" && exec "$@"'


def on_small_disk(folder, *command):
    """Run a command that has a tmpfs of 500 KB at ``folder``, for itself alone."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.run(
        ["unshare", "-rm", "sh", "-c", MOUNT, folder, *command],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize("durability", ["always", "off"])
def test_a_file_system_that_fills_up_loses_nothing(tmp_path, durability):
    if shutil.which("unshare") is None or on_small_disk(tmp_path, "true").returncode:
        pytest.skip("no mounts without root here")
    done = on_small_disk(tmp_path, sys.executable, "-c", CHILD, tmp_path, durability)
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout) > 100
