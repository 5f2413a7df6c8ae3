"""An agent's graph as one HTML page: nothing to install, nothing loaded from elsewhere.

The page draws the cut at its slider's time; `recollex_engine.agents.graph_drawing` says what it
contains. Its texts are data in a JSON block, in which no character can end the block, and the
script inserts them as text. A content security policy forbids the page to load or send anything.
"""

import re
from collections.abc import Iterable
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any

import orjson

from recollex.api.agent import Agent
from recollex_engine.agents import graph_drawing as drawing
from recollex_engine.domain.checks import check_count

_FOLDER = Path(__file__).parent
_FILES = {
    "style": "page.css",
    "cut": "cut.js",
    "layout": "layout.js",
    "elements": "elements.js",
    "panels": "panels.js",
    "page": "page.js",
}
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def graph_page(
    agent: Agent,
    *,
    query: str | None = None,
    as_recorded: datetime | None = None,
    limit: int = 400,
) -> str:
    """Return a page that draws what ``agent`` knew, at any time up to ``as_recorded``.

    query: draw only what a recall of it packs (see `recollex.Packing`), in that cut. limit: without
    a query, the most facts and events, newest first, with the entities that they need, and the most
    memories.

    >>> import recollex, tempfile
    >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
    >>> id = alice.facts.add("Ann", "likes", "</script>")
    >>> graph_page(alice).count("</script>")
    4
    """
    check_count(limit, "limit", 1, 100_000)
    past = agent if as_recorded is None else agent.at(as_recorded)
    view, facts = past.engine.view(), past.facts.view()
    said = []
    if view is None:
        chosen = drawing.Chosen()
    elif query is None:
        chosen = drawing.newest(view, facts, limit)
    else:
        graph = past.recall(query, pack="subgraph").subgraph
        assert graph is not None
        columns = view.columns
        memories = [columns.newest(memory.id, view.memories, view.op) for memory in graph.memories]
        chosen = drawing.Chosen(
            _known(columns.dictionary["fact_ids"].get(fact.id) for fact in graph.facts),
            _known(columns.dictionary["event_ids"].get(event.id) for event in graph.events),
            _known(memories),
        )
        said.append(f"\u201c{query}\u201d")
    if as_recorded is not None:
        said.append(f"as recorded by {as_recorded.isoformat(sep=' ', timespec='seconds')}")
    drawn = drawing.draw(view, facts, chosen) | {"subtitle": " \u00b7 ".join(said)}
    return _filled(f"{agent.name}: what was known, and when", drawn)


def _known(numbers: Iterable[int | None]) -> set[int]:
    return {number for number in numbers if number is not None}


def _filled(title: str, drawn: dict[str, Any]) -> str:
    """Return the page with its parts inserted, each once; parts are not searched again."""
    data = orjson.dumps(drawn).decode()
    parts = {name: (_FOLDER / file).read_text("utf-8") for name, file in _FILES.items()}
    parts["title"] = escape(title)
    parts["drawing"] = re.sub("[<>&\u2028\u2029]", lambda found: _UNSAFE[found[0]], data)
    template = (_FOLDER / "page.html").read_text("utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]].rstrip("\n"), template)
