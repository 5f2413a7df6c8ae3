"""The options of the subcommands about facts and events that change many at once."""

from recollex.cli.counts import count, number
from recollex.cli.options import add_agent, add_llm, add_store
from recollex.cli.parser import Parser


def undo(parser: Parser) -> None:
    """Add the options of `undo`."""
    add = parser.add_argument
    add_store(parser)
    add("op", type=count, help="the number of the operation, as `recollex log` shows it")
    add_agent(parser)
    add("--by", metavar="WHO", help="who undoes it, for the log")
    add("--why", metavar="REASON", help="why, for the log")


def consolidate(parser: Parser) -> None:
    """Add the options of `consolidate`."""
    add = parser.add_argument
    add_store(parser)
    add_agent(parser)
    add("--age-days", type=number, default=90, metavar="N", help="events of more days ago; 90")
    add("--threshold", type=number, default=0.25, metavar="X", help="of lower salience; 0.25")
    add(
        "--least-facts",
        type=count,
        default=3,
        metavar="N",
        help="an observation for each entity with so many facts; 3",
    )
    add("--no-observations", action="store_true", help="make none")
    add_llm(parser, "writes observations")
    add("--preview", action="store_true", help="only say what would be done")
    add("--by", metavar="WHO", help="who does it, for the log")
