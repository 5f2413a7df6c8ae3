"""Prepares arguments before a call is sent: it can then be encoded, and sent again safely."""

import copy
import os
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any
from uuid import UUID

import numpy as np

from recollex.api.arguments import as_list
from recollex_engine.domain.checks import mended_turns
from recollex_engine.errors import InputError
from recollex_engine.ranking.presets import PRESETS
from recollex_engine.recall.recall import Recall

CallArguments = dict[str, Any]


def fresh_ids(count: int) -> list[str]:
    """Return new UUIDs, version 4.

    >>> len(set(fresh_ids(3)))
    3
    """
    drawn = os.urandom(16 * count)
    return [
        str(UUID(bytes=drawn[start : start + 16], version=4)) for start in range(0, len(drawn), 16)
    ]


def _retain(named: CallArguments) -> CallArguments:
    """Give the text an id if it has none: a text with an id is stored once, however often sent.

    Arguments that are not acceptable stay as they are; the server refuses them.
    """
    named = _with_array(named, "embedding")
    if isinstance(named.get("text"), str) and named.get("id") is None:
        return named | {"id": fresh_ids(1)[0]}
    return named


def _retain_many(named: CallArguments) -> CallArguments:
    """Give an id to every text without one; see `_retain`."""
    named = _with_array(named, "embedding")
    ids = named.get("id")
    try:
        texts = as_list(named.get("texts"), "texts")
        named = named | {"texts": texts}
        given = (
            ids
            if isinstance(ids, str)
            else as_list([None] * len(texts) if ids is None else ids, "id")
        )
    except InputError:
        return named
    if isinstance(given, list) and len(given) == len(texts):
        new = iter(fresh_ids(sum(each is None for each in given)))
        given = [next(new) if each is None else each for each in given]
    return named | {"id": given}


def _retain_dialogue(named: CallArguments) -> CallArguments:
    """Give an id to every turn without one, unless the turns replace a document."""
    named = _with_list(named, "turns")
    turns = named.get("turns")
    if isinstance(turns, list):
        turns = mended_turns(turns, named.get("document_id"))
        named = named | {"turns": turns}
    if isinstance(turns, list) and named.get("replace", False) is False:
        named = named | {
            "turns": [
                {**turn, "id": fresh_ids(1)[0]}
                if isinstance(turn, Mapping) and turn.get("id") is None
                else turn
                for turn in turns
            ]
        }
    return named


def _recall(named: CallArguments) -> CallArguments:
    """Replace a preset that has a name by the name, which is shorter; the server knows it."""
    if (preset := named.get("preset")) is not None:
        name = getattr(preset, "name", None)
        if isinstance(name, str) and PRESETS.get(name) is preset:
            named = named | {"preset": name}
    return _with_array(named, "query_embedding") if "query_embedding" in named else named


def _apply(named: CallArguments) -> CallArguments:
    return _with_list(named, "operations")


def _correct(named: CallArguments) -> CallArguments:
    return _with_array(named, "embedding")


def _backfill(named: CallArguments) -> CallArguments:
    """Leave out a recall's subgraph, which a backfill does not read."""
    recall = named.get("recall")
    if isinstance(recall, Recall) and recall.subgraph is not None:
        recall = copy.copy(recall)
        recall.subgraph = None
    return named | {"recall": recall}


def _recall_of_agents(named: CallArguments) -> CallArguments:
    return _recall(_with_list(named, "agents"))


def _think(named: CallArguments) -> CallArguments:
    if named.get("stream") is not None:
        raise InputError("stream is for an agent of this process: a server answers at the end")
    return named


PREPARE: Mapping[str, Callable[[CallArguments], CallArguments]] = MappingProxyType(
    {
        "retain": _retain,
        "retain_many": _retain_many,
        "retain_dialogue": _retain_dialogue,
        "correct": _correct,
        "apply": _apply,
        "recall": _recall,
        "recall_many": _recall,
        "store.recall": _recall_of_agents,
        "sessions.recall": _recall,
        "think": _think,
        "sessions.backfill": _backfill,
    }
)
"""Method -> the function that prepares its arguments."""


def _with_list(named: CallArguments, name: str) -> CallArguments:
    """Replace an argument that can be iterated once by a list of its items."""
    try:
        return named | {name: as_list(named.get(name), name)}
    except InputError:
        return named


def _with_array(named: CallArguments, name: str) -> CallArguments:
    """Replace vectors of any form by one array; other values stay as they are."""
    given = named.get(name)
    if given is None or isinstance(given, str):
        return named
    try:
        array = np.asarray(given)
    except (TypeError, ValueError):  # ragged
        return named
    if array.dtype.kind in "iu":
        array = array.astype(np.float64)
    # An array of objects is sent as a list of None: the server refuses both for the same reason.
    return named | {name: array if array.dtype.kind == "f" else [None]}
