"""The options of each subcommand: one function each, which adds them to a parser."""

from recollex.cli.counts import count, number
from recollex.cli.filter_options import add_filters
from recollex.cli.parser import Parser

_FORMATS = [
    *("jsonl", "chatgpt", "claude", "json", "langchain", "letta", "mem0"),
    *("csv", "parquet", "mbox", "slack", "markdown", "pdf"),
    *("triples", "ics", "zep"),
]


def demo(parser: Parser) -> None:
    """Add the options of `demo`."""
    parser.add_argument(
        "--store", metavar="FOLDER", help="keep the memory here (else: thrown away)"
    )
    add_agent(parser, "workshop")
    parser.add_argument("--top", type=count, default=3, metavar="N", help="memories shown (3)")


def retain(parser: Parser) -> None:
    """Add the options of `retain`."""
    add = parser.add_argument
    add_store(parser)
    add("text", nargs="+", help="each is one memory; - reads one from standard input")
    add_agent(parser)
    add_zone(parser)
    add("--at", metavar="TIME", help="when it happened: 2023-11-06, or with a time")
    add("--valid-until", metavar="TIME", help="when it ceases to be so (never)")
    add("--network", help="world, agent or opinion (world)")
    add("--context", help="what it was said in, such as 'call'")
    add("--document", metavar="ID", help="the document it belongs to")
    add("--entity", action="append", metavar="NAME", help="may be given again")
    add("--tag", action="append", metavar="TAG", help="may be given again")
    add("--id", help="your own id: the same id again replaces the memory")
    _stamp(parser)
    add_language(parser)
    add_embedder(parser)


def ingest(parser: Parser) -> None:
    """Add the options of `ingest`."""
    add = parser.add_argument
    add_store(parser)
    add("file", help="the file to read; - is standard input")
    add_agent(parser)
    add(
        "--format",
        choices=_FORMATS,
        metavar="FORMAT",
        help=f"{', '.join(_FORMATS)} (what the content says)",
    )
    add("--document", metavar="ID", help="of turns that name none (file's name)")
    add_zone(parser)
    _stamp(parser)
    add("--facts", action="store_true", help="also draw facts from talks, by a language model")
    add_llm(parser, "draws the facts")
    add("--stamped", action="store_true", help="keep each line's source and trust")
    add(
        "--recorded",
        action="store_true",
        help="keep each line's recorded_at: later than all that is stored",
    )
    add(
        "--batch",
        type=count,
        metavar="N",
        help="lines stored together, all or none (128; entries with facts 2000)",
    )
    add_language(parser)
    add_embedder(parser)


def recall(parser: Parser) -> None:
    """Add the options of `recall`."""
    add = parser.add_argument
    add_store(parser)
    add(
        "query",
        help='a question; "quotes" alone must appear as they are, in a question they raise a score',
    )
    add_agent(parser)
    add("--top", type=count, default=10, metavar="N", help="memories shown (10)")
    add("--json", action="store_true", help="print one JSON object, all memories")
    add("--explain", action="store_true", help="the score in each arm, not the rank alone")
    add(
        "--preset",
        default="default",
        metavar="NAME",
        help="how to rank: default, tempr, memora, satf, memotrace",
    )
    add(
        "--min-confidence",
        type=number,
        default=0.0,
        metavar="P",
        help="answer only if one is there with this probability, 0 to 1 (0)",
    )
    add("--prompt", action="store_true", help="print the text made for a prompt")
    add("--pack", action="store_true", help="pack events, facts and evidence")
    add(
        "--kind",
        action="append",
        metavar="KIND",
        help="what to search: memory (the default), fact, event, episode; may be given again",
    )
    add(
        "--budget",
        type=count,
        default=100,
        metavar="N",
        help="candidates of each arm: the thinking budget (100)",
    )
    add("--tokens", type=count, default=4096, metavar="N", help="at most N tokens (4096)")
    add("--limit", type=count, metavar="N", help="at most N memories (as many as fit)")
    add_zone(parser)
    add("--now", metavar="TIME", help="what 'last week' is counted from (now)")
    add("--as-recorded", metavar="TIME", help="answer as if asked then: nothing told since")
    add_filters(parser)
    add("--exact", action="store_true", help="scan every vector, skip the index")
    add_embedder(parser)


