"""The options of `amend`, `forget`, `erase` and `audit`."""

from recollex.cli.filter_options import add_filters
from recollex.cli.options import add_agent, add_store, add_zone
from recollex.cli.parser import Parser


def forget(parser: Parser) -> None:
    """Add the options of `forget`."""
    add = parser.add_argument
    _add_choice(parser)
    add("--by", metavar="NAME", help="who forgets them, for the log")
    add("--why", metavar="TEXT", help="the reason, for the log")


def amend(parser: Parser) -> None:
    """Add the options of `amend`."""
    add = parser.add_argument
    add_store(parser)
    add("id", help="the memory")
    add_agent(parser)
    add("--tag", action="append", metavar="TAG", help="its tags from now on; may be given again")
    add("--no-tags", action="store_true", help="no tags from now on")
    add("--metadata", metavar="JSON", help='its metadata from now on: {"kind": "mail"}')
    add_zone(parser)
    add("--valid-until", metavar="TIME", help="when it ceases to be so; never: no end")
    add("--by", metavar="NAME", help="who amends it, for the log")
    add("--why", metavar="TEXT", help="the reason, for the log")


def erase(parser: Parser) -> None:
    """Add the options of `erase`."""
    add = parser.add_argument
    _add_choice(parser)
    add("--everything", action="store_true", help="all that the agent holds")
    add("--by", required=True, metavar="NAME", help="who erases them, for the log")
    add("--why", required=True, metavar="TEXT", help="the reason, for the log")
    add(
        "--copy",
        action="append",
        metavar="FOLDER",
        help="a snapshot or backup: erase there, too, all that was ever erased here",
    )
    add("--yes", action="store_true", help="do not ask")


def audit(parser: Parser) -> None:
    """Add the options of `audit`."""
    add = parser.add_argument
    add_store(parser)
    add_agent(parser)
    add_zone(parser)
    add("--since", metavar="TIME", help="only what was recorded at or after this")
    add("--until", metavar="TIME", help="only what was recorded before this")
    add("--json", action="store_true", help="print each as one JSON object")


def _add_choice(parser: Parser) -> None:
    """Add the store, the agent, and what chooses its memories: ids or a filter."""
    add_store(parser)
    add_agent(parser)
    parser.add_argument(
        "--id", action="append", metavar="ID", help="this memory; may be given again"
    )
    add_zone(parser)
    add_filters(parser)
