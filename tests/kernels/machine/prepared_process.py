"""A process that has imported numba and runs scripts, each in a forked child of its own.

As a program it reads lines of JSON: a script, its environment and where what it prints goes. It
prints each script's exit status. To import numba and to fill its registries takes most of a second
of CPU, and the scripts compile for less. `recollex_kernels` is imported by none but the children.
"""

import json
import os
import sys
import traceback
import warnings

from numba.core.registry import cpu_target


def run(script: str, environment: dict[str, str], out: str) -> None:
    """Run a script as ``python -W error -c`` would, and end."""
    status = 1
    try:
        for number in (1, 2):
            os.dup2(os.open(f"{out}.{number}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        os.environ.clear()
        os.environ.update(environment)
        sys.path[:0] = environment["PYTHONPATH"].split(os.pathsep)
        sys.dont_write_bytecode = "PYTHONDONTWRITEBYTECODE" in environment
        warnings.simplefilter("error")
        exec(compile(script, "<script>", "exec"), {"__name__": "__main__"})
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def main() -> None:
    """Run the scripts until the input ends."""
    cpu_target.target_context.refresh()
    for line in sys.stdin:
        child = os.fork()
        if not child:
            run(*json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
