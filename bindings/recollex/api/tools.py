"""The tools by which a language model explores an agent's gists and facts (REMem, Table 1)."""

import inspect
import types
from collections.abc import Mapping
from functools import cache
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

from recollex.api.argument_groups import check_names, near
from recollex.api.arguments import checked_id, optional_micros
from recollex.api.tool_texts import ARGUMENTS, TOOLS
from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.clock import Moment
from recollex_engine.domain.checks import MAX_TEXT, check_count, check_embedding, check_text
from recollex_engine.domain.intervals import Box
from recollex_engine.domain.question import MAX_LIMIT, MAX_QUERY
from recollex_engine.errors import InputError, UnknownIdError
from recollex_mind.episodic.contexts import Contexts
from recollex_mind.episodic.exploration import (
    AGGREGATIONS,
    COMPARISONS,
    END_OPERATOR,
    ORDERINGS,
    START_OPERATOR,
    Pattern,
    aggregate,
    check_pattern,
    find_entity_contexts,
    find_gist_contexts,
    read_window,
)
from recollex_mind.episodic.memory_graph import MemoryGraph
from recollex_mind.episodic.retrieval import lexical_retrieve, semantic_retrieve

# The tools as JSON Schemas for a language model: names and types are those of the signatures.
FORMS = ("openai", "responses", "mcp")
"""The forms of a schema: OpenAI's chat completions and responses, and MCP."""

_CHOICES = {
    "start_operator": COMPARISONS,
    "end_operator": COMPARISONS,
    "ordering": ORDERINGS,
    "aggregation": tuple(AGGREGATIONS),
}
_LEAST = {"limit": 1, "offset": 0}
_JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def tool_schemas(tools: type, form: str) -> list[dict[str, Any]]:
    """Return the schema of each tool of a class, in a form. Raises `InputError`."""
    if form not in FORMS:
        raise InputError(f"form must be one of {', '.join(FORMS)}, got {form!r:.80}")
    return [_in_form(form, name, about, _parameters(tools, name)) for name, about in TOOLS.items()]


def check_call(tools: type, name: object, arguments: object) -> dict[str, Any]:
    """Return the arguments of a call by a model that are given. Raises `InputError`."""
    if name not in TOOLS:
        raise InputError(
            f"there is no tool {name!r:.80}{near(name, TOOLS)} There are {', '.join(TOOLS)}"
        )
    if not isinstance(arguments, Mapping):
        raise InputError(f"the arguments of {name} must be an object, got {arguments!r:.80}")
    known = ARGUMENTS[str(name)]
    check_names(str(name), arguments, known)
    kept = {key: value for key, value in arguments.items() if value is not None and value != ""}
    for key in _LEAST:
        if isinstance(kept.get(key), str) and kept[key].strip().isdecimal():
            kept[key] = int(kept[key])  # models write "5" for 5
    for key in _needed(tools, str(name)):
        if key in known and key not in kept:
            raise InputError(f"{name} needs {key}: {known[key]}")
    return kept


@cache
def _needed(tools: type, name: str) -> list[str]:
    """Return the arguments without a default of a tool; reading a signature takes 20 us."""
    parameters = inspect.signature(getattr(tools, name)).parameters
    return [key for key, each in parameters.items() if each.default is each.empty]


def _in_form(form: str, name: str, about: str, parameters: dict[str, Any]) -> dict[str, Any]:
    if form == "mcp":
        return {"name": name, "description": about, "inputSchema": parameters}
    function = {"name": name, "description": about, "parameters": parameters}
    if form == "responses":
        return {"type": "function", **function}
    return {"type": "function", "function": function}


def _parameters(tools: type, name: str) -> dict[str, Any]:
    """Return the JSON Schema of the arguments of a tool that a model gives."""
    method = getattr(tools, name)
    hints = get_type_hints(method)
    properties = {}
    needed = []
    for key, each in inspect.signature(method).parameters.items():
        if key not in ARGUMENTS[name]:
            continue
        schema: dict[str, Any] = {"description": ARGUMENTS[name][key]}
        kinds = _kinds(hints[key])
        if key in ("start_time", "end_time"):
            kinds = ["string"]
        schema["type"] = kinds[0] if len(kinds) == 1 else kinds
        if key in _CHOICES:
            schema["enum"] = list(_CHOICES[key])
        if key in _LEAST:
            schema["minimum"] = _LEAST[key]
        if each.default is each.empty:
            needed.append(key)
        elif each.default is not None:
            schema["default"] = each.default
        properties[key] = schema
    return {
        "type": "object",
        "properties": properties,
        "required": needed,
        "additionalProperties": False,
    }


def _kinds(hint: Any) -> list[str]:
    """Return the JSON types of an annotation, without null."""
    parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    return [_JSON_TYPES[each] for each in parts if each in _JSON_TYPES]


MAX_TOKENS = 4096
"""Tokens of a result's `to_prompt`, where nothing else is given."""
SKIPPED = 2**31
"""The most facts that may be skipped."""


