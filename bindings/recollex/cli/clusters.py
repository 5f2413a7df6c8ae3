"""The command cluster: agents of many machines in one object store."""

from pathlib import Path

from recollex.api.plurals import counted
from recollex.cli.options import count
from recollex.cli.parser import Arguments, Command, Parser
from recollex.cli.terminal import say, show

_WITH_FOLDER = ("import", "export")


def _cluster_options(parser: Parser) -> None:
    add = parser.add_argument
    add(
        "action",
        choices=["create", "status", "verify", *_WITH_FOLDER],
        metavar="ACTION",
        help="create, status, verify, import (a store into it) or export (it into a new store)",
    )
    add("url", metavar="URL", help="s3://bucket/prefix, gs://, az:// or file:///folder")
    add("folder", metavar="DIR", nargs="?", help="the store to import, or to make by export")
    add("--shards", type=count, default=64, metavar="N", help="of create, for ever (64)")


def cluster(arguments: Arguments) -> int:
    """Do what the action says; 1 if `verify` finds something wrong."""
    from recollex.cluster import administration
    from recollex.cluster.layout import create_cluster
    from recollex_engine.errors import InputError

    url = arguments.url
    action = arguments.action
    if (arguments.folder is None) == (action in _WITH_FOLDER):
        takes = "needs the folder of a store" if action in _WITH_FOLDER else "takes no folder"
        raise InputError(f"recollex cluster {action} {takes}")
    if action == "create":
        made = create_cluster(url, arguments.shards)
        show(
            arguments, f"a cluster of {counted(made.shards, 'shard')} at {url}", shards=made.shards
        )
        return 0
    if action == "import":
        number = administration.import_store(Path(arguments.folder), url, say)
        show(arguments, f"{counted(number, 'agent')} imported", agents=number)
        return 0
    if action == "export":
        number = administration.export_store(url, Path(arguments.folder), say)
        said = f"{counted(number, 'agent')} exported to {arguments.folder}"
        show(arguments, said, agents=number)
        return 0
    if action == "verify":
        found = administration.verify(url)
        for problem in found.problems:
            say(problem)
        said = f"{counted(found.agents, 'agent')}, {counted(found.operations, 'operation')}: "
        said += counted(len(found.problems), "problem") if found.problems else "all is well"
        show(
            arguments,
            said,
            agents=found.agents,
            operations=found.operations,
            problems=list(found.problems),
        )
        return 0 if found.ok else 1
    now = administration.status(url)
    nodes = ", ".join(f"{name} at {where}" for name, where in sorted(now.nodes.items())) or "none"
    show(
        arguments,
        f"nodes: {nodes}\n{counted(now.shards, 'shard')}, opened "
        f"{counted(sum(now.epochs), 'time')}; {counted(now.agents, 'agent')}; "
        f"{counted(now.runs, 'run')} of {counted(now.unpacked, 'byte')} not packed",
        nodes=now.nodes,
        shards=now.shards,
        openings=sum(now.epochs),
        agents=now.agents,
        runs=now.runs,
        unpacked=now.unpacked,
    )
    return 0


COMMANDS = (
    Command(
        "cluster",
        "make and look after a cluster, whose nodes are `serve --cluster`",
        [
            "cluster create file:///srv/memory --shards 16",
            "cluster import s3://bucket/memory memory/",
            "cluster status s3://bucket/memory",
            "cluster verify s3://bucket/memory",
            "cluster export s3://bucket/memory copy/",
        ],
        _cluster_options,
        cluster,
    ),
)
