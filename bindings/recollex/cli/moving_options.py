"""The options of `export` and `import`."""

from recollex.cli.filter_options import add_filters
from recollex.cli.options import add_agent, add_embedder, add_language, add_store, add_zone
from recollex.cli.parser import Parser


def export(parser: Parser) -> None:
    """Add the options of `export`."""
    add_store(parser)
    add_agent(parser)
    parser.add_argument("--output", metavar="FILE", help="write here, not to standard output")
    _format(parser, "markdown", "mem0", "langchain")
    add_zone(parser)
    add_filters(parser)


def import_(parser: Parser) -> None:
    """Add the options of `import`."""
    add_store(parser)
    parser.add_argument("file", help="what `recollex export` wrote: .jsonl or .parquet")
    add_agent(parser)
    _format(parser)
    add_language(parser)
    add_embedder(parser)


def _format(parser: Parser, *others: str) -> None:
    known = ["jsonl", "parquet", *others]
    parser.add_argument(
        "--format",
        choices=known,
        metavar="FORMAT",
        help=f"{', '.join(known[:-1])} or {known[-1]} (what the file's name says)",
    )