class Tools:
    """The tools of an agent, from `Agent.tools`: REMem's names, arguments and defaults.

    `schemas` describes them for a language model, and `call` carries out what it asks for. The
    times and operators of every tool mean what the table in docs/facts-and-events.md says: by
    default a thing must begin in ``start_time`` or later and end in ``end_time`` or before.

    Every tool takes ``max_tokens`` (of `Contexts.to_prompt`, None for no limit), and
    ``as_recorded`` and ``as_world`` as `Facts.find` does. A model does not see these: the caller
    gives them.
    """

    def __init__(self, agent: AgentOrCut) -> None:
        self._agent = agent

    def semantic_retrieve(
        self,
        query: str,
        start_time: Moment | None = None,
        end_time: Moment | None = None,
        start_operator: str = START_OPERATOR,
        end_operator: str = END_OPERATOR,
        *,
        limit: int = 10,
        max_tokens: int | None = MAX_TOKENS,
        query_embedding: Any = None,
        as_recorded: Moment | None = None,
        as_world: Moment | None = None,
    ) -> Contexts:
        """Return the gists and facts that are nearest to a question in meaning, best first.

        limit: the most of each. start_time, end_time: only what began and ended then; see `Tools`.
        query_embedding: float[dimension]; computed, if not given.

        Raises `errors.InputError`, and `errors.ModelError` if the model fails.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> ids = alice.retain_many(["Bob moved to Oslo.", "Ann plays the cello."])
        >>> alice.tools.semantic_retrieve("Who makes music?", limit=1).gists[0].text
        'Ann plays the cello.'
        """
        check_text(query, "query", MAX_QUERY)
        check_count(limit, "limit", 1, MAX_LIMIT)
        most = _checked_tokens(max_tokens)
        vector = None
        if query_embedding is not None:
            vector = check_embedding(query_embedding, "query_embedding", self._agent.dimension)
        graph = self._graph(as_recorded, as_world)
        window = self._window(graph, start_time, end_time, start_operator, end_operator)
        if graph is None:
            return self._nothing(most)
        return semantic_retrieve(graph, query, window, limit, most, vector)

    def lexical_retrieve(
        self,
        query: str,
        start_time: Moment | None = None,
        end_time: Moment | None = None,
        start_operator: str = START_OPERATOR,
        end_operator: str = END_OPERATOR,
        *,
        limit: int = 10,
        max_tokens: int | None = MAX_TOKENS,
        as_recorded: Moment | None = None,
        as_world: Moment | None = None,
    ) -> Contexts:
        """Return the gists and facts that share most with the words of a question, best first.

        They are ranked by BM25. The arguments are those of `semantic_retrieve`. Raises
        `errors.InputError`.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> id = alice.facts.add("E95", "was the R11 of", "E57", valid="from 2020 to 2022")
        >>> print(alice.tools.lexical_retrieve("E95 was the R11 of E57").to_prompt())
        Facts:
        1. (E95, was the R11 of, E57) {"start_time":"2020","end_time":"2022"}
        """
        check_text(query, "query", MAX_QUERY)
        check_count(limit, "limit", 1, MAX_LIMIT)
        most = _checked_tokens(max_tokens)
        graph = self._graph(as_recorded, as_world)
        window = self._window(graph, start_time, end_time, start_operator, end_operator)
        if graph is None:
            return self._nothing(most)
        return lexical_retrieve(graph, query, window, limit, most)

    def find_gist_contexts(
        self,
        gist_id: str,
        start_time: Moment | None = None,
        end_time: Moment | None = None,
        start_operator: str = START_OPERATOR,
        end_operator: str = END_OPERATOR,
        *,
        limit: int = 10,
        max_tokens: int | None = MAX_TOKENS,
        as_recorded: Moment | None = None,
        as_world: Moment | None = None,
    ) -> Contexts:
        """Return the gists related to a gist, and the facts of the chunk that it was made of.

        gist_id: the id of a gist that another tool returned. Related are gists that say nearly the
        same (a similarity of at least 0.8), then the others of its chunk; ``limit`` of them. Facts:
        those that cite the gist come first.

        Raises `errors.UnknownIdError`, and `errors.InputError`.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> gist = alice.retain("Ann bought three cows from Peter.")
        >>> id = alice.facts.add("Ann", "bought", "three cows", evidence=gist)
        >>> [fact.object for fact in alice.tools.find_gist_contexts(gist).facts]
        ['three cows']
        """
        checked = checked_id(gist_id, "gist_id")
        check_count(limit, "limit", 1, MAX_LIMIT)
        most = _checked_tokens(max_tokens)
        graph = self._graph(as_recorded, as_world)
        window = self._window(graph, start_time, end_time, start_operator, end_operator)
        if graph is None:
            raise UnknownIdError(checked, self._agent.name)
        return find_gist_contexts(graph, checked, window, limit, most)

    def find_entity_contexts(
        self,
        subject: str | None = None,
        object: str | float | bool | None = None,
        predicate: str | None = None,
        start_time: Moment | None = None,
        end_time: Moment | None = None,
        start_operator: str = START_OPERATOR,
        end_operator: str = END_OPERATOR,
        limit: int | None = None,
        ordering: str | None = None,
        offset: int | None = None,
        aggregation: str | None = None,
        *,
        max_tokens: int | None = MAX_TOKENS,
        as_recorded: Moment | None = None,
        as_world: Moment | None = None,
    ) -> Contexts:
        """Return the facts with these parts, or their number, and the gists that they cite.

        At least one of subject, object and predicate is needed; names are matched whole, without
        regard to case, and a text may also be a literal. limit: the most facts; without it as many
        as fit, up to 100. ordering: "asc" by start, the earliest first; "desc" by end, the latest
        first; a fact without any time comes last. offset: how many are skipped, so the second one
        is ``offset=1, limit=1``. aggregation: "count", "count_unique_subjects" or
        "count_unique_objects": only `Contexts.count` of all that match. `Contexts.matched` says how
        many there are in any case.

        Raises `errors.InputError`.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> for city, when in [("Rome", "in July 2024"), ("Oslo", "in May 2024")]:
        ...     id = alice.facts.add("Ann", "visited", city, valid=when)
        >>> find = alice.tools.find_entity_contexts
        >>> [fact.object for fact in find("Ann", ordering="asc", offset=1, limit=1).facts]
        ['Rome']
        >>> find(predicate="visited", start_time="2024-06", aggregation="count").count
        1
        """
        most = _checked_tokens(max_tokens)
        if limit is not None:
            check_count(limit, "limit", 1, MAX_LIMIT)
        if offset is not None:
            check_count(offset, "offset", 0, SKIPPED)
        for name, given, known in (
            ("ordering", ordering, ORDERINGS),
            ("aggregation", aggregation, tuple(AGGREGATIONS)),
        ):
            if given is not None and given not in known:
                raise InputError(f"{name} must be one of {', '.join(known)}, got {given!r:.80}")
        graph = self._graph(as_recorded, as_world)
        pattern = Pattern(
            subject=None if subject is None else checked_id(subject, "subject"),
            predicate=None if predicate is None else checked_id(predicate, "predicate"),
            object=checked_id(object, "object") if isinstance(object, str) else object,
            window=self._window(graph, start_time, end_time, start_operator, end_operator),
            ordering=ordering,
            limit=limit,
            offset=offset or 0,
        )
        check_pattern(pattern, aggregation)
        if graph is None:
            return self._nothing(most, count=None if aggregation is None else 0, matched=0)
        if aggregation is not None:
            return aggregate(graph, pattern, aggregation)
        return find_entity_contexts(graph, pattern, most)

    def output_answer(self, answer: str | float | bool) -> str:
        """Return the answer as text: by this tool a model ends its search.

        >>> import recollex, tempfile
        >>> recollex.open(tempfile.mkdtemp()).agent("alice").tools.output_answer(42)
        '42'
        """
        if isinstance(answer, bool | int | float):
            return str(answer)
        check_text(answer, "answer", MAX_TEXT)
        return answer.strip()

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        max_tokens: int | None = MAX_TOKENS,
        as_recorded: Moment | None = None,
        as_world: Moment | None = None,
    ) -> Contexts | str:
        """Carry out what a language model asked for: one of `schemas`, by its name.

        arguments: those that the schema names; null and "" are as if they were not given. Returns
        a `Contexts`, or the text of `output_answer`. Raises `errors.InputError` for a tool or an
        argument that does not exist, and the errors of the tool: their texts say what to do, so
        they can be shown to the model.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> id = alice.facts.add("Ann", "visited", "Oslo", valid="in May 2024")
        >>> alice.tools.call("find_entity_contexts", {"predicate": "visited",
        ...                                           "aggregation": "count"}).count
        1
        """
        given = check_call(type(self), name, arguments)
        if name == "output_answer":
            return self.output_answer(**given)
        clocks = {"as_recorded": as_recorded, "as_world": as_world}
        found: Contexts = getattr(self, name)(**given, max_tokens=max_tokens, **clocks)
        return found

    def schemas(self, form: str = "openai") -> list[dict[str, Any]]:
        """Return the tools as JSON Schemas, made from their signatures.

        form: "openai" for chat completions, "responses" for OpenAI's responses, "mcp" for the
        Model Context Protocol.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> [tool["name"] for tool in alice.tools.schemas("mcp")][:2]
        ['semantic_retrieve', 'lexical_retrieve']
        """
        return tool_schemas(type(self), form)

    def _graph(self, as_recorded: Moment | None, as_world: Moment | None) -> MemoryGraph | None:
        recorded = optional_micros(as_recorded, "as_recorded")
        return MemoryGraph.of(self._agent, recorded, optional_micros(as_world, "as_world"))

    def _window(self, graph: MemoryGraph | None, *given: Any) -> Box:
        now = self._agent.clock() if graph is None else graph.now
        return read_window(*given, now=now, locale=self._agent.locale)

    def _nothing(self, max_tokens: int | None, **told: Any) -> Contexts:
        name = self._agent.counter().name
        note = f"the agent {self._agent.name!r} holds nothing"
        return Contexts(note=note, max_tokens=max_tokens, token_counter=name, **told)


def _checked_tokens(given: object) -> int | None:
    if given is None:
        return None
    check_count(given, "max_tokens", 1, 2**31)
    return cast(int, given)
