"""The endpoints for how long an agent keeps memories: its retention rules."""

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from recollex.remote.http import responses
from recollex.remote.http.endpoint import Backend, CheckedRequest, Endpoint, calls, done
from recollex.remote.http.schema import (
    NETWORK,
    OF_AGENT,
    flag,
    listed,
    members,
    moment,
    number,
    text,
    whole,
)
from recollex_engine.domain.removal import MOST_AGE, MOST_COUNT, MOST_RULES, Retention

RULE = members(
    "Rule",
    {
        "network": NETWORK,
        "age_seconds": number(
            1e-6, MOST_AGE.total_seconds(), "Memories that were recorded longer ago are due."
        ),
        "count": whole(0, MOST_COUNT, "All but the newest memories, this many, are due."),
        "erase": flag("`expire` also takes them out of every file, for good."),
    },
    about="One rule: an age, a count or both; of one network or of all.",
)
RULES = members(
    "Rules",
    {
        "rules": listed(
            RULE, "All rules from now on; an empty list keeps everything.", 0, MOST_RULES
        ),
        "by": text(about="Who sets them."),
        "why": text(about="The reason."),
    },
    ("rules",),
)


def _from_json(said: Mapping[str, Any]) -> Retention:
    age = said.get("age_seconds")
    rest = {name: value for name, value in said.items() if name != "age_seconds"}
    return Retention(age=None if age is None else timedelta(seconds=age), **rest)


def _to_json(rule: Retention) -> dict[str, Any]:
    age = None if rule.age is None else rule.age.total_seconds()
    said = {"network": rule.network, "age_seconds": age, "count": rule.count}
    found = {name: value for name, value in said.items() if value is not None}
    return {**found, "erase": rule.erase}


def _rules(rules: Sequence[Retention]) -> dict[str, Any]:
    return {"rules": [_to_json(rule) for rule in rules]}


async def set_rules(backend: Backend, request: CheckedRequest) -> Any:
    """Replace the rules."""
    rules = [_from_json(each) for each in request.body["rules"]]
    arguments = {**request.body, "rules": rules}
    return await backend.call("set_retention", request.agent, arguments, done)


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/agents/{agent_id}/retention",
        "retention",
        "Read an agent's retention rules",
        calls("retention", _rules, cut=True),
        responses.listing("rules", responses.reference("Rule")),
        parameters=OF_AGENT,
        query={"as_recorded": moment("Those in force then.")},
        group="agents",
    ),
    Endpoint(
        "PUT",
        "/api/agents/{agent_id}/retention",
        "set_retention",
        "Set all retention rules of an agent",
        set_rules,
        responses.DONE,
        parameters=OF_AGENT,
        body=RULES,
        about="Each later write also forgets what is due then.",
        group="agents",
    ),
    Endpoint(
        "POST",
        "/api/agents/{agent_id}/expire",
        "expire",
        "Forget what is due now, and erase what rules with `erase` let go",
        calls("expire", dataclasses.asdict),
        responses.EXPIRY,
        parameters=OF_AGENT,
        group="agents",
    ),
)
