"""The options of `erase` and `audit`."""

from recollex.cli.options import add_agent, add_store, add_zone
from recollex.cli.parser import Parser


def erase(parser: Parser) -> None:
    """Add the options of `erase`."""
    add = parser.add_argument
    add_store(parser)
    add_agent(parser)
    add("--id", action="append", metavar="ID", help="this memory; may be given again")
    add("--document", metavar="ID", help="memories of this document")
    add("--speaker", metavar="NAME", help="memories of what this speaker said")
    add("--source", metavar="SOURCE", help="memories from there: user, assistant, tool, web, yours")
    add("--entity", action="append", metavar="NAME", help="memories that name it; all, if several")
    add("--tag", action="append", metavar="TAG", help="memories with it; with all, if several")
    add("--network", action="append", metavar="NETWORK", help="world, agent or opinion")
    add_zone(parser)
    add("--since", metavar="TIME", help="memories of events at or after this")
    add("--until", metavar="TIME", help="memories of events before this")
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
