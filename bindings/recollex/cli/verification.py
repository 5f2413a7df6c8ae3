"""What was found by a verification, printed."""

import json
from dataclasses import asdict

from recollex.cli.terminal import say
from recollex_engine.agents.verification import Verification
from recollex_engine.backup.verification import BackupVerification


def print_verification(
    found: Verification | BackupVerification, what: str, read: str, *, as_json: bool
) -> int:
    """Print what was found of an agent or a backup; return the exit code, 1 for damage.

    what: its name. read: how much was read, in words.
    """
    if as_json:
        print(json.dumps(asdict(found), default=str, indent=2))
    elif found.ok:
        print(f"{what} is sound: {read}")
    else:
        say(f"{what} is damaged")
        print("\n".join(found.problems))
    return 0 if found.ok else 1
