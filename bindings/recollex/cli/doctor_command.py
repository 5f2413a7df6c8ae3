"""The subcommand doctor: it says what is wrong with a store, and what it could mend."""

from dataclasses import asdict
from pathlib import Path

import recollex
from recollex.api.keys import given_key
from recollex.api.plurals import counted
from recollex.cli.existing_store import is_missing, is_unknown
from recollex.cli.parser import Arguments
from recollex.cli.terminal import printable, say, show
from recollex_engine.agents.folder_names import agents_in


def doctor(arguments: Arguments) -> int:
    """Print what was found and mended; 1 if something is left."""
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
        key=given_key(arguments.key_file),
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
