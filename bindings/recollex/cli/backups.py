"""The commands backup, backups and restore; `verify_backup` serves the command verify."""

import json
import time
from dataclasses import asdict

import recollex
from recollex.api.plurals import counted
from recollex.cli.existing_store import existing_store, key_of
from recollex.cli.options import add_key_file, add_store, add_zone, count, time_option
from recollex.cli.parser import Arguments, Command, Parser
from recollex.cli.terminal import print_verification, printable, say, show


def _backup_options(parser: Parser) -> None:
    add_store(parser)
    _add_target(parser)
    add = parser.add_argument
    add("--keep", type=count, metavar="N", help="afterwards remove all backups but the last N")
    add(
        "--fresh",
        action="store_true",
        help="read and write everything again, and take a store that went another way",
    )


def backup(arguments: Arguments) -> int:
    """Back up every agent of a store; 1 if one of them could not be read."""
    with existing_store(arguments) as store:
        if store is None:
            return 1
        run = store.backup(arguments.target, keep=arguments.keep, fresh=arguments.fresh)
    for problem in run.problems:
        say(f"not backed up as it is now: {problem}")
    for name in run.gone:
        say(f"no longer in {arguments.store}: {name} (backup {run.number - 1} has it)")
    show(
        arguments,
        f"backup {run.number} in {arguments.target}: {counted(run.agents, 'agent')}, "
        f"{counted(run.operations, 'operation')}, {run.new_operations:,} of them new; "
        f"{counted(run.objects, 'object')} of {counted(run.bytes, 'byte')} written",
        **asdict(run) | {"taken_at": run.taken_at.isoformat()},
    )
    return 1 if run.problems else 0


def _backups_options(parser: Parser) -> None:
    _add_target(parser)
    parser.add_argument("--json", action="store_true", help="print each as one JSON object")


def backups(arguments: Arguments) -> int:
    """Print the backups of a target, one a line, oldest first."""
    for each in recollex.backups(arguments.target):
        at = each.taken_at.isoformat()
        operations = sum(each.agents.values())
        if arguments.json:
            print(json.dumps(asdict(each) | {"taken_at": at}, ensure_ascii=False))
            continue
        held = f"{counted(len(each.agents), 'agent')}, {counted(operations, 'operation')}"
        line = f"{each.number:>6}  {at}  {held}"
        if note := {name: printable(said) for name, said in each.note.items()}:
            line += f"  {note['agent']} erased"
            if "by" in note:  # of an encrypted agent its log says so
                line += f" by {note['by']} ({note['why']})"
        print(line)
    return 0


def _restore_options(parser: Parser) -> None:
    _add_target(parser)
    add = parser.add_argument
    add("folder", metavar="DIR", help="the new store: not there yet, or without these agents")
    add("--at", metavar="TIME", help="a recorded time: 2024-05-01, or with a time (the last one)")
    add_zone(parser)
    add("--agent", action="append", metavar="NAME", help="only this one; may be given again")
    add("--number", type=count, metavar="N", help="of the backup (the newest)")
    add_key_file(parser)


def restore(arguments: Arguments) -> int:
    """Make a store from a backup."""
    at = time_option(arguments, "at")
    done = recollex.restore(
        arguments.target,
        arguments.folder,
        at=at,
        agents=arguments.agent,
        number=arguments.number,
        key=key_of(arguments),
    )
    if not done.agents:
        say(f"no agent had anything in it at {at}: nothing restored")
        return 1
    then = "" if at is None else f" as of {at.isoformat()}"
    show(
        arguments,
        f"{counted(len(done.agents), 'agent')}{then} restored to {arguments.folder}, with "
        f"{counted(sum(done.agents.values()), 'operation')} (backup {done.number} of "
        f"{done.taken_at.isoformat()})",
        **asdict(done) | {"taken_at": done.taken_at.isoformat()},
    )
    return 0


def _add_target(parser: Parser) -> None:
    parser.add_argument(
        "target",
        metavar="TARGET",
        help="the backup: a folder, or s3://, gs:// or az:// with bucket and prefix",
    )


def verify_backup(arguments: Arguments) -> int:
    """Read all of a backup; 1 if something is lost or damaged."""
    started = time.perf_counter()
    found = recollex.verify_backup(arguments.store, number=arguments.number)
    seconds = time.perf_counter() - started
    what = f"backup {found.number} in {arguments.store}"
    read = (
        f"{counted(found.agents, 'agent')}, {counted(found.operations, 'operation')}, "
        f"{counted(found.objects, 'object')} ({seconds:.2f} s)"
    )
    return print_verification(found, what, read, as_json=arguments.json)


COMMANDS = (
    Command(
        "backup",
        "copy what is new in a store to a backup, while others write",
        [
            "backup memory/ backup/",
            "backup memory/ backup/ --keep 7",
            "backup memory/ s3://bucket/memory",
        ],
        _backup_options,
        backup,
    ),
    Command(
        "backups",
        "list the backups that a folder holds",
        ["backups backup/"],
        _backups_options,
        backups,
    ),
    Command(
        "restore",
        "make a store from a backup, as it was at its end or at a time before",
        [
            "restore backup/ again/",
            "restore backup/ may/ --at 2024-05-31 --agent bob",
            "restore backup/ former/ --number 3",
        ],
        _restore_options,
        restore,
    ),
)
