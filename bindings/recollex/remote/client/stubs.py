"""Makes the methods of the clients: each sends a call to the server.

A stub has the parameters, the documentation and the types of the embedded API's method. For
arguments that do not fit them, the error is that method's own.

Raises the embedded API's error for an argument that cannot be sent.
A set, an object or a number beyond 64 bits cannot reach the server, which would say what is wrong.
So the method of the embedded API is called here, on an agent that does nothing: a method checks its
arguments before it does anything else.
"""

import copy
import functools
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, NoReturn, cast
from uuid import UUID

import numpy as np

from recollex.api.agent import Agent
from recollex.api.argument_groups import ArgumentGroup
from recollex.api.arguments import as_list
from recollex.api.filters import expanded
from recollex.api.proxies import AsyncProxy, Method, SyncProxy
from recollex.remote.client.sockets import UnsendableError
from recollex.remote.wire.methods import METHODS
from recollex_engine.agents import agent as engine
from recollex_engine.agents.folder_names import MAX_AGENT
from recollex_engine.clock import Clock, Moment, from_micros, system_clock, to_micros
from recollex_engine.domain.checks import check_text, mended_turns
from recollex_engine.domain.operations import Operation
from recollex_engine.errors import InputError, ProtocolError, ReadOnlyError, RecollexError
from recollex_engine.ranking.presets import PRESETS
from recollex_engine.recall.recall import Recall

# The options of a call: the recorded time that it reads at, and its timeout.
LONGEST = 365 * 24 * 3600.0
"""Seconds of a timeout, at most."""


@dataclass(frozen=True, slots=True)
class CallOptions:
    """The options of every call of one agent object.

    at: the recorded time that calls read at, None for the present. seconds: the timeout of a
    call, None for the server's own. sent_options: the options as they are sent.
    """

    at: datetime | None = None
    seconds: float | None = None
    sent_options: dict[str, Any] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.seconds is not None:
            check_seconds(self.seconds, "seconds")
        object.__setattr__(self, "sent_options", {} if self.at is None else {"at": self.at})

    @property
    def as_of(self) -> str:
        """The time at which calls see the agent, in words; the empty string for the present."""
        return "" if self.at is None else f" as of {self.at}"

    def at_time(self, as_recorded: Moment) -> "CallOptions":
        """Return the same options as of another time."""
        return replace(self, at=from_micros(to_micros(as_recorded, "as_recorded")))

    def within(self, seconds: float) -> "CallOptions":
        """Return the same options with another timeout."""
        return replace(self, seconds=seconds)


def check_seconds(value: object, name: str) -> None:
    """Raise `InputError` unless ``value`` is a number of seconds in (0, `LONGEST`]."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= LONGEST:
        raise InputError(f"{name} must be a number above 0, up to {LONGEST:,.0f}, got {value!r}")


# Prepares arguments before a call is sent: it can then be encoded, and sent again safely.
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


class _NotThere:
    """Stands in for the engine of an agent; every method raises ``error``."""

    def __init__(self, name: str, error: RecollexError) -> None:
        self.name = name
        self.clock = system_clock
        self._error = error

    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        def raise_refusal(*args: Any, **options: Any) -> NoReturn:
            raise self._error

        return raise_refusal


def raise_refusal(
    method: str,
    agent: str | None,
    named: Mapping[str, Any],
    error: UnsendableError | ProtocolError,
) -> NoReturn:
    """Raise the embedded API's error for these arguments, or ``error`` if it accepts them."""
    said = error.__cause__ if isinstance(error, UnsendableError) else error
    assert isinstance(said, RecollexError)
    if agent is not None:
        check_text(agent, "agent_id", MAX_AGENT)
    if agent is not None and method in METHODS and method != "transact":
        here = Agent(cast(engine.Agent, _NotThere(agent, said)))
        METHODS[method].bound(here)(**named)
    raise said


def raise_read_only(agent: str | None, at: datetime) -> NoReturn:
    """Raise the error of a write to a cut."""
    raise ReadOnlyError(
        f"this is agent {agent!r} as of {at}, and the past cannot be changed: write to the agent "
        "itself"
    )


