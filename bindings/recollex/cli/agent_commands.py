"""The subcommands for whole agents: agents lists them, delete-agent deletes one."""

import json
import sys
from dataclasses import asdict

import recollex
from recollex.api.plurals import counted
from recollex.cli.existing_store import existing_store, is_unknown
from recollex.cli.parser import Arguments
from recollex.cli.terminal import printable, say, show


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
            print("\n".join(_line(each, width) for each in found))
        return 0


def _line(summary: recollex.AgentSummary, width: int) -> str:
    memories = "?" if summary.memories is None else counted(summary.memories, "memory")
    at = summary.written_at
    written = f"{at:%Y-%m-%d %H:%M}" if at is not None else "never"
    kilobytes = f"{summary.bytes_on_disk / 1000:,.0f} kB"
    return f"{printable(summary.id):<{width}}  {memories:>16}  {written:<16}  {kilobytes:>10}"


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
