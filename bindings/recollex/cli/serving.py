"""The commands serve, studio and top: their options.

What they run is in a module of each, since they load a server or a client.
"""

from recollex.cli.options import (
    add_embedder,
    add_language,
    add_store,
    count,
    count_or_0,
    number,
)
from recollex.cli.parser import Command, Parser, run_of


def _serve_options(parser: Parser) -> None:
    add = parser.add_argument
    add_store(parser)
    add("--socket", metavar="PATH", help="a Unix socket to listen on (STORE/socket)")
    add("--listen", metavar="HOST:PORT", help="a TCP port to listen on, beside --socket if given")
    add_language(parser)
    add("--tokens", metavar="FILE", help="TOML: who may call; needed beyond this machine")
    add(
        "--cluster",
        metavar="URL",
        help="be a node of the cluster in this bucket; the store's folder is a cache then",
    )
    add("--node", metavar="NAME", help="of this node (the address that it advertises)")
    add("--advertise", metavar="ADDRESS", help="where other machines reach it (that of --listen)")
    add(
        "--flush-ms",
        type=count,
        default=20,
        metavar="N",
        help="writes within as many milliseconds share a request to the bucket (20)",
    )
    add("--http", metavar="HOST:PORT", help="serve HTTP there as well (recollex[http])")
    add("--llm", metavar="NAME", help="a language model (recollex[llm])")
    add(
        "--llm-url",
        metavar="URL",
        help="where it is: an endpoint like OpenAI's, its own if not given",
    )
    add(
        "--extraction",
        choices=["narrative", "atomic", "episodic"],
        metavar="MODE",
        help="draw facts from what is retained, in the background: narrative, atomic or episodic",
    )
    add("--certificate", metavar="PEM", help="makes --listen and --http speak TLS")
    add("--key", metavar="PEM", help="the certificate's key, if it is in a file of its own")
    add("--insecure", action="store_true", help="let other machines connect without TLS")
    add(
        "--durability",
        choices=["always", "interval", "off"],
        default="always",
        metavar="WHEN",
        help="an acknowledged write is on the disk: always (default), interval or off",
    )
    add("--open-agents", type=count, metavar="N", help="agents kept open at once (256)")
    add("--connections", type=count, metavar="N", help="clients at once (20,000)")
    add("--in-flight", type=count, metavar="N", help="calls of one client at once (64)")
    add("--message-bytes", type=count, metavar="N", help="of one request (16 MiB)")
    add("--readers", type=count, metavar="N", help="threads that recall (a core each, up to 4)")
    add(
        "--workers",
        type=count_or_0,
        metavar="N",
        help="processes that recall, beside the threads (a core each, up to 4; 0: none)",
    )
    add(
        "--log-level",
        choices=["debug", "info", "warning", "error"],
        default="info",
        metavar="LEVEL",
        help="of the log, JSON lines on standard error: debug, info (default), warning, error",
    )
    add(
        "--count-accesses",
        action="store_true",
        help="count which memories recalls return, for `accesses` and the preset heuristic",
    )
    add("--log-texts", action="store_true", help="write what clients say into the log, too")
    add(
        "--slow",
        type=number,
        default=1.0,
        metavar="SECONDS",
        help="log calls that take as long (1)",
    )
    add(
        "--otel",
        action="store_true",
        help="send spans to the collector at OTEL_EXPORTER_OTLP_ENDPOINT (recollex[otel])",
    )
    add(
        "--embedder",
        metavar="MODEL",
        help="name or folder of the embedding model; given:384 where clients bring vectors",
    )


def _studio_options(parser: Parser) -> None:
    add_store(parser)
    parser.add_argument("--agent", metavar="NAME", help="show this agent alone (all)")
    parser.add_argument(
        "--view",
        choices=["memories", "recall", "compare", "graph", "log", "health"],
        default="memories",
        metavar="VIEW",
        help="of --agent: memories (default), recall, compare, graph, log or health",
    )
    parser.add_argument(
        "--listen", metavar="HOST:PORT", help="an address of this machine (127.0.0.1, any port)"
    )
    parser.add_argument("--no-browser", action="store_true", help="print the address alone")
    add_embedder(parser)


def _top_options(parser: Parser) -> None:
    add = parser.add_argument
    add("address", help="of the server, as it said when it started")
    add("--every", type=number, default=2.0, metavar="SECONDS", help="between two looks (2)")
    add("--once", action="store_true", help="look once, and leave")
    add("--token-file", metavar="FILE", help="holds the secret (RECOLLEX_TOKEN, if not given)")


COMMANDS = (
    Command(
        "serve",
        "let other processes use the agents of a store",
        [
            "serve --store memory/ --socket /run/user/1000/recollex.sock",
            "serve --store memory/ --listen 127.0.0.1:7077 --http 127.0.0.1:8080",
            "serve --store memory/ --listen 0.0.0.0:7077 --tokens t.toml --certificate tls.pem",
            "serve --store cache/ --cluster s3://bucket/memory --listen 10.0.0.5:7077 --insecure",
        ],
        _serve_options,
        run_of("recollex.cli.serve", "serve"),
    ),
    Command(
        "studio",
        "look into the memories of a store, in a browser",
        [
            "studio memory/",
            "studio memory/ --agent bob --view graph",
            "studio memory/ --agent bob --listen 127.0.0.1:7078 --no-browser",
        ],
        _studio_options,
        run_of("recollex.cli.studio", "studio"),
    ),
    Command(
        "top",
        "watch what a server does: calls, stages of recalls, the log, queues",
        ["top unix:///run/user/1000/recollex.sock", "top http://127.0.0.1:8080 --once"],
        _top_options,
        run_of("recollex.cli.top", "top"),
    ),
)
