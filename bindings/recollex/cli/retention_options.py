"""The options of `retention`."""

from recollex.cli.counts import count_or_0, number
from recollex.cli.options import add_agent, add_store
from recollex.cli.parser import Parser


def retention(parser: Parser) -> None:
    """Add the options of `retention`."""
    add = parser.add_argument
    add_store(parser)
    add_agent(parser)
    add("--age-days", type=number, metavar="N", help="forget what was recorded more days ago")
    add("--count", type=count_or_0, metavar="N", help="forget all but the newest N")
    add("--network", metavar="NETWORK", help="of world, agent or opinion alone")
    add("--erase", action="store_true", help="--apply also takes it out of every file, for good")
    add("--add", action="store_true", help="keep the other rules, which are replaced otherwise")
    add("--none", action="store_true", help="keep everything from now on")
    add("--apply", action="store_true", help="forget and erase now what is due")
    add("--by", metavar="NAME", help="who sets the rules, for the log")
    add("--why", metavar="TEXT", help="the reason, for the log")
    add("--json", action="store_true", help="print each rule as one JSON object")
