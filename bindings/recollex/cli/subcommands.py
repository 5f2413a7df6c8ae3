"""The words that the command line understands: its subcommands and their options.

Nothing heavy is imported here: `recollex --help` answers before numpy could be loaded.
"""

import argparse
from collections.abc import Callable

from recollex.cli.parser import Parser

Adder = Callable[[Parser], None]

DESCRIPTION = """\
A memory for AI agents, in one folder. `retain` stores what was said, `recall` finds what bears
on a question and says why. Every subcommand explains itself: recollex recall --help"""

EPILOG = """\
a first minute:
  recollex demo
  recollex retain memory/ "Alice joined Google in Mountain View." --at 2023-11-06
  recollex recall memory/ "Where does Alice work?"
"""

_INGEST_AGENT = "whose memory (default; with locomo, an agent per conversation)"
_JSONL = """
each line of jsonl is an object, a memory or a turn of talk:
  {"text": ...}, and any of event_at and entities
  {"speaker": ..., "text": ..., "at": ...}, and perhaps the caption of its picture
and any of id, metadata, document_id, context, network, tags, recorded_at. Turns that name no
document get --document, else the file's name. Reading a file again stores nothing twice where its
lines carry ids. A batch is lines of one kind, one document and one recorded_at."""


_OPERATIONS = """
each line of the file is an operation, a transaction by itself:
  {"op": "UPSERT_EDGE", "subject": "Alice", "predicate": "works_at", "object": "Google",
   "valid": ["2023-11-06", null], "by": "importer", "why": "her mail of the 6th"}
and the others: RETAIN, CORRECT, ARCHIVE, FORGET, UPSERT_ENTITY, MERGE_ENTITY, ARCHIVE_EDGE,
RETRO_CORRECT, UPSERT_EVENT, LINK, UPSERT_EPISODE. Lines between {"op": "BEGIN"} and
{"op": "COMMIT"} are one transaction: all of them are recorded, at one time, or none. The whole
file is checked first; an operation that is refused then leaves the transactions before it."""


def build() -> Parser:
    """Return the parser of the whole command line."""
    parser = Parser(prog="recollex", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="store_true", help="print the version and leave")
    commands = parser.add_subparsers(dest="command", metavar="subcommand", title="subcommands")
    for name, (summary, examples, add) in COMMANDS.items():
        epilog = "examples:\n" + "\n".join(f"  recollex {line}" for line in examples)
        about = f"{summary[0].upper()}{summary[1:]}."
        epilog += {"ingest": f"\n{_JSONL}", "apply": f"\n{_OPERATIONS}"}.get(name, "")
        add(commands.add_parser(name, help=summary, description=about, epilog=epilog))
    return parser


def _demo(parser: Parser) -> None:
    parser.add_argument(
        "--store", metavar="FOLDER", help="keep the memory here (else: thrown away)"
    )
    _agent(parser, "workshop")
    parser.add_argument("--top", type=_count, default=3, metavar="N", help="memories shown (3)")


def _retain(parser: Parser) -> None:
    add = parser.add_argument
    _store(parser)
    add("text", nargs="+", help="each is one memory; - reads one from standard input")
    _agent(parser)
    _zone(parser)
    add("--at", metavar="TIME", help="when it happened: 2023-11-06, or with a time")
    add("--valid-until", metavar="TIME", help="when it ceases to be so (never)")
    add("--network", help="world, agent or opinion (world)")
    add("--context", help="what it was said in, such as 'call'")
    add("--document", metavar="ID", help="the document it belongs to")
    add("--entity", action="append", metavar="NAME", help="may be given again")
    add("--tag", action="append", metavar="TAG", help="may be given again")
    add("--id", help="your own id: the same id again replaces the memory")
    _embedder(parser)


def _ingest(parser: Parser) -> None:
    add = parser.add_argument
    _store(parser)
    add("file", help="the file to read; - is standard input (jsonl only)")
    add("--agent", metavar="NAME", help=_INGEST_AGENT)
    add(
        "--format",
        choices=["jsonl", "locomo"],
        default="jsonl",
        metavar="FORMAT",
        help="jsonl (default) or locomo",
    )
    add("--document", metavar="ID", help="of turns that name none (file's name)")
    _zone(parser)
    add(
        "--recorded",
        action="store_true",
        help="keep each line's recorded_at: later than all that is stored",
    )
    add(
        "--batch",
        type=_count,
        default=128,
        metavar="N",
        help="lines stored together, all or none (128)",
    )
    _embedder(parser)


