"""The commands for whole agents and stores: which there are, and whether they are sound."""

import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

import recollex
from recollex.api.plurals import counted
from recollex.cli.backups import verify_backup
from recollex.cli.existing_store import (
    existing_agent,
    existing_store,
    is_missing,
    is_unknown,
    key_of,
)
from recollex.cli.options import add_agent, add_embedder, add_key_file, add_store, count
from recollex.cli.parser import Arguments, Command, Parser
from recollex.cli.terminal import print_verification, printable, say, show
from recollex_engine.errors import InputError


def _agents_options(parser: Parser) -> None:
    add_store(parser)
    parser.add_argument("--json", action="store_true", help="print each as one JSON object")


def agents(arguments: Arguments) -> int:
    """Print what each agent holds, one a line; 1 if there is none."""
    with existing_store(arguments) as store:
        if store is None:
            return 1
        found = store.agents(counts=True)
        if not found:
            say(f"{arguments.store} holds no agent yet: recollex retain makes one")
            return 1
        if arguments.json:
            for each in found:
                said = asdict(each) | {
                    "written_at": each.written_at and each.written_at.isoformat()
                }
                print(json.dumps(said, ensure_ascii=False))
        else:
            width = max(len(printable(each.id)) for each in found)
            print("\n".join(_agent_line(each, width) for each in found))
        return 0


def _agent_line(summary: "recollex.AgentSummary", width: int) -> str:
    memories = "?" if summary.memories is None else counted(summary.memories, "memory")
    at = summary.written_at
    written = f"{at:%Y-%m-%d %H:%M}" if at is not None else "never"
    kilobytes = f"{summary.bytes_on_disk / 1000:,.0f} kB"
    return f"{printable(summary.id):<{width}}  {memories:>16}  {written:<16}  {kilobytes:>10}"


def _delete_agent_options(parser: Parser) -> None:
    add_store(parser)
    parser.add_argument("name", help="the agent to delete")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def delete_agent(arguments: Arguments) -> int:
    """Delete an agent, once it is confirmed; 1 if it was not."""
    with existing_store(arguments, write=True) as store:
        if store is None:
            return 1
        name = arguments.name
        if is_unknown(name, store.agents(), arguments):
            return 1
        if not arguments.yes:
            [found] = [each for each in store.agents(counts=True) if each.id == name]
            held = "all" if found.memories is None else counted(found.memories, "memory")
            say(f"agent {printable(name)} with {held} would be deleted, for good")
            print("Delete it? [y/N] ", end="", file=sys.stderr, flush=True)
            if sys.stdin.readline().strip().lower() not in ("y", "yes"):
                say("nothing deleted")
                return 1
        store.delete_agent(name)
    show(arguments, f"agent {printable(name)} deleted", agent=name, deleted=True)
    return 0


def _agent_options(parser: Parser) -> None:
    add_store(parser)
    add_agent(parser)


def head(arguments: Arguments) -> int:
    """Print the end of an agent's log, for `verify --head`."""
    with existing_agent(arguments) as agent:
        if agent is None:
            return 1
        end = agent.head()
        at = None if end.recorded_at is None else end.recorded_at.isoformat()
        show(arguments, str(end), op=end.op, recorded_at=at, chain=end.chain)
        return 0


def _verify_options(parser: Parser) -> None:
    parser.add_argument("store", help="the folder of a store, or a backup")
    add_key_file(parser)
    add_agent(parser)
    add = parser.add_argument
    add("--number", type=count, metavar="N", help="of the backup (the newest)")
    add("--head", metavar="OP:CHAIN", help="what `recollex head` printed: the log must hold it")
    add("--json", action="store_true", help="print one JSON object")


def verify(arguments: Arguments) -> int:
    """Check the log's chain, the columns and the index of an agent; 1 if they disagree."""
    from recollex_engine.backup.manifest import is_backup
    from recollex_engine.backup.target import open_target

    if is_backup(open_target(arguments.store)):
        if arguments.head is not None:
            raise InputError(f"--head is of an agent's log, and {arguments.store} is a backup")
        return verify_backup(arguments)
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


def _doctor_options(parser: Parser) -> None:
    add_store(parser)
    add = parser.add_argument
    add("--agent", metavar="NAME", help="only this one (every agent)")
    add("--look", action="store_true", help="say what is wrong, and change nothing")
    add("--salvage", metavar="DIR", help="copy what a damaged log says before the damage here")
    add("--backup", metavar="TARGET", help="take damaged vectors that were given from this backup")
    add_embedder(parser)


