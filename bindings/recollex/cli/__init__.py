"""The command line: `recollex`.

Exit codes: 0 done; 1 nothing there (no store, no such agent, nothing that `recall`, `list` or
`facts` found or `forget` forgot, damage found by `verify`); 2 the call is wrong or could not be
done; 130 interrupted. `log`, `audit`, `diff` and `memosearch` say so where there is nothing, and
give 0.
"""

import atexit
import builtins
import gc
import importlib
import keyword
import os
import sys
from collections.abc import Sequence

from recollex.api.iso_times import find_zone
from recollex.cli.subcommands import build
from recollex_engine.errors import RecollexError

__all__ = ["main"]

HOMES = {
    "demo": "recollex.cli.demo",
    "retain": "recollex.cli.write_commands",
    "ingest": "recollex.cli.ingesting",
    "apply": "recollex.cli.fact_commands",
    "memowrite": "recollex.cli.fact_commands",
    "memoread": "recollex.cli.fact_commands",
    "memosearch": "recollex.cli.fact_commands",
    "facts": "recollex.cli.facts_command",
    "recall": "recollex.cli.read_commands",
    "agents": "recollex.cli.agent_commands",
    "delete-agent": "recollex.cli.agent_commands",
    "list": "recollex.cli.read_commands",
    "graph": "recollex.cli.graph",
    "stats": "recollex.cli.read_commands",
    "export": "recollex.cli.moving_commands",
    "import": "recollex.cli.moving_commands",
    "log": "recollex.cli.history_commands",
    "audit": "recollex.cli.erasure_commands",
    "retention": "recollex.cli.retention_commands",
    "think": "recollex.cli.mind_commands",
    "investigate": "recollex.cli.mind_commands",
    "profile": "recollex.cli.mind_commands",
    "extract": "recollex.cli.mind_commands",
    "jobs": "recollex.cli.mind_commands",
    "resolve-entities": "recollex.cli.resolving",
    "undo": "recollex.cli.undoing",
    "consolidate": "recollex.cli.consolidating",
    "erase": "recollex.cli.erasure_commands",
    "amend": "recollex.cli.erasure_commands",
    "forget": "recollex.cli.erasure_commands",
    "diff": "recollex.cli.history_commands",
    "snapshot": "recollex.cli.history_commands",
    "replay": "recollex.cli.history_commands",
    "backup": "recollex.cli.backup_commands",
    "backups": "recollex.cli.backup_commands",
    "restore": "recollex.cli.backup_commands",
    "head": "recollex.cli.maintenance_commands",
    "verify": "recollex.cli.maintenance_commands",
    "doctor": "recollex.cli.doctor_command",
    "checkpoint": "recollex.cli.maintenance_commands",
    "reembed": "recollex.cli.maintenance_commands",
    "key": "recollex.cli.maintenance_commands",
    "completion": "recollex.cli.completion",
    "warmup": "recollex.cli.warmup",
    "serve": "recollex.cli.serve",
    "studio": "recollex.cli.studio",
    "mcp": "recollex.cli.mcp",
    "top": "recollex.cli.top",
    "models": "recollex.cli.models",
}
"""The module of each subcommand, imported when the subcommand runs. Its function has the
subcommand's name, with "_" for "-", and after a name that Python keeps for itself."""


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
        run = getattr(
            importlib.import_module(HOMES[arguments.command]), _function(arguments.command)
        )
        code = int(run(arguments))
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


def _function(command: str) -> str:
    taken = keyword.iskeyword(command) or hasattr(builtins, command)
    return f"{command}_" if taken else command.replace("-", "_")


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
