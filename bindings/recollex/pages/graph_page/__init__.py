"""An agent's graph as one HTML page: nothing to install, nothing loaded from elsewhere.

The page draws the cut at its slider's time; `recollex.pages.graph_drawing` says what it
contains. Its texts are data in a JSON block, in which no character can end the block, and the
script inserts them as text. A content security policy forbids the page to load or send anything.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from difflib import get_close_matches
from html import escape
from pathlib import Path
from typing import Any

import orjson

from recollex.api.agent import Agent
from recollex.pages import graph_drawing
from recollex_engine.domain.checks import check_count
from recollex_engine.errors import InputError
from recollex_engine.facts.conflicts import MANY_VALUED
from recollex_engine.facts.fact_view import FactView

_FOLDER = Path(__file__).parent
_FILES = {
    "style": "page.css",
    "conflicts": "conflicts.js",
    "cut": "cut.js",
    "layout": "layout.js",
    "labels": "labels.js",
    "elements": "elements.js",
    "clocks": "clocks.js",
    "view": "view.js",
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
    many_valued: Sequence[str] = (),
) -> str:
    """Return a page that draws what ``agent`` knew, at any time up to ``as_recorded``.

    query: draw only what a recall of it packs (see `recollex.Packing`), in that cut. limit: without
    a query, the most facts and events, newest first, with the entities that they need, and the most
    memories. many_valued: predicates that may have many objects at once, so that their facts are
    not drawn as conflicts; `has_attr` and `mentioned_in` always are.

    >>> import recollex, tempfile
    >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
    >>> id = alice.facts.add("Ann", "likes", "</script>")
    >>> graph_page(alice).count("</script>")
    4
    """
    drawing = drawn(
        agent, query=query, as_recorded=as_recorded, limit=limit, many_valued=many_valued
    )
    return _filled(f"{agent.name}: what was known, and when", drawing)


def drawn(
    agent: Agent,
    *,
    query: str | None = None,
    as_recorded: datetime | None = None,
    limit: int = 400,
    many_valued: Sequence[str] = (),
) -> dict[str, Any]:
    """Return what the page draws as JSON values; the arguments are those of `graph_page`."""
    check_count(limit, "limit", 1, 100_000)
    if isinstance(many_valued, str):
        raise InputError(f"many_valued must be a list of predicates, got {many_valued!r}")
    past = agent if as_recorded is None else agent.at(as_recorded)
    view = past.engine.view()
    facts = past.facts.view()
    said = []
    if view is None:
        chosen = graph_drawing.Chosen()
    elif query is None:
        chosen = graph_drawing.newest(view, facts, limit)
    else:
        graph = past.recall(query, pack="subgraph").subgraph
        assert graph is not None
        columns = view.columns
        memories = [columns.newest(memory.id, view.memories, view.op) for memory in graph.memories]
        chosen = graph_drawing.Chosen(
            _known(columns.dictionary["fact_ids"].get(fact.id) for fact in graph.facts),
            _known(columns.dictionary["event_ids"].get(event.id) for event in graph.events),
            _known(memories),
        )
        said.append(f"\u201c{query}\u201d")
    if as_recorded is not None:
        said.append(f"as recorded by {as_recorded.isoformat(sep=' ', timespec='seconds')}")
    _check_predicates(facts, many_valued)
    return graph_drawing.draw(view, facts, chosen) | {
        "subtitle": " \u00b7 ".join(said),
        "many_valued": [*MANY_VALUED, *many_valued],
    }


def _check_predicates(facts: FactView, named: Sequence[str]) -> None:
    """Raise `InputError` for a predicate that no fact of the view ever had."""
    if not named:
        return
    known = {facts.columns.label(number) for number in set(facts.array("fact_predicate").tolist())}
    for predicate in named:
        if predicate not in known:
            near = get_close_matches(predicate, [each for each in known if each], n=3, cutoff=0.5)
            raise InputError(
                f"many_valued names {predicate[:80]!r}, which is the predicate of no fact"
                + (f"; nearest: {', '.join(near)}" if near else "")
            )


def _known(numbers: Iterable[int | None]) -> set[int]:
    return {number for number in numbers if number is not None}


def frame_page(first: str) -> str:
    """Return the page without a drawing, for a frame: ``first`` is a script that runs before it.

    The script puts the drawing, as JSON, into the element with the id "drawing".
    """
    return _filled("The graph", None, first)


def _filled(title: str, drawing: dict[str, Any] | None, first: str = "") -> str:
    """Return the page with its parts inserted, each once; parts are not searched again."""
    data = orjson.dumps(drawing).decode()
    parts = {name: (_FOLDER / file).read_text("utf-8") for name, file in _FILES.items()}
    parts["title"] = escape(title)
    parts["first"] = first
    parts["drawing"] = re.sub("[<>&\u2028\u2029]", lambda found: _UNSAFE[found[0]], data)
    template = (_FOLDER / "page.html").read_text("utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]].rstrip("\n"), template)
