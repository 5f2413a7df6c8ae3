"""The subcommands for maintenance: head, verify, checkpoint, reembed."""

import time

import recollex
from recollex.api.keys import given_key, write_key
from recollex.api.plurals import counted
from recollex.cli import backup_commands
from recollex.cli.existing_store import existing_agent, existing_store, is_unknown
from recollex.cli.parser import Arguments
from recollex.cli.terminal import show
from recollex.cli.verification import print_verification
from recollex_engine.backup.manifest import is_backup
from recollex_engine.backup.opening import open_target
from recollex_engine.errors import InputError


def head(arguments: Arguments) -> int:
    """Print the end of an agent's log, for `verify --head`."""
    with existing_agent(arguments) as agent:
        if agent is None:
            return 1
        end = agent.head()
        at = None if end.recorded_at is None else end.recorded_at.isoformat()
        show(arguments, str(end), op=end.op, recorded_at=at, chain=end.chain)
        return 0


def verify(arguments: Arguments) -> int:
    """Check the log's chain, the columns and the index of an agent; 1 if they disagree."""
    if is_backup(open_target(arguments.store)):
        if arguments.head is not None:
            raise InputError(f"--head is of an agent's log, and {arguments.store} is a backup")
        return backup_commands.verify(arguments)
    if arguments.number is not None:
        raise InputError(f"--number is of a backup, and {arguments.store} is none")
    with existing_agent(arguments) as agent:
        if agent is None:
            return 1
        started = time.perf_counter()
        found = agent.verify(head=arguments.head)
        seconds = time.perf_counter() - started
        read = (
            f"{counted(found.operations, 'operation')}, {counted(found.memories, 'memory')}, "
            f"{counted(found.passages, 'passage')} ({seconds:.2f} s)"
        )
        return print_verification(found, arguments.agent, read, as_json=arguments.json)


def checkpoint(arguments: Arguments) -> int:
    """Move the tail of an agent into its index."""
    with existing_agent(arguments, write=True) as agent:
        if agent is None:
            return 1
        before = agent.stats().tail_passages
        agent.checkpoint()
        said = f"{arguments.agent}: {counted(before, 'passage')} folded into the index"
        show(arguments, said, passages=before)
        return 0


def reembed(arguments: Arguments) -> int:
    """Move an agent, or every agent of a store, to another model."""
    with existing_store(arguments) as store:
        if store is None:
            return 1
        names = store.agents()
    if arguments.agent is not None:
        if is_unknown(arguments.agent, names, arguments):
            return 1
        names = [arguments.agent]
    for name in names:
        made = recollex.reembed(
            *(arguments.store, name),
            embedder=arguments.model,
            threads=arguments.threads,
            key=given_key(arguments.key_file),
        )
        said = f"{name}: {counted(made, 'passage')} embedded with {arguments.model}"
        show(arguments, said, agent=name, passages=made, model=arguments.model)
    return 0


def key(arguments: Arguments) -> int:
    """Make a key, in a new file that its owner alone may read."""
    write_key(arguments.file)
    said = f"{arguments.file} has a new key: keep a copy of it where the store is not"
    show(arguments, said, file=arguments.file)
    return 0
