"""The endpoints that use a language model in Memora: think (its 4.3) and background (its 4.4).

The server may have no model. Then the answer holds what an agent would think from, and the messages
for a model, for a caller that has one. Opinions are not extracted from an answer: a caller that
forms an opinion stores it, as a memory of the network "opinion".
"""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from weakref import WeakValueDictionary

from recollex.http import responses
from recollex.http.endpoint import Backend, CheckedRequest, Endpoint
from recollex.http.profiles import BACKGROUND, MAX_BACKGROUND, operations_of, profile
from recollex.http.responses import TRAITS
from recollex.http.schema import (
    AGENT,
    BUDGET,
    LEAST_TRUST,
    QUERY,
    Schema,
    members,
    text,
    whole,
)
from recollex_engine.domain.schema import NETWORKS
from recollex_engine.domain.trust import prompt_line
from recollex_engine.errors import InputError, ModelError
from recollex_engine.recall.recall import Recall

Message = dict[str, str]

_SWAY = (
    (
        0.7,
        "Your personality strongly influences your thinking. Let your traits guide how you "
        "interpret facts and form opinions. Don't be afraid to be biased based on your "
        "personality.",
    ),
    (
        0.4,
        "Your personality moderately influences your thinking. Balance your personal traits with "
        "objective analysis.",
    ),
    (
        0.0,
        "Your personality has minimal influence on your thinking. Focus primarily on facts while "
        "keeping your traits in mind.",
    ),
)
"""The smallest bias_strength -> what the model is instructed to do (Memora 4.3)."""
_DEGREES = ((0.8, "very high"), (0.6, "high"), (0.4, "moderate"), (0.2, "low"), (0.0, "very low"))
_CHAPTERS = (
    ("agent", "MY IDENTITY & EXPERIENCES:"),
    ("world", "WHAT I KNOW ABOUT THE WORLD:"),
    ("opinion", "MY EXISTING OPINIONS & BELIEFS:"),
)
_SHORT = 500
"""The most characters of a merged background (Memora 4.4)."""


def described(name: str, value: float) -> str:
    """Return a trait in words (Memora 4.3).

    >>> described("openness", 0.8)
    'very high openness'
    """
    return f"{next(words for least, words in _DEGREES if value >= least)} {name}"


def to_think(
    query: str,
    context: str | None,
    profile: Mapping[str, Any],
    based_on: Mapping[str, list[dict[str, Any]]],
) -> list[Message]:
    """Return the messages from which a model answers for an agent (Memora 4.3)."""
    personality = profile["personality"]
    bias = personality["bias_strength"]
    lines = ["Here's what I know and have experienced:", ""]
    marked = any(memory["source"] is not None for each in based_on.values() for memory in each)
    for network, title in _CHAPTERS:
        lines += [title, *(_line(memory, marked) for memory in based_on[network]), ""]
    lines += ["Your personality traits:"]
    lines += [f"- {described(name, personality[name])}" for name in TRAITS]
    lines += [
        "",
        f"Personality influence strength: {bias:.0%} (how much your personality shapes your "
        "opinions)",
        "",
    ]
    if profile["background"]:
        lines += ["Your background:", profile["background"], ""]
    if context:
        lines += ["Context:", context, ""]
    lines += [
        f"QUESTION: {query}",
        "",
        "Based on everything I know, believe, and who I am (including my personality and "
        "background), here's what I genuinely think about this question...",
    ]
    system = next(words for least, words in _SWAY if bias >= least)
    return [_message("system", system), _message("user", "\n".join(lines))]


def to_merge(current: str, content: str) -> list[Message]:
    """Return the messages from which a model merges a background (Memora 4.4)."""
    said = (
        f"Current background: {current}\nNew information: {content}\n\n"
        "Merge these, resolving conflicts (new info overwrites old).\n"
        f'Output in FIRST PERSON ("I"). Be concise (under {_SHORT} characters).'
    )
    return [_message("user", said)]


def appended(current: str, content: str) -> str:
    """Return a background with a sentence added, unless the background already holds it.

    >>> appended("I was born in Texas", "I cook.")
    'I was born in Texas. I cook.'
    """
    current, content = current.strip(), content.strip()
    if content in current:
        return current
    if not current:
        return content
    return f"{current}{'' if current[-1] in '.!?' else '.'} {content}"