# Sends the operations of a transaction to a server when its block ends.
class Recorder:
    """Stands in for the agent of a `recollex.Transaction`; ``send`` sends the operations.

    Operations are checked here when they are made, as in a transaction of an embedded agent. Words
    such as "last week" are relative to the clock of this machine. locale: returns the agent's.
    """

    def __init__(self, send: Callable[[dict[str, Any]], Any], locale: Callable[[], str]) -> None:
        self._send = send
        self.locale = locale
        self.clock: Clock = system_clock

    def writable(self) -> "Recorder":
        """Return what can be written to: the recorder itself."""
        return self

    def transact(
        self,
        operations: Sequence[Operation],
        notes: Sequence[dict[str, str]],
        recorded_at: int | None,
        where: Sequence[str],
    ) -> Any:
        """Send the operations of one transaction."""
        return self._send(
            {
                "operations": list(operations),
                "notes": list(notes),
                "recorded_at": recorded_at,
                "where": list(where),
            }
        )


class StubArguments:
    """The parameters of one method: reads a call's arguments by their names, ready to be sent."""

    def __init__(self, method: Method[..., Any]) -> None:
        parameters = method.parameters.values()
        self._method = method.function
        self._prepare = PREPARE.get(method.name)
        self._positional = tuple(
            each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD
        )
        self._required = method.needed
        self._hands_on = method.takes_options
        self._known = {each.name for each in parameters if each.kind is not each.VAR_KEYWORD}
        if self._hands_on:
            recall = METHODS["recall"].parameters.values()
            self._known |= {each.name for each in recall if each.kind is each.KEYWORD_ONLY}

    def read(self, args: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
        """Return every argument by its name; raises the `TypeError` that the method would raise."""
        if "filter" in options and "tags" in self._known:
            options = expanded(options)
        named = options
        if args:
            named = dict(zip(self._positional, args, strict=False)) | options
            if len(named) != len(args) + len(options):
                self._refuse(args, options)
        if not self._required <= named.keys() <= self._known:
            self._refuse(args, options)
        return named if self._prepare is None else self._prepare(named)

    def _refuse(self, args: tuple[Any, ...], options: dict[str, Any]) -> NoReturn:
        """Raise Python's error for arguments that do not fit; no body of a method runs."""
        method: Callable[..., Any] = self._method
        unknown = options.keys() - self._known
        if self._hands_on and unknown:
            method = Agent.recall
            args = ("",)
            options = dict.fromkeys(unknown)
        group: ArgumentGroup | None = getattr(method, "argument_group", None)
        if group is not None:  # Python sees a group's arguments as ``**``, which takes any
            group.refuse_unknown(method.__name__, dict.fromkeys(sorted(unknown)))
        method(None, *args, **options)
        raise AssertionError("unreachable: the arguments fitted")


ARGUMENTS = {name: StubArguments(method) for name, method in METHODS.items()}
"""Name on the wire -> what reads the arguments of that method."""


class Remote(SyncProxy):
    """An object whose methods are carried out at a server.

    send: takes a method's name on the wire and its arguments, and returns the result.
    """

    def __init__(self, send: Callable[[str, dict[str, Any]], Any]) -> None:
        self._send = send

    @classmethod
    def _made(cls, method: Method[..., Any]) -> Callable[..., Any]:
        name = method.name
        read = ARGUMENTS[method.name].read

        @functools.wraps(method.function)
        def call(self: Remote, /, *args: Any, **options: Any) -> Any:
            return self._send(name, read(args, options))

        return call


class AsyncRemote(AsyncProxy):
    """The same for asyncio: ``send`` returns an awaitable."""

    def __init__(self, send: Callable[[str, dict[str, Any]], Awaitable[Any]]) -> None:
        self._send = send

    def _call(
        self, method: Method[..., Any], args: tuple[Any, ...], options: dict[str, Any]
    ) -> Awaitable[Any]:
        return self._send(method.name, ARGUMENTS[method.name].read(args, options))
