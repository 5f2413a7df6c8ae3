"""Arguments that several functions share, and names that a tool does not take."""

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, cast, get_type_hints

from recollex_engine.errors import InputError
from recollex_engine.fork import cached_property


# Does a tool take the arguments that a model gives it? Servers start with it: no engine here.
def check_names(tool: str, given: Iterable[object], known: Mapping[str, Any]) -> None:
    """Raise `InputError` for an argument that a tool does not take; it names the nearest one."""
    for name in given:
        if name not in known:
            raise InputError(
                f"{tool} has no argument {name!r:.80}{near(name, known)} It takes "
                f"{', '.join(known) or 'none'}"
            )


def near(given: object, known: Mapping[str, Any]) -> str:
    """Return the end of a sentence, which names the known name nearest to a given one.

    >>> near("subjct", {"subject": "who"}), near("x", {})
    (", did you mean 'subject'?", '.')
    """
    found = difflib.get_close_matches(str(given), known, 1)
    return f", did you mean {found[0]!r}?" if found else "."


Function = TypeVar("Function", bound=Callable[..., Any])


class ArgumentGroup:
    """The keyword arguments of a TypedDict, for functions that take them as ``**``.

    declared: the TypedDict. defaults: what an argument is if it is not given; None, unless named
    here. elsewhere: what other libraries call an argument, and its name here. whole: an argument
    that stands for all others, as one value: Python alone has it, and no signature shows it.
    """

    def __init__(
        self,
        declared: type,
        defaults: Mapping[str, Any] | None = None,
        elsewhere: Mapping[str, str] | None = None,
        whole: str | None = None,
    ) -> None:
        self._declared = declared
        self.whole = whole
        self._defaults = defaults or {}
        self._elsewhere = elsewhere or {}
        self._known: dict[str, tuple[str, ...]] = {}

    @cached_property
    def _kinds(self) -> dict[str, Any]:
        return get_type_hints(self._declared)

    def shown(self, function: Function) -> Function:
        """Decorate a function: its signature shows the group's arguments after its own."""
        signature = inspect.signature(function)
        own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        more = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=self._defaults.get(name),
                annotation=kind,
            )
            for name, kind in self._kinds.items()
            if name != self.whole
        ]
        shown = signature.replace(parameters=[*own, *more])
        cast(Any, function).__signature__ = shown
        cast(Any, function).argument_group = self
        self._known[function.__name__] = tuple(shown.parameters)
        return function

    def refuse_unknown(self, called: str, given: Mapping[str, Any]) -> None:
        """Raise `TypeError` if one of the given arguments is not of the group.

        called: the name of the function, whose other arguments may be what was meant.
        """
        for name in given:
            if name not in self._kinds:
                known = self._known.get(called, tuple(self._kinds))
                near = [each for each in (self._elsewhere.get(name),) if each in known]
                near += difflib.get_close_matches(name, known, 1)
                hint = f". Did you mean {near[0]!r}?" if near else ""
                raise TypeError(f"{called}() got an unexpected keyword argument {name!r}{hint}")
