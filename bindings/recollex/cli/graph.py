"""The subcommand graph."""

from pathlib import Path

from recollex.api.exported_file import replacing
from recollex.cli.existing_store import existing_agent
from recollex.cli.parser import Arguments
from recollex.cli.terminal import say, show
from recollex.cli.time_options import time_option
from recollex.graph_page import graph_page


def graph(arguments: Arguments) -> int:
    """Write an agent's graph as one HTML page."""
    with existing_agent(arguments) as agent:
        if agent is None:
            return 1
        page = graph_page(
            agent,
            query=arguments.query,
            as_recorded=time_option(arguments, "as_recorded"),
            limit=arguments.limit,
            many_valued=arguments.many_valued,
        )
        with replacing(Path(arguments.out)) as file:
            file.write_text(page, encoding="utf-8")
        if arguments.json:
            show(arguments, "", file=arguments.out)
        else:
            say(f"the graph of {arguments.agent} is in {arguments.out}: open it in a browser")
        return 0
