"""Run a piece of a test in a forked child."""

import os
import signal
from collections.abc import Callable


def in_child(work: Callable[[], object]) -> str:
    """Return what ``work`` returns in a forked child, as text; fail if it takes 20 s."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # a child that waits for a thread that it does not have is killed
        said = "raised nothing"
        try:
            said = str(work())
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        finally:
            os.write(theirs, said.encode())
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as pipe:
        said = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status == 0, f"the child ended with {status}, said {said!r}"
    return said
