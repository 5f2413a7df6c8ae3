"""The options of the subcommand mcp."""

from recollex.cli.options import add_embedder, add_language, add_store
from recollex.cli.parser import Parser


def mcp(parser: Parser) -> None:
    """Add the options of `mcp`."""
    add = parser.add_argument
    add_store(parser)
    add("--agent", metavar="NAME", help="whose memory (default)")
    add("--agent-by-client", action="store_true", help="each client has its own, of its name")
    add("--read-only", action="store_true", help="offer only tools that read")
    add(
        "--compat",
        choices=["reference"],
        metavar="SERVER",
        help="reference: the nine tools of MCP's reference memory server",
    )
    add("--source", metavar="WORD", help="stamp what is retained: assistant, tool, web ...")
    add("--http", metavar="HOST:PORT", help="serve streamable HTTP at /mcp, not stdio")
    add("--tokens", metavar="FILE", help="TOML: who may call over HTTP; see serve")
    add("--insecure", action="store_true", help="let other machines connect without TLS")
    add("--llm", metavar="NAME", help="a language model, for the tool think (recollex[llm])")
    add("--llm-url", metavar="URL", help="its endpoint, OpenAI's own if not given")
    add_language(parser)
    add_embedder(parser)
