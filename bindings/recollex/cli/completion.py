"""The subcommand completion: a script by which a shell completes subcommands, options and files.

It is made of the argument parser by shtab, and is static: pressing Tab starts no Python.
"""

import argparse

import shtab

from recollex.cli import subcommands
from recollex.cli.parser import Arguments
from recollex.cli.terminal import show

_FOLDERS = ("store", "folder", "target", "FOLDER", "DIR", "TARGET")
_FILES = ("file", "log", "FILE", "PEM", "LOG")


def completion(arguments: Arguments) -> int:
    """Print the script for a shell."""
    parser = subcommands.build()
    _complete_paths(parser)
    script = shtab.complete(parser, arguments.shell).rstrip()
    show(arguments, script, shell=arguments.shell, script=script)
    return 0


def _complete_paths(parser: argparse.ArgumentParser) -> None:
    """Tell shtab which arguments are names of files and folders."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for own in action.choices.values():
                _complete_paths(own)
        elif {action.dest, action.metavar} & set(_FOLDERS):
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        elif {action.dest, action.metavar} & set(_FILES):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
