"""How does a method of the embedded API become a call to a server? By its signature.

A remote method has the parameters, the documentation and the types of the method that it stands
for; a call that does not fit them is refused here, by that method, with its own message.
"""

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Concatenate, NoReturn, ParamSpec, Protocol, TypeVar

from recollex.api.agent import Agent
from recollex.client.preparing import PREPARE

P = ParamSpec("P")
Result = TypeVar("Result")


class Remote(Protocol):
    """Where remote methods are defined: it carries a call out and returns its result."""

    def _call(self, method: str, named: dict[str, Any]) -> Any: ...


class AsyncRemote(Protocol):
    """The same for asyncio."""

    async def _call(self, method: str, named: dict[str, Any]) -> Any: ...


class Arguments:
    """The parameters of one method, as names: what was given by position gets its name.

    A method with ``**options`` hands them on to `Agent.recall`, and takes what that takes.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method
        _, *parameters = inspect.signature(method).parameters.values()
        named = [each for each in parameters if each.kind is not each.VAR_KEYWORD]
        self._positional = tuple(
            each.name for each in named if each.kind is each.POSITIONAL_OR_KEYWORD
        )
        self._required = {each.name for each in named if each.default is each.empty}
        self._known = {each.name for each in named}
        self._hands_on = len(named) < len(parameters)
        if self._hands_on:
            options = inspect.signature(Agent.recall).parameters.values()
            self._known |= {each.name for each in options if each.kind is each.KEYWORD_ONLY}

    def read(self, args: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
        """Return every argument by its name; raises the `TypeError` that the method would raise."""
        named = options
        if args:
            named = dict(zip(self._positional, args, strict=False)) | options
            if len(named) != len(args) + len(options):
                self._refuse(args, options)
        if not self._required <= named.keys() <= self._known:
            self._refuse(args, options)
        return named

    def _refuse(self, args: tuple[Any, ...], options: dict[str, Any]) -> NoReturn:
        """Raise what Python raises for arguments that do not fit; no body of a method is run."""
        method: Callable[..., Any] = self._method
        unknown = options.keys() - self._known
        if self._hands_on and unknown:
            method, args, options = Agent.recall, ("",), dict.fromkeys(unknown)
        method(None, *args, **options)
        raise AssertionError("unreachable: the arguments fitted")


def remote(
    method: Callable[Concatenate[Any, P], Result], name: str
) -> Callable[Concatenate[Any, P], Result]:
    """Return what calls ``method``, named ``name`` on the wire, at a server."""
    arguments, prepare = Arguments(method), PREPARE.get(name)

    @functools.wraps(method)
    def call(self: Remote, /, *args: P.args, **options: P.kwargs) -> Result:
        named = arguments.read(args, options)
        if prepare is not None:
            named = prepare(named)
        result: Result = self._call(name, named)
        return result

    return call


def awaited(
    method: Callable[Concatenate[Any, P], Result], name: str
) -> Callable[Concatenate[Any, P], Awaitable[Result]]:
    """Return the same as a coroutine."""
    arguments, prepare = Arguments(method), PREPARE.get(name)

    @functools.wraps(method)
    async def call(self: AsyncRemote, /, *args: P.args, **options: P.kwargs) -> Result:
        named = arguments.read(args, options)
        if prepare is not None:
            named = prepare(named)
        result: Result = await self._call(name, named)
        return result

    return call
