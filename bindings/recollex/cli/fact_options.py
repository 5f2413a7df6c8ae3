"""The options of the subcommand `facts`."""

from recollex.cli.counts import count
from recollex.cli.options import add_agent, add_store, add_zone
from recollex.cli.parser import Parser


def facts(parser: Parser) -> None:
    """Add the options of `facts`."""
    add = parser.add_argument
    add_store(parser)
    add_agent(parser)
    add("--subject", metavar="NAME", help="only facts about this")
    add("--predicate", metavar="NAME", help="only this predicate")
    add("--object", metavar="NAME", help="only this entity as the object")
    add("--literal", metavar="JSON", help="only this literal as the object: 3, true, '\"blue\"'")
    add("--evidence", action="append", metavar="ID", help="only what cites this memory, or several")
    for end, did in (("start", "began"), ("end", "ceased")):
        add(
            f"--{end}",
            action="append",
            metavar="TIME",
            help=f"only what {did} to be true then: 2024, 2024-05 or 2024-05-04, "
            f'also as "lt 2024", with le, eq, ge, gt or "exists true"; all, if given again',
        )
    add("--order-by", default="recorded", metavar="BY", help="recorded (default), start or end")
    add("--descending", action="store_true", help="in the opposite order")
    add("--limit", type=count, default=100, metavar="N", help="at most N (100)")
    add("--offset", type=int, default=0, metavar="N", help="skip the first N")
    add("--count", action="store_true", help="only print how many there are")
    add("--distinct", metavar="PART", help="only print how many subjects, predicates or objects")
    add("--values", metavar="PART", help="only print how many facts have each subject, ...")
    add_zone(parser)
    add("--as-recorded", metavar="TIME", help="what was known at this time")
    add("--as-world", metavar="TIME", help="what was true at this time")
    add("--json", action="store_true", help="print each as one JSON object")
