"""The subcommand doctor: it says what is wrong with a store, and what it could mend."""

import recollex
from recollex.cli.existing_store import is_missing
from recollex.cli.parser import Arguments
from recollex.cli.terminal import printable, say


def doctor(arguments: Arguments) -> int:
    """Print what was found and mended; 1 if something is left."""
    if is_missing(arguments):
        return 1
    diagnoses = recollex.doctor(
        arguments.store,
        arguments.agent,
        repair=not arguments.look,
        salvage=arguments.salvage,
        backup=arguments.backup,
        embedder=arguments.embedder,
    )
    for each in diagnoses:
        name = arguments.store if each.agent is None else printable(each.agent)
        for problem in each.found:
            print(f"{name}: {printable(problem)}")
        if not each.found and each.agent is not None:
            print(f"{name} is sound: {each.operations:,} operations, {each.memories:,} memories")
        elif each.found and each.ok:
            print(f"{name} is mended")
        elif not arguments.look:
            for problem in each.left:
                print(f"{name} is not mended: {printable(problem)}")
        if each.salvaged:
            print(f"{name}: {each.salvaged:,} operations are saved in {arguments.salvage}")
    left = sum(not each.ok for each in diagnoses)
    if left and not arguments.look and not arguments.salvage:
        say("--salvage DIR copies what a damaged log says before the damage")
    return 1 if left else 0
