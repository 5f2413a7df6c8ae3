"""A subcommand, and the argument parser, which suggests the right word for a mistyped one.

Nothing slow is imported here: `recollex --help` answers before numpy could be loaded.
"""

import argparse
import difflib
import importlib
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

Arguments = argparse.Namespace

OTHER_NAMES: dict[str, tuple[str, ...]] = {
    "-a": ("--agent",),
    "-k": ("--limit", "--top"),
    "-n": ("--limit", "--top"),
    "-o": ("--out", "--output"),
    "-v": ("--version",),
    "-y": ("--yes",),
    "--address": ("--listen", "--http"),
    "--as-of": ("--as-recorded", "--as-world"),
    "--date": ("--at",),
    "--filter": ("--where",),
    "--force": ("--yes",),
    "--from": ("--since",),
    "--host": ("--listen", "--http"),
    "--max-tokens": ("--tokens",),
    "--metadata": ("--where",),
    "--model": ("--llm", "--embedder"),
    "--port": ("--listen", "--http"),
    "--to": ("--until",),
    "--top-k": ("--limit", "--top"),
    "--user": ("--agent",),
}
"""An option as other programs name it -> as ours do, those that a subcommand takes."""


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help that keeps written line breaks, and lists subcommands without a line above them."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28)

    def _format_action(self, action: argparse.Action) -> str:
        if isinstance(action, argparse._SubParsersAction):
            return "".join(map(self._format_action, action._get_subactions()))
        return super()._format_action(action)


