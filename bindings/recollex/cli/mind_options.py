"""The options of `think`, `profile`, `extract` and `jobs`."""

from recollex.cli.counts import count, number
from recollex.cli.options import add_agent, add_embedder, add_llm, add_store, add_zone
from recollex.cli.parser import Parser

TRAITS = ("openness", "conscientiousness", "extraversion", "agreeableness", "neuroticism")


def think(parser: Parser) -> None:
    """Add the options of `think`."""
    add = parser.add_argument
    add_store(parser)
    add("question", help="what to think about")
    add_agent(parser)
    add_llm(parser)
    add("--context", metavar="TEXT", help="what else bears on the question")
    add("--budget", type=count, default=50, metavar="N", help="candidates of each arm (50)")
    add("--tokens", type=count, default=4096, metavar="N", help="of the memories (4096)")
    add("--trust", metavar="LEVEL", help="only memories of this trust or more: user, tool, web ...")
    add(
        "--min-confidence",
        type=number,
        default=0.15,
        metavar="P",
        help="refuse if the answer is there with a lower probability, 0 to 1 (0.15)",
    )
    add("--as-recorded", metavar="TIME", help="think as of then, and record no opinions")
    add_zone(parser)
    add("--no-opinions", action="store_true", help="record no opinions of the answer")
    add("--stream", action="store_true", help="print the answer as it comes; it is not repaired")
    add("--prompt", action="store_true", help="print what the model would be sent, and ask none")
    add("--json", action="store_true", help="print one JSON object")
    add_embedder(parser)


def investigate(parser: Parser) -> None:
    """Add the options of `investigate`."""
    add = parser.add_argument
    add_store(parser)
    add("question", help="what to look for")
    add_agent(parser)
    add_llm(parser, "calls the tools and answers")
    add("--steps", type=count, default=3, metavar="N", help="calls of tools at most (3)")
    add("--single", action="store_true", help="one semantic search, then the answer")
    add("--tokens", type=count, default=16_000, metavar="N", help="sent and received (16000)")
    add("--timeline", action="store_true", help="reason about time in the four parts of TISER")
    add("--as-recorded", metavar="TIME", help="as of then")
    add_zone(parser)
    add("--trace", action="store_true", help="print each call of a tool")
    add("--json", action="store_true", help="print one JSON object")
    add_embedder(parser)


def profile(parser: Parser) -> None:
    """Add the options of `profile`."""
    add = parser.add_argument
    add_store(parser)
    add_agent(parser)
    for name in (*TRAITS, "bias-strength"):
        add(f"--{name}", type=number, metavar="X", help="set it, from 0 to 1")
    add("--background", metavar="TEXT", help='set it: who the agent is; "" removes it')
    add("--merge", metavar="TEXT", help="merge what is new into the background")
    add_llm(parser, "merges")
    add("--as-recorded", metavar="TIME", help="as it was then")
    add_zone(parser)
    add("--by", metavar="NAME", help="who sets it, for the log")
    add("--why", metavar="TEXT", help="the reason, for the log")
    add("--json", action="store_true", help="print one JSON object")


def extract(parser: Parser) -> None:
    """Add the options of `extract`."""
    add = parser.add_argument
    add_store(parser)
    add_agent(parser)
    add_llm(parser, "draws the facts")
    _add_mode(parser)
    add("--document", metavar="ID", action="append", help="only this talk; may be repeated")
    add("--again", action="store_true", help="also what an earlier version of the prompt has read")
    add("--json", action="store_true", help="print one JSON object")
    add_embedder(parser)


def jobs(parser: Parser) -> None:
    """Add the options of `jobs`."""
    add = parser.add_argument
    add_store(parser)
    add_agent(parser)
    add(
        "--status",
        action="append",
        choices=["running", "waiting", "failed", "done"],
        metavar="STATUS",
        help="running, waiting, failed or done; may be repeated (those that are not done)",
    )
    _add_mode(parser)
    add("--limit", type=count, default=100, metavar="N", help="at most so many (100)")
    add("--json", action="store_true", help="print a JSON object a line")


def resolve_entities(parser: Parser) -> None:
    """Add the options of `resolve-entities`."""
    add = parser.add_argument
    add_store(parser)
    add_agent(parser)
    add("--preview", action="store_true", help="only say what would be done")
    add_llm(parser, "decides borderline pairs")
    add("--by", metavar="WHO", help="who does it, for the log")
    add("--json", action="store_true", help="print each pair as one JSON object")


def _add_mode(parser: Parser) -> None:
    parser.add_argument(
        "--mode",
        choices=["narrative", "atomic", "episodic"],
        metavar="MODE",
        help="narrative: 2 to 5 comprehensive facts a chunk; atomic: single sentences",
    )
