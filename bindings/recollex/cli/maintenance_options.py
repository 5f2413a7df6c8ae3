"""The options of the subcommands for maintenance: head, verify, checkpoint, reembed."""

from recollex.cli.counts import count
from recollex.cli.options import add_agent, add_key_file, add_store
from recollex.cli.parser import Parser


def head(parser: Parser) -> None:
    """Add the options of `head`."""
    checkpoint(parser)


def verify(parser: Parser) -> None:
    """Add the options of `verify`."""
    parser.add_argument("store", help="the folder of a store, or a backup")
    add_key_file(parser)
    add_agent(parser)
    add = parser.add_argument
    add("--number", type=count, metavar="N", help="of the backup (the newest)")
    add("--head", metavar="OP:CHAIN", help="what `recollex head` printed: the log must hold it")
    add("--json", action="store_true", help="print one JSON object")


def checkpoint(parser: Parser) -> None:
    """Add the options of `checkpoint`."""
    add_store(parser)
    add_agent(parser)


def reembed(parser: Parser) -> None:
    """Add the options of `reembed`."""
    add = parser.add_argument
    add_store(parser)
    add("--model", metavar="MODEL", required=True, help="name or folder of the model to move to")
    add("--agent", metavar="NAME", help="whose memory (every agent's)")
    add("--threads", type=count, default=1, metavar="N", help="that embed (1)")