class Parser(argparse.ArgumentParser):
    """An argument parser that keeps written line breaks and suggests words for mistyped ones.

    ``--store FOLDER`` may be written in place of the folder, before or after the subcommand.
    """

    def __init__(self, **options: object) -> None:
        options.setdefault("formatter_class", _Help)
        super().__init__(**options, allow_abbrev=False)  # type: ignore[arg-type]
        self._later: list[Callable[[Parser], None]] = []

    def add_later(self, options: Callable[["Parser"], None]) -> None:
        """Add options when this subcommand is parsed or explained, and not for another one."""
        self._later.append(options)

    def complete(self) -> None:
        """Add the options that were left for later."""
        while self._later:
            self._later.pop(0)(self)

    def format_help(self) -> str:
        """Return the help, with the options of `add_later`."""
        self.complete()
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """Exit with status 2 and one line that says what to type instead."""
        self.exit(2, f"recollex: {message} (see: {self.prog} --help)\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as argparse does; what is not known is an error of this parser."""
        self.complete()
        words = self._with_store(list(sys.argv[1:] if args is None else args))
        self._check_options(words)
        if not self._is_whole:
            words = self._options_first(words)
        found, rest = super().parse_known_args(words, namespace)
        if rest:
            self.error(f"{' '.join(rest)!r} is one word too many{self._way_for(rest[0])}")
        return found, rest

    def _way_for(self, word: str) -> str:
        """Return how a word that is too many is given, as the end of a sentence."""
        if all(action.dest == "store" for action in self._get_positional_actions()):
            return f": an id is given as --id {word}" if self.takes("--id") else ""
        return ": quote a text of several words"

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            if self._is_whole and self.takes(f"--{value}"):
                self.error(f"there is no subcommand {value!r}: did you mean --{value}?")
            what = "subcommand" if action.dest == "command" else action.dest
            self.error(f"there is no {what} {value!r}{did_you_mean(str(value), known)}")

    def takes(self, option: str) -> bool:
        """Return whether this parser has an option of that name."""
        return option in self._option_string_actions

    @property
    def _is_whole(self) -> bool:
        """Whether this parses the whole command line, and not one subcommand's words."""
        return self._subparsers is not None

    def _with_store(self, words: list[str]) -> list[str]:
        """Return the words with the folder of ``--store`` where this parser looks for it."""
        own = words[: words.index("--")] if "--" in words else words
        place = next((n for n, word in enumerate(own) if re.match("--store(=|$)", word)), None)
        if place is None or self.takes("--store"):
            return words
        if self._is_whole and any(not word.startswith("-") for word in words[:place]):
            return words  # it is after the subcommand, whose parser reads it
        _, equals, folder = words[place].partition("=")
        if not equals:
            if place + 1 == len(own):
                self.error("argument --store: expected one argument")
            folder = words[place + 1]
        rest = words[:place] + words[place + (1 if equals else 2) :]
        if not self._is_whole:
            takes = any(action.dest == "store" for action in self._get_positional_actions())
            return [folder, *rest] if takes else words
        if place == len(rest):
            self.error("a subcommand is missing after --store")
        return [*rest[: place + 1], f"--store={folder}", *rest[place + 1 :]]

    def _options_first(self, words: list[str]) -> list[str]:
        """Return the words with all options before all others.

        Else argparse refuses `diff memory/ T1 --agent bob T2`: an argument that may be left out, or
        given several times, ends at an option.
        """
        options: list[str] = []
        others: list[str] = []
        rest = iter(words)
        for word in rest:
            if word == "--":
                others += rest
            elif (action := self._option_string_actions.get(word.partition("=")[0])) is None:
                others.append(word)
            else:
                options.append(word)
                if action.nargs is None and "=" not in word:
                    options += [value for value in [next(rest, None)] if value is not None]
        return [*options, "--", *others] if others else options

    def _check_options(self, words: Sequence[str]) -> None:
        """Refuse the first word that argparse would take for an option and does not know."""
        for word in words:
            option = word.partition("=")[0]
            if option == "--" or (self._is_whole and not word.startswith("-")):
                return
            looks_like_one = re.match(r"-[^\W\d]|--\w", word) and " " not in word
            if looks_like_one and not self.takes(option):
                hint = self._way_to_say(option)
                if self._is_whole:
                    hint += "" if hint.endswith("?") else "."
                    hint += " A subcommand's options stand after it"
                self.error(f"there is no option {option}{hint}")

    def _way_to_say(self, option: str) -> str:
        """Return what may have been meant by an unknown option, as the end of a sentence."""
        if names := [name for name in OTHER_NAMES.get(option, ()) if self.takes(name)]:
            return f": did you mean {' or '.join(names)}?"
        word = option.lstrip("-")
        if any(word == action.dest for action in self._get_positional_actions()):
            return f": the {word} is written alone, without {option}"
        known = [name for name in self._option_string_actions if name.startswith("--")]
        return did_you_mean(option, known)


@dataclass(frozen=True, slots=True)
class Command:
    """One subcommand.

    name: as it is typed. summary: its line in the list of subcommands. examples: without the
    program's name. options: adds its options to a parser, once the subcommand is typed. run: does
    it, and returns the exit code. files: what the help says of the files that it reads.
    """

    name: str
    summary: str
    examples: list[str]
    options: Callable[[Parser], None]
    run: Callable[[Arguments], int]
    files: str = ""


def run_of(module: str, function: str) -> Callable[[Arguments], int]:
    """Return a function that runs that of a module, which is imported when it runs."""

    def run(arguments: Arguments) -> int:
        code: int = getattr(importlib.import_module(module), function)(arguments)
        return code

    return run


def did_you_mean(word: str, known: list[str]) -> str:
    """Return the end of a sentence that suggests the known word nearest to a mistyped one.

    Dashes before a word say nothing of how near it is.

    >>> did_you_mean("recal", ["recall", "retain"])
    ': did you mean recall?'
    >>> did_you_mean("bob", ["alice", "carol"])
    ', only alice, carol'
    >>> did_you_mean("bob", [])
    ''
    """
    bare = {name.lstrip("-"): name for name in known}
    if near := difflib.get_close_matches(word.lstrip("-"), bare, n=1):
        return f": did you mean {bare[near[0]]}?"
    shown = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
    return f", only {shown}" if known else ""
