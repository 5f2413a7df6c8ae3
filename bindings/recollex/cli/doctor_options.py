"""The options of `doctor`."""

from recollex.cli.options import add_embedder, add_store
from recollex.cli.parser import Parser


def doctor(parser: Parser) -> None:
    """Add the options of `doctor`."""
    add_store(parser)
    add = parser.add_argument
    add("--agent", metavar="NAME", help="only this one (every agent)")
    add("--look", action="store_true", help="say what is wrong, and change nothing")
    add("--salvage", metavar="DIR", help="copy what a damaged log says before the damage here")
    add("--backup", metavar="TARGET", help="take damaged vectors that were given from this backup")
    add_embedder(parser)