def doctor(arguments: Arguments) -> int:
    """Print what was found and mended; 1 if something is left."""
    from recollex_engine.agents.folder_names import agents_in

    if is_missing(arguments):
        return 1
    name = arguments.agent
    if name is not None and is_unknown(name, agents_in(Path(arguments.store)), arguments):
        return 1
    diagnoses = recollex.doctor(
        arguments.store,
        arguments.agent,
        repair=not arguments.look,
        salvage=arguments.salvage,
        backup=arguments.backup,
        embedder=arguments.embedder,
        key=key_of(arguments),
    )
    for each in diagnoses:
        if arguments.json:
            show(arguments, "", **asdict(each), ok=each.ok)
            continue
        name = arguments.store if each.agent is None else printable(each.agent)
        for problem in each.found:
            print(f"{name}: {printable(problem)}")
        if not each.found and each.agent is not None:
            held = f"{counted(each.operations, 'operation')}, {counted(each.memories, 'memory')}"
            print(f"{name} is sound: {held}")
        elif each.found and each.ok:
            print(f"{name} is mended")
        elif not arguments.look:
            for problem in each.left:
                print(f"{name} is not mended: {printable(problem)}")
        if each.salvaged:
            saved = counted(each.salvaged, "operation")
            print(f"{name}: {saved} saved in {arguments.salvage}")
    left = sum(not each.ok for each in diagnoses)
    if left and not arguments.look and not arguments.salvage:
        say("--salvage DIR copies what a damaged log says before the damage")
    return 1 if left else 0


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


def _reembed_options(parser: Parser) -> None:
    add = parser.add_argument
    add_store(parser)
    add("--model", metavar="MODEL", required=True, help="name or folder of the model to move to")
    add("--agent", metavar="NAME", help="whose memory (every agent's)")
    add("--threads", type=count, default=1, metavar="N", help="that embed (1)")


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
            arguments.store,
            name,
            embedder=arguments.model,
            threads=arguments.threads,
            key=key_of(arguments),
        )
        said = f"{name}: {counted(made, 'passage')} embedded with {arguments.model}"
        show(arguments, said, agent=name, passages=made, model=arguments.model)
    return 0


def _key_options(parser: Parser) -> None:
    parser.add_argument("file", help="where it is written: not there yet")


def key(arguments: Arguments) -> int:
    """Make a key, in a new file that its owner alone may read."""
    from recollex.api.keys import write_key

    write_key(arguments.file)
    said = f"{arguments.file} has a new key: keep a copy of it where the store is not"
    show(arguments, said, file=arguments.file)
    return 0


COMMANDS = (
    Command(
        "agents",
        "list the agents of a store, and how much each holds",
        ["agents memory/", "agents memory/ --json"],
        _agents_options,
        agents,
    ),
    Command(
        "delete-agent",
        "delete an agent with all that it holds, for good",
        ["delete-agent memory/ bob", "delete-agent memory/ bob --yes"],
        _delete_agent_options,
        delete_agent,
    ),
    Command(
        "head",
        "print the end of an agent's log, to keep elsewhere for verify --head",
        ["head memory/ --agent bob"],
        _agent_options,
        head,
    ),
    Command(
        "verify",
        "check an agent's files against its log, or all of a backup",
        ["verify memory/ --agent bob", "verify backup/"],
        _verify_options,
        verify,
    ),
    Command(
        "doctor",
        "find what is wrong with a store, and mend what its log can mend",
        [
            "doctor memory/",
            "doctor memory/ --look",
            "doctor memory/ --backup backup/",
            "doctor memory/ --salvage saved/",
        ],
        _doctor_options,
        doctor,
    ),
    Command(
        "checkpoint",
        "fold what was written last into the index",
        ["checkpoint memory/"],
        _agent_options,
        checkpoint,
    ),
    Command(
        "reembed",
        "move agents to another model: embed again what they hold",
        [
            "reembed memory/ --model BAAI/bge-small-en-v1.5",
            "reembed memory/ --agent bob --model folder/of/a/model --threads 4",
        ],
        _reembed_options,
        reembed,
    ),
    Command(
        "key",
        "make a key for encrypted agents, in a new file",
        ["key memory.key", 'retain memory/ "Alice joined Google." --key-file memory.key'],
        _key_options,
        key,
    ),
)
