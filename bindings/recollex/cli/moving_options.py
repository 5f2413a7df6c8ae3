"""The options of `export` and `import`."""

from recollex.cli.filter_options import add_filters
from recollex.cli.options import add_agent, add_embedder, add_store, add_zone
from recollex.cli.parser import Parser


def export(parser: Parser) -> None:
    """Add the options of `export`."""
    add_store(parser)
    add_agent(parser)
    parser.add_argument("--output", metavar="FILE", help="write here, not to standard output")
    _format(parser)
    add_zone(parser)
    add_filters(parser)


def import_(parser: Parser) -> None:
    """Add the options of `import`."""
    add_store(parser)
    parser.add_argument("file", help="what `recollex export` wrote: .jsonl or .parquet")
    add_agent(parser)
    _format(parser)
    add_embedder(parser)


def _format(parser: Parser) -> None:
    parser.add_argument(
        "--format",
        choices=["jsonl", "parquet"],
        metavar="FORMAT",
        help="jsonl or parquet (what the file's name says)",
    )
