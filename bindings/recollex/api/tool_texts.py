"""What a language model is told of the tools, in our words; a test holds them to the signatures.

Arguments that only a caller gives (limits, clocks, a vector) are left out. Nothing is imported here
that takes time: an MCP server tells of the tools before the engine is there.
"""

import types
from collections.abc import Mapping

TOOLS: Mapping[str, str] = types.MappingProxyType(
    {
        "semantic_retrieve": "Find the gists (short statements of what happened, with their dates) "
        "and the facts (triples with times) that are nearest to a query in meaning. A good first "
        "step: it shows which names, predicates and times there are.",
        "lexical_retrieve": "Find the gists and facts that share the most words with a query. "
        "Better than semantic_retrieve for names, identifiers and exact words.",
        "find_gist_contexts": "Look around one gist: other gists that say nearly the same or come "
        "from the same talk, and the facts that rest on it.",
        "find_entity_contexts": "Find facts by their exact subject, object or predicate and by "
        "their times, in an order, or count them. Use names as other tools returned them. Give at "
        "least one of subject, object and predicate.",
        "output_answer": "Give the final answer and end the search.",
    }
)
"""The tools, in the order in which a model is told of them, and what each is for."""

_WINDOW = {
    "start_time": "Only what began at this time: 2024, 2024-05, 2024-05-04 or 2024-05-04T09:30Z. "
    "See start_operator.",
    "end_time": "Only what ended at this time, likewise. See end_operator.",
    "start_operator": "How a start must lie to start_time: lt before it, le in it or before, eq in "
    "it, ge in it or later, gt after it. To find what held at some time in 1955: start_time 1955, "
    "start_operator le, end_time 1955, end_operator ge.",
    "end_operator": "How an end must lie to end_time, likewise.",
}
_QUERY = {"query": "What is looked for, in a few words or as a question.", **_WINDOW}
ARGUMENTS: Mapping[str, Mapping[str, str]] = types.MappingProxyType(
    {
        "semantic_retrieve": _QUERY,
        "lexical_retrieve": _QUERY,
        "find_gist_contexts": {"gist_id": "The id of a gist that a tool returned.", **_WINDOW},
        "find_entity_contexts": {
            "subject": "The subject: E1 in (E1, was born in, E2).",
            "object": "The object: E2 in (E1, was born in, E2).",
            "predicate": "The predicate: 'was born in' in (E1, was born in, E2).",
            **_WINDOW,
            "limit": "The most facts. Leave it out to see as many as fit.",
            "ordering": "asc: by start, the earliest first. desc: by end, the latest first.",
            "offset": "How many facts are skipped: with ordering and limit 1, offset 1 is the "
            "second one.",
            "aggregation": "Return only a number: of the facts, or of their different subjects or "
            "objects.",
        },
        "output_answer": {"answer": "The answer alone, as short as it can be."},
    }
)
"""Tool -> argument -> what it is for, as the model is told."""
