"""What each Python process that a test starts does first: save the time of importing and ending.

Python imports this module when it starts, for `tests/conftest.py` puts its folder on PYTHONPATH.
Such a process lives for a second or so, as one command of `recollex` does, and most of that is
imports. With the usual thresholds they are searched for garbage again and again, and once more when
the process ends.
"""

import atexit
import gc
import sys

gc.set_threshold(100_000, 20, 100)
atexit.register(gc.freeze)
sys.modules.setdefault("coverage", None)  # else numba imports it where it is installed