def _recall(parser: Parser) -> None:
    add = parser.add_argument
    _store(parser)
    add("query", help='a question; "quotes" alone must appear, in a question they lift')
    _agent(parser)
    add("--top", type=_count, default=10, metavar="N", help="memories shown (10)")
    add("--json", action="store_true", help="print one JSON object, all memories")
    add("--explain", action="store_true", help="the score in each arm, not the rank alone")
    add(
        "--preset",
        default="default",
        metavar="NAME",
        help="how to rank: default, tempr, memora, satf, memotrace",
    )
    add("--prompt", action="store_true", help="print the text made for a prompt")
    add(
        "--budget",
        type=_count,
        default=100,
        metavar="N",
        help="candidates of each arm: the thinking budget (100)",
    )
    add("--tokens", type=_count, default=4096, metavar="N", help="at most so many (4096)")
    _zone(parser)
    add("--since", metavar="TIME", help="only what happened at or after this")
    add("--until", metavar="TIME", help="only what happened before this")
    add("--now", metavar="TIME", help="what 'last week' is counted from (now)")
    add("--as-recorded", metavar="TIME", help="answer as if asked then: nothing told since")
    add("--as-world", metavar="TIME", help="only what was so then, by what is known")
    add("--network", action="append", help="only this network; may be given again")
    add("--tag", action="append", help="only with this tag; may be given again")
    add(
        "--entity",
        action="append",
        metavar="NAME",
        help="only if it names this; may be given again",
    )
    add("--exact", action="store_true", help="scan every vector, skip the index")
    _embedder(parser)


def _log(parser: Parser) -> None:
    add = parser.add_argument
    _store(parser)
    _agent(parser)
    _zone(parser)
    add("--since", metavar="TIME", help="only what was recorded at or after this")
    add("--until", metavar="TIME", help="only what was recorded before this")
    add(
        "--op",
        action="append",
        metavar="KIND",
        help="only this kind, as forget; may be given again",
    )
    add("--json", action="store_true", help="print each as one JSON object, with all its record")


