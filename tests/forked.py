"""Run a piece of a test in a forked child."""

import os
import signal
import traceback
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


def is_killed(work: Callable[[], object], noted: Callable[[int], object]) -> bool:
    """Return whether SIGKILL ended a forked child, which otherwise ends after ``work``.

    It begins once ``noted`` has been called with its id. What raises there ends it with status 1.
    """
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(60)
            os.close(theirs)
            os.read(ours, 1)  # the end of the pipe: it was noted
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    os.close(ours)
    noted(child)
    os.close(theirs)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, -signal.SIGKILL), f"the child ended with {status}"
    return status == -signal.SIGKILL
