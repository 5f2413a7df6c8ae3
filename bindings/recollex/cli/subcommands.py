"""The subcommands of the command line, with their summaries, examples and options.

Nothing slow is imported here: `recollex --help` answers before numpy could be loaded.
"""

from collections.abc import Callable

from recollex.cli import (
    backup_options,
    doctor_options,
    erasure_options,
    fact_options,
    knowledge_options,
    maintenance_options,
    mcp_options,
    moving_options,
    options,
    retention_options,
    serve_options,
)
from recollex.cli.file_formats import JSONL, OPERATIONS
from recollex.cli.mind_subcommands import MIND
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


def build() -> Parser:
    """Return the parser of the whole command line."""
    parser = Parser(prog="recollex", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="store_true", help="print the version and leave")
    commands = parser.add_subparsers(dest="command", metavar="subcommand", title="subcommands")
    for name, (summary, examples, add) in COMMANDS.items():
        epilog = "examples:\n" + "\n".join(f"  recollex {line}" for line in examples)
        about = f"{summary[0].upper()}{summary[1:]}."
        epilog += {"ingest": f"\n{JSONL}", "apply": f"\n{OPERATIONS}"}.get(name, "")
        own = commands.add_parser(name, help=summary, description=about, epilog=epilog)
        add(own)
        if not own.takes("--json"):
            own.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