def _diff(parser: Parser) -> None:
    _store(parser)
    parser.add_argument("earlier", metavar="T1", help="a recorded time: 2024-05-01, or with a time")
    parser.add_argument("later", metavar="T2", nargs="?", help="a later one (now)")
    _agent(parser)
    _zone(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _snapshot(parser: Parser) -> None:
    _store(parser)
    parser.add_argument("time", metavar="T", help="a recorded time: 2024-05-01, or with a time")
    parser.add_argument("folder", metavar="DIR", help="the new store: not there yet, or empty")
    _agent(parser)
    _zone(parser)


def _replay(parser: Parser) -> None:
    add = parser.add_argument
    add("log", metavar="LOG", help="STORE/agents/NAME, its log folder, or one file of a log")
    add("folder", metavar="DIR", help="the new store: not there yet, or empty")
    add("--agent", default="default", metavar="NAME", help="what to call the agent (default)")
    _embedder(parser)


def _apply(parser: Parser) -> None:
    add = parser.add_argument
    _store(parser)
    add("file", help="operations, one JSON object a line; - is standard input")
    _agent(parser)
    _zone(parser)
    add("--by", metavar="WHO", help="who makes them, where a line does not say")
    add("--why", metavar="REASON", help="why, where a line does not say")
    _embedder(parser)


def _memoread(parser: Parser) -> None:
    add = parser.add_argument
    _store(parser)
    add("id", help="of a fact, event, episode or memory, or the name of an entity")
    _cut(parser)
    add("--history", action="store_true", help="every version of a fact")


def _memosearch(parser: Parser) -> None:
    add = parser.add_argument
    _store(parser)
    add("query", help="a question; the names in it choose facts and events")
    _cut(parser)
    add("--top", type=_count, default=10, metavar="N", help="shown of each kind (10)")
    _embedder(parser)


def _cut(parser: Parser) -> None:
    _agent(parser)
    _zone(parser)
    parser.add_argument("--as-recorded", metavar="TIME", help="what was known at this time")
    parser.add_argument("--as-world", metavar="TIME", help="what was true at this time")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _agents(parser: Parser) -> None:
    _store(parser)


def _reading(parser: Parser) -> None:
    _store(parser)
    _agent(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _upkeep(parser: Parser) -> None:
    _store(parser)
    _agent(parser)


def _export(parser: Parser) -> None:
    _store(parser)
    _agent(parser)
    parser.add_argument("--output", metavar="FILE", help="write here, not to standard output")


def _warmup(parser: Parser) -> None:
    _embedder(parser)


def _store(parser: Parser) -> None:
    parser.add_argument("store", help="the folder of the store")


def _agent(parser: Parser, default: str = "default") -> None:
    parser.add_argument(
        "--agent", default=default, metavar="NAME", help=f"whose memory ({default})"
    )


def _zone(parser: Parser) -> None:
    parser.add_argument(
        "--zone",
        default="UTC",
        metavar="ZONE",
        help="zone of times without an offset, as Europe/Paris (UTC)",
    )


def _embedder(parser: Parser) -> None:
    parser.add_argument("--embedder", metavar="MODEL", help="name or folder of the embedding model")


def _count(text: str) -> int:
    """Return a whole number of at least 1."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, got {text!r}")
    return int(text)


COMMANDS: dict[str, tuple[str, list[str], Adder]] = {
    "demo": (
        "watch an agent remember half a year of talk and answer from it",
        ["demo", "demo --store kept/", 'recall kept/ --agent workshop "Who has the van?"'],
        _demo,
    ),
    "retain": (
        "store one memory or several",
        [
            'retain memory/ "Alice joined Google." --at 2023-11-06 --context call',
            'retain memory/ --agent bob "Tea is better than coffee." --network opinion',
            "retain memory/ - < note.txt",
        ],
        _retain,
    ),
    "ingest": (
        "store a file of memories or turns of talk",
        [
            "ingest memory/ talk.jsonl --document call-7",
            "ingest memory/ locomo10.json --format locomo",
            "export memory/ | recollex ingest copy/ - --recorded",
        ],
        _ingest,
    ),
    "apply": (
        "record facts, events and memories from a file of operations",
        [
            "apply memory/ operations.jsonl --by importer",
            "apply memory/ - --agent bob < operations.jsonl",
        ],
        _apply,
    ),
    "memowrite": (
        "the same as apply, under MemoTrace's name",
        ["memowrite memory/ operations.jsonl"],
        _apply,
    ),
    "memoread": (
        "show a fact, event, episode, memory or entity as of a cut",
        [
            'memoread memory/ "Alice" --as-world 2023-05-03',
            "memoread memory/ 22515a9e-4f62-5e5e-84dd-0bf6a649c1e1 --history",
        ],
        _memoread,
    ),
    "memosearch": (
        "find facts, events and memories that bear on a question",
        ['memosearch memory/ "Where did Alice work?" --as-recorded 2023-05-03'],
        _memosearch,
    ),
    "recall": (
        "find what bears on a question, and say why",
        [
            'recall memory/ "Where does Alice work?"',
            'recall memory/ "what broke last spring" --now 2024-06-01 --explain',
            'recall memory/ "the \\"blue van\\"" --since 2024-01-01 --json',
            'recall memory/ "Where does Alice work?" --as-recorded 2024-05-03',
        ],
        _recall,
    ),
    "agents": ("list the agents of a store", ["agents memory/"], _agents),
    "stats": (
        "count what an agent holds",
        ["stats memory/", "stats memory/ --agent bob --json"],
        _reading,
    ),
    "log": (
        "list what was done to an agent's memory: when, by whom and why",
        [
            "log memory/",
            "log memory/ --op forget --op retro_correct --since 2024-05-01",
            "log memory/ --json > log.jsonl",
        ],
        _log,
    ),
    "diff": (
        "show what changed in what was known between two times",
        ["diff memory/ 2024-05-01 2024-06-01", "diff memory/ 2024-05-01T18:00 --zone Europe/Paris"],
        _diff,
    ),
    "snapshot": (
        "make a store that holds an agent as of a time",
        ["snapshot memory/ 2024-05-01 may/", "snapshot memory/ 2024-05-01 may/ --agent bob"],
        _snapshot,
    ),
    "replay": (
        "rebuild an agent from its log, with the vectors beside it or new ones",
        [
            "replay memory/agents/default rebuilt/",
            "replay saved/00000001.jsonl rebuilt/ --agent bob",
        ],
        _replay,
    ),
    "verify": (
        "check an agent's files against its log",
        ["verify memory/ --agent bob"],
        _reading,
    ),
    "checkpoint": (
        "fold what was written last into the index",
        ["checkpoint memory/"],
        _upkeep,
    ),
    "export": (
        "write an agent's memories as JSON lines",
        ["export memory/ > memories.jsonl", "export memory/ --agent bob --output bob.jsonl"],
        _export,
    ),
    "warmup": (
        "convert the model and compile the kernels, once, for later calls",
        ["warmup"],
        _warmup,
    ),
}
