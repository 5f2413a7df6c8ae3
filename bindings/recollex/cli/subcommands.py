"""The subcommands of the command line: each is a row of the module of its subject.

Nothing slow is imported here, nor at the top of these modules: `recollex --help` answers before
numpy could be loaded.
"""

import argparse

from recollex.cli import (
    backups,
    clusters,
    demo,
    erasure,
    facts,
    files,
    history,
    maintenance,
    mcp,
    memories,
    mind,
    models,
    serving,
)
from recollex.cli.parser import Arguments, Command, Parser
from recollex.cli.terminal import show

_FOLDERS = ("store", "folder", "target", "FOLDER", "DIR", "TARGET")
_FILES = ("file", "log", "FILE", "PEM", "LOG")

DESCRIPTION = """\
A memory for AI agents, in one folder. `retain` stores what was said, `recall` finds what bears
on a question and says why. Every subcommand explains itself: recollex recall --help"""

EPILOG = """\
a first minute:
  recollex demo
  recollex retain memory/ "Alice joined Google in Mountain View." --at 2023-11-06
  recollex recall memory/ "Where does Alice work?"
"""


def _completion_options(parser: Parser) -> None:
    parser.add_argument(
        "shell", choices=["bash", "zsh", "tcsh"], metavar="SHELL", help="bash, zsh or tcsh"
    )


def completion(arguments: Arguments) -> int:
    """Print a script by which a shell completes subcommands, options and files.

    It is made of the argument parser by shtab, and is static: pressing Tab starts no Python.
    """
    from shtab import complete

    parser = build()
    _complete_paths(parser)
    script = complete(parser, arguments.shell).rstrip()
    show(arguments, script, shell=arguments.shell, script=script)
    return 0


def _complete_paths(parser: argparse.ArgumentParser) -> None:
    """Tell shtab which arguments are names of files and folders."""
    from shtab import DIRECTORY, FILE

    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for own in action.choices.values():
                own.complete()
                _complete_paths(own)
        elif {action.dest, action.metavar} & set(_FOLDERS):
            action.complete = DIRECTORY  # type: ignore[attr-defined]
        elif {action.dest, action.metavar} & set(_FILES):
            action.complete = FILE  # type: ignore[attr-defined]


_COMPLETION = Command(
    "completion",
    "print a script that completes commands and options in a shell",
    ["completion bash > recollex.bash", "completion zsh > _recollex"],
    _completion_options,
    completion,
)

MODULES = (
    demo,
    memories,
    files,
    facts,
    mind,
    history,
    erasure,
    maintenance,
    backups,
    clusters,
    serving,
    mcp,
    models,
)
"""The modules with a table of commands, in the order of the help."""
COMMANDS: dict[str, Command] = {
    command.name: command
    for commands in (*(module.COMMANDS for module in MODULES), (_COMPLETION,))
    for command in commands
}


def build() -> Parser:
    """Return the parser of the whole command line."""
    parser = Parser(prog="recollex", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="store_true", help="print the version and leave")
    commands = parser.add_subparsers(dest="command", metavar="subcommand", title="subcommands")
    for name, command in COMMANDS.items():
        lines = "\n".join(f"  recollex {line}" for line in command.examples)
        epilog = f"examples:\n{lines}" + (f"\n{command.files}" if command.files else "")
        about = f"{command.summary[0].upper()}{command.summary[1:]}."
        own = commands.add_parser(name, help=command.summary, description=about, epilog=epilog)
        own.add_later(command.options)
        own.add_later(_add_json)
    return parser


def _add_json(parser: Parser) -> None:
    if not parser.takes("--json"):
        parser.add_argument("--json", action="store_true", help="print one JSON object")
