"""The command line: `recollex`.

Exit codes: 0 done; 1 nothing there (no store, no such agent, nothing that `recall`, `list` or
`facts` found or `forget` forgot, damage found by `verify`); 2 the call is wrong or could not be
done; 130 interrupted. `log`, `audit`, `diff` and `memosearch` say so where there is nothing, and
give 0.
"""

import atexit
import gc
import importlib
import os
import sys
from collections.abc import Sequence

from recollex.api.iso_times import find_zone
from recollex.cli.subcommands import COMMANDS, build
from recollex_engine.errors import RecollexError

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Return the exit code of one command line; ``argv`` is without the program's name."""
    if argv is None:
        relax_garbage_collector()
    parser = build()
    try:
        arguments = parser.parse_args(argv)
    except SystemExit as done:  # argparse has printed help, or what is wrong
        return int(done.code or 0)
    if arguments.version:
        return _version()
    if arguments.command is None:
        parser.print_help()
        return 0
    try:
        if getattr(arguments, "zone", None) is not None:
            find_zone(arguments.zone)
        code = COMMANDS[arguments.command].run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output, such as `head`, has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("recollex: interrupted", file=sys.stderr)
        return 130
    except RecollexError as error:
        print(f"recollex: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"recollex: {where}{error.strerror or error}", file=sys.stderr)
        return 2
    return code


def memowrite() -> int:
    """Run `recollex memowrite`, under the name of MemoTrace's command."""
    return main(["memowrite", *sys.argv[1:]])


def memoread() -> int:
    """Run `recollex memoread`, under the name of MemoTrace's command."""
    return main(["memoread", *sys.argv[1:]])


def memosearch() -> int:
    """Run `recollex memosearch`, under the name of MemoTrace's command."""
    return main(["memosearch", *sys.argv[1:]])


def relax_garbage_collector() -> None:
    """Save the garbage collector's time in a process that runs one command.

    Imported modules are not garbage. With the usual thresholds all of them are scanned again and
    again while they are imported, and once more when Python ends: a quarter of the time of
    `recollex recall`.
    """
    gc.set_threshold(100_000, 20, 100)
    atexit.register(gc.freeze)


def _version() -> int:
    metadata = importlib.import_module("importlib.metadata")  # a fifth of --help's time
    try:
        print(f"recollex {metadata.version('recollex')}")
    except ImportError:  # PackageNotFoundError is one
        print("recollex, run from its source and not installed")
    return 0
