"""The subcommands for maintenance: head, verify, checkpoint, reembed."""

import time

import recollex
from recollex.api.keys import given_key, write_key
from recollex.api.plurals import counted
from recollex.cli import backup_commands
from recollex.cli.existing_store import existing_agent, existing_store
from recollex.cli.parser import Arguments
from recollex.cli.terminal import say
from recollex.cli.verification import print_verification
from recollex_engine.backup.manifest import is_backup
from recollex_engine.backup.opening import open_target


def head(arguments: Arguments) -> int:
    """Print the end of an agent's log, for `verify --head`."""
    with existing_agent(arguments) as agent:
        if agent is None:
            return 1
        print(agent.head())
        return 0


def verify(arguments: Arguments) -> int:
    """Check the log's chain, the columns and the index of an agent; 1 if they disagree."""
    if is_backup(open_target(arguments.store)):
        return backup_commands.verify(arguments)
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
        print(f"{arguments.agent}: {counted(before, 'passage')} folded into the index")
        return 0


def reembed(arguments: Arguments) -> int:
    """Move an agent, or every agent of a store, to another model."""
    with existing_store(arguments) as store:
        if store is None:
            return 1
        names = store.agents()
    if arguments.agent is not None:
        if arguments.agent not in names:
            say(f"there is no agent {arguments.agent!r} in {arguments.store}")
            return 1
        names = [arguments.agent]
    for name in names:
        made = recollex.reembed(
            *(arguments.store, name),
            embedder=arguments.model,
            threads=arguments.threads,
            key=given_key(arguments.key_file),
        )
        print(f"{name}: {counted(made, 'passage')} embedded with {arguments.model}")
    return 0


def key(arguments: Arguments) -> int:
    """Make a key, in a new file that its owner alone may read."""
    write_key(arguments.file)
    print(f"{arguments.file} has a new key: keep a copy of it where the store is not")
    return 0