COMMANDS: dict[str, tuple[str, list[str], Adder]] = {
    "demo": (
        "watch an agent remember half a year of talk and answer from it",
        ["demo", "demo --store kept/", 'recall kept/ --agent workshop "Who has the van?"'],
        options.demo,
    ),
    "retain": (
        "store one memory or several",
        [
            'retain memory/ "Alice joined Google." --at 2023-11-06 --context call',
            'retain memory/ --agent bob "Tea is better than coffee." --network opinion',
            "retain memory/ - < note.txt",
        ],
        options.retain,
    ),
    "ingest": (
        "store a file that another program wrote: talks, memories, tables",
        [
            "ingest memory/ talk.jsonl --document call-7",
            "ingest memory/ conversations.json --agent alice",
            "ingest memory/ notes/",
            "ingest memory/ mails.csv --zone Europe/Paris",
            "export memory/ | recollex ingest copy/ - --recorded",
        ],
        options.ingest,
    ),
    "apply": (
        "record facts, events and memories from a file of operations",
        [
            "apply memory/ operations.jsonl --by importer",
            "apply memory/ - --agent bob < operations.jsonl",
        ],
        options.apply,
    ),
    "memowrite": (
        "the same as apply, under MemoTrace's name",
        ["memowrite memory/ operations.jsonl"],
        options.apply,
    ),
    "memoread": (
        "show a fact, event, episode, memory or entity as of a cut",
        [
            'memoread memory/ "Alice" --as-world 2023-05-03',
            "memoread memory/ 22515a9e-4f62-5e5e-84dd-0bf6a649c1e1 --history",
        ],
        options.memoread,
    ),
    "memosearch": (
        "find facts, events and memories that bear on a question",
        ['memosearch memory/ "Where did Alice work?" --as-recorded 2023-05-03'],
        options.memosearch,
    ),
    "facts": (
        "find or count facts by subject, predicate, object, start and end",
        [
            "facts memory/ --subject Alice --predicate works_at",
            'facts memory/ --start "ge 2023" --end "lt 2024-06" --order-by start --limit 5',
            "facts memory/ --object Google --distinct subject",
            "facts memory/ --values predicate --as-recorded 2024-05-03",
        ],
        fact_options.facts,
    ),
    "recall": (
        "find what bears on a question, and say why",
        [
            'recall memory/ "Where does Alice work?"',
            'recall memory/ "what broke last spring" --now 2024-06-01 --explain',
            'recall memory/ "the \\"blue van\\"" --since 2024-01-01 --json',
            'recall memory/ "Where does Alice work?" --as-recorded 2024-05-03',
        ],
        options.recall,
    ),
    "list": (
        "list or count the memories of an agent, also those that a filter admits",
        [
            "list memory/ --newest --limit 5",
            "list memory/ --document call-7 --json",
            """list memory/ --tag work --where '{"n": {"gt": 2}}' --count""",
            "list memory/ --values tags",
        ],
        options.list_,
    ),
    "graph": (
        "draw what an agent knew, and when, as one HTML page",
        [
            "graph memory/ --agent bob --out bob.html",
            'graph memory/ --query "Where does Alice work?" --out alice.html',
            "graph memory/ --many-valued likes --many-valued speaks --out known.html",
        ],
        options.graph,
    ),
    **MIND,
    "agents": (
        "list the agents of a store, and how much each holds",
        ["agents memory/", "agents memory/ --json"],
        options.agents,
    ),
    "delete-agent": (
        "delete an agent with all that it holds, for good",
        ["delete-agent memory/ bob", "delete-agent memory/ bob --yes"],
        options.delete_agent,
    ),
    "stats": (
        "count what an agent holds",
        ["stats memory/", "stats memory/ --agent bob --json"],
        options.stats,
    ),
    "log": (
        "list what was done to an agent's memory: when, by whom and why",
        [
            "log memory/",
            "log memory/ --op forget --op retro_correct --since 2024-05-01",
            "log memory/ --json > log.jsonl",
        ],
        options.log,
    ),
    "audit": (
        "list who did what to an agent's memory, and when, without its content",
        ["audit memory/", "audit memory/ --since 2024-05-01 --json"],
        erasure_options.audit,
    ),
    "amend": (
        "change the tags, metadata or end of validity of a memory",
        [
            "amend memory/ lead --tag done --by alice",
            """amend memory/ lead --metadata '{"n": 2}' --valid-until 2024-06-01""",
        ],
        erasure_options.amend,
    ),
    "forget": (
        "forget memories: only the past still shows them",
        [
            'forget memory/ --id lead --by alice --why "Carol left."',
            "forget memory/ --tag draft --until 2024-01-01",
        ],
        erasure_options.forget,
    ),
    "erase": (
        "take memories out of every file of an agent, for good",
        [
            'erase memory/ --id lead --by alice --why "Carol asked for it."',
            'erase memory/ --document call-7 --by alice --why "kept for a year" --yes',
            'erase memory/ --copy may/ --by alice --why "as in memory/"',
        ],
        erasure_options.erase,
    ),
    "undo": (
        "record facts and events again as they were before an operation",
        ['undo memory/ 412 --by ann --why "She only stayed a week."', "undo memory/ 7 --agent bob"],
        knowledge_options.undo,
    ),
    "consolidate": (
        "compress old events into episodes, and unite facts that say the same",
        ["consolidate memory/ --preview", "consolidate memory/ --age-days 365 --by ann"],
        knowledge_options.consolidate,
    ),
    "retention": (
        "show, set or apply the rules by which an agent forgets",
        [
            "retention memory/",
            'retention memory/ --age-days 365 --count 10000 --by ann --why "policy 7"',
            "retention memory/ --network opinion --age-days 30 --erase --add --by ann",
            "retention memory/ --none --by ann",
            "retention memory/ --apply",
        ],
        retention_options.retention,
    ),
    "diff": (
        "show what changed in what was known between two times",
        ["diff memory/ 2024-05-01 2024-06-01", "diff memory/ 2024-05-01T18:00 --zone Europe/Paris"],
        options.diff,
    ),
    "snapshot": (
        "make a store that holds an agent as of a time",
        ["snapshot memory/ 2024-05-01 may/", "snapshot memory/ 2024-05-01 may/ --agent bob"],
        options.snapshot,
    ),
    "replay": (
        "rebuild an agent from its log, with the vectors beside it or new ones",
        [
            "replay memory/agents/default rebuilt/",
            "replay saved/00000001.jsonl rebuilt/ --agent bob",
        ],
        options.replay,
    ),
    "backup": (
        "copy what is new in a store to a backup, while others write",
        [
            "backup memory/ backup/",
            "backup memory/ backup/ --keep 7",
            "backup memory/ s3://bucket/memory",
        ],
        backup_options.backup,
    ),
    "backups": (
        "list the backups that a folder holds",
        ["backups backup/"],
        backup_options.backups,
    ),
    "restore": (
        "make a store from a backup, as it was at its end or at a time before",
        [
            "restore backup/ again/",
            "restore backup/ may/ --at 2024-05-31 --agent bob",
            "restore backup/ former/ --number 3",
        ],
        backup_options.restore,
    ),
    "head": (
        "print the end of an agent's log, to keep elsewhere for verify --head",
        ["head memory/ --agent bob"],
        maintenance_options.head,
    ),
    "verify": (
        "check an agent's files against its log, or all of a backup",
        ["verify memory/ --agent bob", "verify backup/"],
        maintenance_options.verify,
    ),
    "doctor": (
        "find what is wrong with a store, and mend what its log can mend",
        [
            "doctor memory/",
            "doctor memory/ --look",
            "doctor memory/ --backup backup/",
            "doctor memory/ --salvage saved/",
        ],
        doctor_options.doctor,
    ),
    "checkpoint": (
        "fold what was written last into the index",
        ["checkpoint memory/"],
        maintenance_options.checkpoint,
    ),
    "reembed": (
        "move agents to another model: embed again what they hold",
        [
            "reembed memory/ --model BAAI/bge-small-en-v1.5",
            "reembed memory/ --agent bob --model folder/of/a/model --threads 4",
        ],
        maintenance_options.reembed,
    ),
    "export": (
        "write an agent's memories as JSON lines, Parquet, or for other programs",
        [
            "export memory/ > memories.jsonl",
            "export memory/ --format markdown --output notes/",
            "export memory/ --agent bob --output bob.parquet",
        ],
        moving_options.export,
    ),
    "import": (
        "store the memories of a file that export wrote, as they were",
        ["import copy/ memories.jsonl", "import copy/ bob.parquet --agent bob"],
        moving_options.import_,
    ),
    "serve": (
        "let other processes use the agents of a store",
        [
            "serve --store memory/ --socket /run/user/1000/recollex.sock",
            "serve --store memory/ --listen 127.0.0.1:7077 --http 127.0.0.1:8080",
            "serve --store memory/ --listen 0.0.0.0:7077 --tokens t.toml --certificate tls.pem",
        ],
        serve_options.serve,
    ),
    "studio": (
        "look into the memories of a store, in a browser",
        ["studio memory/", "studio memory/ --agent bob --listen 127.0.0.1:7078 --no-browser"],
        serve_options.studio,
    ),
    "mcp": (
        "give assistants a memory, over the Model Context Protocol",
        ["mcp memory/ --agent alice", "mcp memory/ --http 127.0.0.1:7078 --read-only"],
        mcp_options.mcp,
    ),
    "top": (
        "watch what a server does: calls, stages of recalls, the log, queues",
        ["top unix:///run/user/1000/recollex.sock", "top http://127.0.0.1:8080 --once"],
        options.top,
    ),
    "models": (
        "list, fetch, convert, verify or time the models of this machine",
        [
            "models list",
            "models fetch BAAI/bge-small-en-v1.5",
            "models convert folder/of/a/model --precision fp32",
            "models convert cross-encoder/ms-marco-MiniLM-L-6-v2 --cross-encoder",
            "models verify",
            "models bench all-MiniLM-L6-v2",
        ],
        options.models,
    ),
    "key": (
        "make a key for encrypted agents, in a new file",
        ["key memory.key", 'retain memory/ "Alice joined Google." --key-file memory.key'],
        options.key,
    ),
    "completion": (
        "print a script that completes commands and options in a shell",
        ["completion bash > recollex.bash", "completion zsh > _recollex"],
        options.completion,
    ),
    "warmup": (
        "convert the model and compile the kernels, once, for later calls",
        ["warmup", "warmup --only-default"],
        options.warmup,
    ),
}
