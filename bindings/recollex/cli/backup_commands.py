"""The subcommands about backups: backup, backups, restore; `verify` verifies them."""

import json
import time
from dataclasses import asdict

import recollex
from recollex.api.keys import given_key
from recollex.api.plurals import counted
from recollex.cli.existing_store import existing_store
from recollex.cli.parser import Arguments
from recollex.cli.terminal import printable, say, show
from recollex.cli.time_options import time_option
from recollex.cli.verification import print_verification


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


def backups(arguments: Arguments) -> int:
    """Print the backups of a target, one a line, oldest first."""
    for each in recollex.backups(arguments.target):
        at, operations = each.taken_at.isoformat(), sum(each.agents.values())
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


def restore(arguments: Arguments) -> int:
    """Make a store from a backup."""
    at = time_option(arguments, "at")
    done = recollex.restore(
        arguments.target,
        arguments.folder,
        at=at,
        agents=arguments.agent,
        number=arguments.number,
        key=given_key(arguments.key_file),
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


def verify(arguments: Arguments) -> int:
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
