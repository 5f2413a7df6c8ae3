"""How does a method of an agent become a method of its proxies? By a row of a typed table.

A proxy calls the methods of an agent that is in another thread or process. Its methods are made
from the tables of `recollex.api.methods`, and have the signatures and documentation of the agent's.
"""

import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping
from operator import attrgetter
from typing import Any, ClassVar, Concatenate, Generic, Literal, ParamSpec, TypeVar, overload

from recollex.api.agent import Agent
from recollex_engine.errors import InputError
from recollex_engine.fork import cached_property

AccessScope = Literal["read", "write"]
P = ParamSpec("P")
Result = TypeVar("Result", covariant=True)

_RECALL = frozenset(inspect.signature(Agent.recall).parameters) - {"self"}
"""The names of the arguments of a recall."""


class Table:
    """The methods of one group. _group: the attribute of an agent that has them; "": the agent."""

    _group: ClassVar[str] = ""


class Method(Generic[P, Result]):
    """One row of the table: a method of the embedded API, and what a server must know of it.

    function: the method of the embedded class. name: in the protocol, made of the group of its
    table and its own name: "recall", "facts.history".

    scope: what a token must allow. cut: whether it may be asked of the past, with the option
    ``at``; reads may, unless the row says otherwise. chunks: whether its result is a list, which
    may travel in chunks. pairs: whether the items of the list are tuples. store: whether it is a
    method of the store, which names no agent. grouped: whether it may share a flush with other
    writes: it writes one transaction, and reads nothing that only readers see. owner: whether it
    tells of the process that has the store open for writing: what that process heard, or its files.
    deletes: whether it deletes the agent, which a server must not have open then. waits: whether it
    may wait for a language model, so that a server gives it a thread that nothing else needs.

    Types: read from an instance of a `Proxy`, a row is a function with the parameters of
    ``function``, which returns what that returns, or an awaitable of it.
    """

    def __init__(
        self,
        function: Callable[Concatenate[Any, P], Result],
        scope: AccessScope = "read",
        *,
        cut: bool | None = None,
        chunks: bool = False,
        pairs: bool = False,
        store: bool = False,
        grouped: bool = False,
        owner: bool = False,
        deletes: bool = False,
        waits: bool = False,
    ) -> None:
        self.function = function
        self.name: str = function.__name__
        self.group: str = ""
        self.scope: AccessScope = scope
        self.cut: bool = scope == "read" if cut is None else cut
        self.chunks = chunks
        self.pairs = pairs
        self.store = store
        self.grouped = grouped
        self.owner = owner
        self.deletes = deletes
        self.waits = waits

    def __set_name__(self, table: type[Table], attribute: str) -> None:
        self.group = table._group
        self.name = f"{table._group}.{attribute}".lstrip(".")

    @overload
    def __get__(self, of: "SyncProxy", kind: type) -> Callable[P, Result]: ...

    @overload
    def __get__(self, of: "AsyncProxy", kind: type) -> Callable[P, Awaitable[Result]]: ...

    @overload
    def __get__(self, of: None, kind: type) -> Callable[..., Any]: ...

    def __get__(self, of: object, kind: type) -> Any:
        return self

    @property
    def apart(self) -> bool:
        """Whether another process, which has the store open for reading, may do it."""
        return self.scope == "read" and not (self.store or self.owner or self.waits)

    @cached_property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """The parameters by their names, without ``self``."""
        return dict(list(inspect.signature(self.function).parameters.items())[1:])

    @cached_property
    def takes_options(self) -> bool:
        """Whether it has ``**options``, which it hands on to `Agent.recall`."""
        return any(each.kind is each.VAR_KEYWORD for each in self.parameters.values())

    @cached_property
    def arguments(self) -> frozenset[str]:
        """The names of the arguments that it takes; with ``**options``, those of a recall too."""
        names = self.parameters.keys() - {"options"}
        return frozenset(names | _RECALL if self.takes_options else names)

    @cached_property
    def needed(self) -> frozenset[str]:
        """The names of the arguments that have no default."""
        return frozenset(
            name
            for name, each in self.parameters.items()
            if each.default is each.empty and each.kind is not each.VAR_KEYWORD
        )

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Raise `InputError` for arguments that it does not take, or without one that it needs."""
        if not arguments.keys() <= self.arguments:
            unknown = arguments.keys() - self.arguments
            raise InputError(
                f"{self.name} takes {', '.join(sorted(self.arguments)) or 'no arguments'}, got "
                f"{', '.join(sorted(map(str, unknown)))[:200]}"
            )
        if not arguments.keys() >= self.needed:
            missing = self.needed - arguments.keys()
            raise InputError(f"{self.name} needs {', '.join(sorted(missing))}")

    def bound(self, of: Any) -> Callable[..., Any]:
        """Return the method of an agent, or of a store."""
        called: Callable[..., Any] = self._looked_up(of)
        return called

    @cached_property
    def _looked_up(self) -> Callable[[Any], Any]:
        return attrgetter(self.name)


def rows(table: type) -> dict[str, Method[..., Any]]:
    """Return the rows of a table, or of the tables that a class inherits, by their attributes."""
    return {
        attribute: row
        for kind in reversed(table.__mro__)
        for attribute, row in vars(kind).items()
        if isinstance(row, Method)
    }


class Proxy:
    """An object that calls the methods of another, in another thread or process.

    A subclass inherits the tables of the methods that it has. `_made` turns each row into a method
    when the subclass is defined.
    """

    def __init_subclass__(cls) -> None:
        for attribute, method in rows(cls).items():
            setattr(cls, attribute, cls._made(method))

    @classmethod
    def _made(cls, method: Method[..., Any]) -> Callable[..., Any]:
        """Return the function that calls ``method`` through the proxy."""
        raise NotImplementedError


class SyncProxy(Proxy):
    """A proxy whose methods return their results."""


class AsyncProxy(Proxy):
    """A proxy whose methods are coroutines; `_call` carries each of them out."""

    @classmethod
    def _made(cls, method: Method[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method.function)
        async def call(self: AsyncProxy, /, *args: Any, **options: Any) -> Any:
            return await self._call(method, args, options)

        return call

    def _call(
        self, method: Method[..., Any], args: tuple[Any, ...], options: dict[str, Any]
    ) -> Awaitable[Any]:
        raise NotImplementedError
