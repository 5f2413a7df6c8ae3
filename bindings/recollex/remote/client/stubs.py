"""Makes the methods of the clients: each sends a call to the server.

A stub has the parameters, the documentation and the types of the embedded API's method. For
arguments that do not fit them, the error is that method's own.
"""

import functools
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

from recollex.api.agent import Agent
from recollex.api.argument_groups import ArgumentGroup
from recollex.api.filters import expanded
from recollex.api.proxies import AsyncProxy, Method, SyncProxy
from recollex.remote.client.argument_preparation import PREPARE
from recollex.remote.wire.methods import METHODS


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
