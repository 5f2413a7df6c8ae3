"""Recalls that are refused: a named error says the bound and the value."""

from datetime import date

import numpy as np
import pytest

from tests.bindings.bad_input.bad_values import (
    AT,
    LATER,
    LONE,
    METADATA,
    NAIVE,
    NAMES,
    VECTORS,
    D,
    Odd,
    V,
    bad,
    refuses,
)

RECALL = [
    *(bad(f"query {type(x).__name__}", "query must be a str, got", x)
      for x in (None, b"x", 5, ["x"], {"x": 1}, Odd())),
    bad("empty", "query is empty", " "),
    bad("long", "query may have up to 20,000 characters, got 20,001", "x" * 20_001),
    bad("surrogate", "query has a lone surrogate at character 4", LONE),
    *(bad(f"{name} {value!r}", rf"{name} must {message}", "x", **{name: value})
      for name, most in (("thinking_budget", 100_000), ("max_tokens", 2**31), ("limit", 10**6))
      for value, message in (
        (0, rf"lie in \[1, {most}\], got 0"),
        (-1, rf"lie in \[1, {most}\], got -1"),
        (most + 1, rf"lie in \[1, {most}\], got {most + 1}"),
        (2**64, rf"lie in \[1, {most}\], got {2**64}"),
        (True, "be an int, got bool"),
        (1.5, "be an int, got float"),
        ("5", "be an int, got str"),
        (float("nan"), "be an int, got float"),
    )),
    bad("no thinking_budget", "thinking_budget must be an int", "x", thinking_budget=None),
    *(bad(f"network {value!r}", message, "x", network=value) for value, message in (
        ("none", "network must be one of world, agent, opinion, got 'none'"),
        (["world", "x"], "network must be one of"),
        ([0], "network must be one of"),
        (0, "network must be a str or a list of str, got"),
        ([], "network is empty"),
        ({"world": 1}, "network must be a str or a list of str, got"),
    )),
    *(bad(f"roles {value!r}", message, "x", roles=value) for value, message in (
        ("boss", "role must be one of user, human, assistant, .*got 'boss'"),
        (["user", None], "role must be one of"),
        (1, "roles must be a str or a list of str, got"),
        ([], "roles is empty: leave it out for all of them"),
    )),
    *(bad(f"trust {value!r}", "trust must be one of web, tool, assistant, user", "x", trust=value)
      for value in ("crm", "", 4, ["user"], {"user": 1})),
    *(bad(f"{name} {value!r:.12}", f"{name} {message}", "x", **{name: value})
      for name in ("since", "until", "now")
      for value, message in (
        (NAIVE, "has no time zone"),
        (date(2024, 1, 1), "must be a datetime"),
        ("2024-01-01", "has no time zone: .*; write 2024-01-01T00:00:00Z"),
        ("yesterday", "is not ISO 8601"),
        (0, "must be a datetime"),
    )),
    bad("interval empty", "since must be earlier than until, got since 2024-05-04 .*swap", "x",
        since=AT, until=AT),
    bad("interval backwards", "since must be earlier than until", "x", since=LATER, until=AT),
    *(bad(f"names {name}", message, "x", **{option: value})
      for name, (option, message, value) in NAMES.items() if "too" not in name),
    *(bad(f"where {name}", message.replace("metadata", "where"), "x", where=value)
      for name, (message, value) in METADATA.items()),
    bad("where list", "where must be a dict, got list", "x", where=[]),
    bad("document int", "document_id must be a str or a list of str, got int", "x", document_id=5),
    bad("document list", "document_id must be a str, got int", "x", document_id=["x", 5]),
    bad("no document", "document_id is empty: leave it out", "x", document_id=[]),
    bad("speakers int", "speakers must be a str or a list of str, got int", "x", speakers=5),
    bad("recorded backwards", "recorded_since must be earlier than recorded_until", "x",
        recorded_since=LATER, recorded_until=AT),
    *(bad(f"operator {name}", message, "x", where={"n": value}) for name, message, value in (
        ("$gt", r"where\['n'\] has no operator '\$gt', did you mean 'gt'\?", {"$gt": 2}),
        ("city", r"where\['n'\] has no operator 'city'", {"city": "Oslo"}),
        ("none", r"where\['n'\] has no operator", {}),
        ("within not", r"where\['n'\]\['not'\] has no operator 'gr'", {"not": {"gr": 2}}),
        ("in", r"where\['n'\]\['in'\] must be a list of 1 to 256 values", {"in": []}),
        ("in str", r"where\['n'\]\['in'\] must be a list", {"in": "abc"}),
        ("gt list", r"where\['n'\]\['gt'\] must be a number or a str", {"gt": [1]}),
        ("gt bool", r"where\['n'\]\['gt'\] must be a number or a str", {"gt": True}),
        ("exists", r"where\['n'\]\['exists'\] must be True or False", {"exists": 1}),
    )),
    bad("document empty", "document_id is empty", "x", document_id=""),
    bad("document surrogate", "document_id has a lone", "x", document_id=LONE),
    bad("exact", "exact must be True or False, got 1", "x", exact=1),
    bad("explain", "explain must be True or False, got 'yes'", "x", explain="yes"),
    *(bad(f"vector {name}",
          message.replace("embedding", "query_embedding")
          .replace("(1, 32\\)", "(32,\\)").replace("(1, 1, 32\\)", "(1, 32\\)")
          .replace("(1, 31", "(31,").replace("(1, 33", "(33,")
          .replace("got \\(1,\\)", "got \\(\\)"),
          "x", query_embedding=value)
      for name, (message, value) in VECTORS.items()),
]  # fmt: skip


@pytest.mark.parametrize("args, options, error, message", RECALL)
def test_recall(agent, args, options, error, message):
    refuses(lambda: agent.recall(*args, **{"query_embedding": V, **options}), error, message)


@pytest.mark.parametrize("args, options, error, message", RECALL)
def test_recall_of_an_agent_that_is_new(store, args, options, error, message):
    options = {"query_embedding": V, **options}
    refuses(lambda: store.agent("new").recall(*args, **options), error, message)


RECALL_MANY = [
    *(bad(f"queries {type(x).__name__}", "queries must be a list of str, got", x)
      for x in (None, 5, "x", b"x", {"x": 1}, Odd())),
    bad("a query", "query is empty", ["x", ""]),
    bad("an option", "thinking_budget must be an int", ["x"], thinking_budget="5"),
    bad("vectors", "query_embedding must have one row a query: 2 queries, got 1 row", ["x", "y"],
        query_embedding=[V]),
    bad("vectors int", "query_embedding must be a list", ["x"], query_embedding=5),
    bad("vectors flat", r"query_embedding must have shape \(32,\), got \(\)", ["x"] * D,
        query_embedding=V),
    bad("vector nan", "query_embedding holds a NaN", ["x"], query_embedding=[[np.nan] * D]),
]  # fmt: skip


@pytest.mark.parametrize("args, options, error, message", RECALL_MANY)
def test_recall_many(agent, args, options, error, message):
    queries = args[0] if isinstance(args[0], list) else ["x"]
    options = {"query_embedding": [V] * len(queries), **options}
    refuses(lambda: agent.recall_many(*args, **options), error, message)
