"""The argument parser, which suggests the right word for a mistyped one.

Nothing slow is imported here: `recollex --help` answers before numpy could be loaded.
"""

import argparse
import difflib
from typing import NoReturn

Arguments = argparse.Namespace


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help that keeps written line breaks, and lists subcommands without a line above them."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28)

    def _format_action(self, action: argparse.Action) -> str:
        if isinstance(action, argparse._SubParsersAction):
            return "".join(map(self._format_action, action._get_subactions()))
        return super()._format_action(action)


class Parser(argparse.ArgumentParser):
    """An argument parser that keeps written line breaks and suggests words for mistyped ones."""

    def __init__(self, **options: object) -> None:
        options.setdefault("formatter_class", _Help)
        super().__init__(**options, allow_abbrev=False)  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        """Exit with status 2 and one line that says what to type instead."""
        self.exit(2, f"recollex: {message} (see: {self.prog} --help)\n")

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            what = "subcommand" if action.dest == "command" else (action.metavar or action.dest)
            self.error(f"there is no {what} {value!r}{did_you_mean(str(value), known)}")


def did_you_mean(word: str, known: list[str]) -> str:
    """Return the end of a sentence that suggests the known word nearest to a mistyped one.

    >>> did_you_mean("recal", ["recall", "retain"])
    ': did you mean recall?'
    >>> did_you_mean("bob", ["alice", "carol"])
    ', only alice, carol'
    >>> did_you_mean("bob", [])
    ''
    """
    near = difflib.get_close_matches(word, known, n=1)
    if near:
        return f": did you mean {near[0]}?"
    shown = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
    return f", only {shown}" if known else ""