def list_(parser: Parser) -> None:
    """Add the options of `list`."""
    add = parser.add_argument
    add_store(parser)
    add_agent(parser)
    add("--limit", type=count, default=100, metavar="N", help="at most N (100)")
    add("--after", metavar="ID", help="those after this memory, the last of the page before")
    add("--newest", action="store_true", help="the newest recorded first")
    add("--count", action="store_true", help="only print how many there are")
    add(
        "--values",
        metavar="FIELD",
        help="only print how many have each value of FIELD: "
        "tags, document_id, speakers, roles, network, source or trust",
    )
    add_zone(parser)
    add_filters(parser)
    add("--json", action="store_true", help="print each as one JSON object")


def log(parser: Parser) -> None:
    """Add the options of `log`."""
    add = parser.add_argument
    add_store(parser)
    add_agent(parser)
    add_zone(parser)
    add("--since", metavar="TIME", help="only what was recorded at or after this")
    add("--until", metavar="TIME", help="only what was recorded before this")
    add(
        "--op",
        action="append",
        metavar="KIND",
        help="only this kind, as forget; may be given again",
    )
    add("--json", action="store_true", help="print each as one JSON object, with all its record")


def diff(parser: Parser) -> None:
    """Add the options of `diff`."""
    add_store(parser)
    parser.add_argument("earlier", metavar="T1", help="a recorded time: 2024-05-01, or with a time")
    parser.add_argument("later", metavar="T2", nargs="?", help="a later one (now)")
    add_agent(parser)
    add_zone(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def snapshot(parser: Parser) -> None:
    """Add the options of `snapshot`."""
    add_store(parser)
    parser.add_argument("time", metavar="T", help="a recorded time: 2024-05-01, or with a time")
    parser.add_argument("folder", metavar="DIR", help="the new store: not there yet, or empty")
    add_agent(parser)
    add_zone(parser)


def replay(parser: Parser) -> None:
    """Add the options of `replay`."""
    add = parser.add_argument
    add("log", metavar="LOG", help="STORE/agents/NAME, its log folder, or one file of a log")
    add("folder", metavar="DIR", help="the new store: not there yet, or empty")
    add("--agent", default="default", metavar="NAME", help="what to call the agent (default)")
    add(
        "--clamp-times",
        action="store_true",
        help="give operations of a clock that was ahead the present as their recorded time",
    )
    add_key_file(parser)
    add_embedder(parser)


def apply(parser: Parser) -> None:
    """Add the options of `apply`."""
    add = parser.add_argument
    add_store(parser)
    add("file", help="operations, one JSON object a line; - is standard input")
    add_agent(parser)
    add_zone(parser)
    add("--by", metavar="WHO", help="who makes them, where a line does not say")
    add("--why", metavar="REASON", help="why, where a line does not say")
    _stamp(parser)
    add_language(parser)
    add_embedder(parser)


def memoread(parser: Parser) -> None:
    """Add the options of `memoread`."""
    add = parser.add_argument
    add_store(parser)
    add("id", help="of a fact, event, episode or memory, or the name of an entity")
    _cut(parser)
    add("--history", action="store_true", help="every version of a fact")


def memosearch(parser: Parser) -> None:
    """Add the options of `memosearch`."""
    add = parser.add_argument
    add_store(parser)
    add("query", help="a question; the names in it choose facts and events")
    _cut(parser)
    add("--top", type=count, default=10, metavar="N", help="shown of each kind (10)")
    add_embedder(parser)


def _cut(parser: Parser) -> None:
    add_agent(parser)
    add_zone(parser)
    parser.add_argument("--as-recorded", metavar="TIME", help="what was known at this time")
    parser.add_argument("--as-world", metavar="TIME", help="what was true at this time")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def graph(parser: Parser) -> None:
    """Add the options of `graph`."""
    add = parser.add_argument
    add_store(parser)
    add_agent(parser)
    add_zone(parser)
    add("--out", metavar="FILE", required=True, help="the HTML page to write")
    add("--query", help="only what bears on this question")
    add("--as-recorded", metavar="TIME", help="what was known at this time")
    add("--limit", type=count, default=400, metavar="N", help="facts and events drawn (400)")
    add(
        "--many-valued",
        action="append",
        default=[],
        metavar="PREDICATE",
        help="its facts are not drawn as conflicts, such as likes; may be repeated",
    )
    add_embedder(parser)


def agents(parser: Parser) -> None:
    """Add the options of `agents`."""
    add_store(parser)
    parser.add_argument("--json", action="store_true", help="print each as one JSON object")


def delete_agent(parser: Parser) -> None:
    """Add the options of `delete-agent`."""
    add_store(parser)
    parser.add_argument("name", help="the agent to delete")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def stats(parser: Parser) -> None:
    """Add the options of `stats`."""
    add_store(parser)
    add_agent(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def top(parser: Parser) -> None:
    """Add the options of `top`."""
    add = parser.add_argument
    add("address", help="of the server, as it said when it started")
    add("--every", type=number, default=2.0, metavar="SECONDS", help="between two looks (2)")
    add("--once", action="store_true", help="look once, and leave")
    add("--token-file", metavar="FILE", help="holds the secret (RECOLLEX_TOKEN, if not given)")


def models(parser: Parser) -> None:
    """Add the options of `models`."""
    add = parser.add_argument
    actions = ["list", "fetch", "convert", "verify", "bench"]
    add("action", choices=actions, metavar="ACTION", help="list, fetch, convert, verify or bench")
    add("model", nargs="?", help="a name, owner/name or folder (all-MiniLM-L6-v2)")
    add(
        "--precision",
        choices=["int8", "fp32", "bf16", "fp16"],
        default="int8",
        metavar="P",
        help="int8 (default), fp32, bf16 (OpenVINO) or fp16 (a GPU)",
    )
    add("--cross-encoder", action="store_true", help="convert it as what judges pairs")


def key(parser: Parser) -> None:
    """Add the options of `key`."""
    parser.add_argument("file", help="where it is written: not there yet")


def completion(parser: Parser) -> None:
    """Add the options of `completion`."""
    parser.add_argument(
        "shell", choices=["bash", "zsh", "tcsh"], metavar="SHELL", help="bash, zsh or tcsh"
    )


def warmup(parser: Parser) -> None:
    """Add the options of `warmup`."""
    add_embedder(parser)
    parser.add_argument(
        "--only-default",
        action="store_true",
        help="only what the default ranking of a small agent needs, two thirds of the work",
    )


def add_store(parser: Parser) -> None:
    """Add the argument that names the store, and the option for the key of its agents."""
    parser.add_argument("store", help="the folder of the store; or --store FOLDER")
    add_key_file(parser)


def add_key_file(parser: Parser) -> None:
    """Add the option that names the file of a key."""
    parser.add_argument(
        "--key-file", metavar="FILE", help="key of encrypted agents (RECOLLEX_KEY, if not given)"
    )


def add_agent(parser: Parser, default: str = "default") -> None:
    """Add the option that names the agent."""
    parser.add_argument(
        "--agent", default=default, metavar="NAME", help=f"whose memory ({default})"
    )


def add_zone(parser: Parser) -> None:
    """Add the option that names the zone of times without one."""
    parser.add_argument(
        "--zone",
        default="UTC",
        metavar="ZONE",
        help="zone of times without an offset, as Europe/Paris (UTC)",
    )


def _stamp(parser: Parser) -> None:
    add = parser.add_argument
    add("--source", metavar="WORD", help="user, assistant, tool, web or a word of your own")
    add("--trust", metavar="LEVEL", help="of a word of your own: user, assistant, tool or web")


def add_language(parser: Parser) -> None:
    """Add the option that names the language of new agents."""
    parser.add_argument(
        "--language",
        metavar="NAME",
        help="of a new agent's words: german, arabic, none and others (english)",
    )


def add_embedder(parser: Parser) -> None:
    """Add the option that names the embedding model."""
    parser.add_argument(
        "--embedder",
        metavar="MODEL",
        help="name or folder of the embedding model, then :fp16 for a GPU; given:384 where lines "
        "bring vectors",
    )


def add_llm(parser: Parser, does: str = "answers") -> None:
    """Add the options that name a language model; does: what it does, for the help."""
    add = parser.add_argument
    add("--llm", metavar="NAME", help=f"the language model that {does} (RECOLLEX_LLM_MODEL)")
    add("--llm-url", metavar="URL", help="its endpoint (RECOLLEX_LLM_BASE_URL, or OpenAI's)")
