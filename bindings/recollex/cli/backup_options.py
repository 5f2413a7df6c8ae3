"""The options of `backup`, `backups` and `restore`."""

from recollex.cli.counts import count
from recollex.cli.options import add_key_file, add_store, add_zone
from recollex.cli.parser import Parser


def backup(parser: Parser) -> None:
    """Add the options of `backup`."""
    add_store(parser)
    add_target(parser)
    add = parser.add_argument
    add("--keep", type=count, metavar="N", help="afterwards remove all backups but the last N")
    add(
        "--fresh",
        action="store_true",
        help="read and write everything again, and take a store that went another way",
    )


def backups(parser: Parser) -> None:
    """Add the options of `backups`."""
    add_target(parser)
    parser.add_argument("--json", action="store_true", help="print each as one JSON object")


def restore(parser: Parser) -> None:
    """Add the options of `restore`."""
    add_target(parser)
    add = parser.add_argument
    add("folder", metavar="DIR", help="the new store: not there yet, or without these agents")
    add("--at", metavar="TIME", help="a recorded time: 2024-05-01, or with a time (the last one)")
    add_zone(parser)
    add("--agent", action="append", metavar="NAME", help="only this one; may be given again")
    add("--number", type=count, metavar="N", help="of the backup (the newest)")
    add_key_file(parser)


def add_target(parser: Parser) -> None:
    """Add the argument that names the backup."""
    parser.add_argument(
        "target",
        metavar="TARGET",
        help="the backup: a folder, or s3://, gs:// or az:// with bucket and prefix",
    )