def _message(role: str, content: str) -> Message:
    return {"role": role, "content": content}


def _line(memory: Mapping[str, Any], marked: bool) -> str:
    """Return a memory as a line; ``marked``: say what is below full trust, as `to_prompt` does."""
    said = f"{datetime.fromisoformat(memory['event_at']):%B %d, %Y}"
    if not marked:
        return f"- [{said}] {memory['text']}"
    return f"- {prompt_line(said, memory['text'], memory['source'], memory['trust'])}"


def _by_network(recall: Recall) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {network: [] for network in NETWORKS}
    for memory in recall:
        found[memory.network].append(memory.to_dict())
    return found


async def think(backend: Backend, request: CheckedRequest) -> Any:
    """Return what an agent would answer from, and the answer of the model if there is one."""
    body = request.body
    asked = {
        name: body[name]
        for name in ("query", "thinking_budget", "max_tokens", "trust")
        if name in body
    }
    based_on, who = await asyncio.gather(
        backend.call("recall", request.agent, asked, _by_network), profile(backend, request.agent)
    )
    messages = to_think(body["query"], body.get("context"), who, based_on)
    said = None if backend.chat is None else await backend.chat.answer(messages)
    return {"text": said, "based_on": based_on, "profile": who, "messages": messages}


_merging: "WeakValueDictionary[str, asyncio.Lock]" = WeakValueDictionary()


async def merge_background(backend: Backend, request: CheckedRequest) -> Any:
    """Add to an agent's background, one request at a time, and return the background."""
    content = request.body["content"]
    lock = _merging.setdefault(request.agent, asyncio.Lock())
    async with lock:
        current = (await profile(backend, request.agent))[BACKGROUND]
        if backend.chat is None:
            merged = appended(current, content)
        else:
            merged = await backend.chat.answer(to_merge(current, content))
        if len(merged) > MAX_BACKGROUND:
            if backend.chat is not None:
                raise ModelError(
                    f"{backend.chat.name} made a background of {len(merged):,} characters"
                )
            raise InputError(
                f"a background may have {MAX_BACKGROUND:,} characters, and would have "
                f"{len(merged):,}: PUT /api/agents/{{agent_id}} replaces it"
            )
        if merged != current:
            arguments = {"operations": operations_of({}, merged), "by": "http"}
            await backend.call("apply", request.agent, arguments, int)
    return {BACKGROUND: merged}


_MEMORIES: Schema = {"type": "array", "items": responses.reference("Memory")}
THOUGHT = responses.record(
    "What an agent thinks from, and what it thinks: null where no model is set.",
    text={"type": ["string", "null"]},
    based_on=responses.record("By network.", **dict.fromkeys(NETWORKS, _MEMORIES)),
    profile=responses.reference("Profile"),
    messages={
        "type": "array",
        "items": responses.record(role={"type": "string"}, content={"type": "string"}),
    },
)

ENDPOINTS = (
    Endpoint(
        "POST",
        "/api/think",
        "recall",
        "Think",
        think,
        THOUGHT,
        body=members(
            {
                "agent_id": AGENT,
                "query": QUERY,
                "thinking_budget": BUDGET,
                "max_tokens": whole(1, 2**31, "Of the memories returned.", default=4096),
                "context": text(MAX_BACKGROUND, "What else bears on the question."),
                "trust": LEAST_TRUST,
            },
            ("agent_id", "query"),
        ),
        about="Memora 6.1. The memories of all networks that bear on the question, the agent's "
        "profile, and the messages for a language model that they come to (Memora 4.3). text is "
        "its answer where the server was started with --chat-model; null otherwise. Opinions are "
        "not stored: POST /api/memories/batch does that.",
        group="agents",
    ),
    Endpoint(
        "POST",
        "/api/agents/{agent_id}/background",
        "apply",
        "Add to an agent's background",
        merge_background,
        responses.record(background={"type": "string"}),
        parameters={"agent_id": AGENT},
        body=members(
            {"content": text(MAX_BACKGROUND, "What is new, in the first person.")}, ("content",)
        ),
        about="Memora 6.2. Merged by the language model of --chat-model; without one it is "
        "appended to what is there, and may contradict it.",
        group="agents",
    ),
)
