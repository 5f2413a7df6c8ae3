"""Whose memory does a call mean, and how is it reached?

The store is opened in a thread, once a call needs it or the client has listed what there is:
importing the engine and loading the model take a second, in which the interpreter answers nothing
else. Nothing heavy is imported here.
"""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from mcp.server.mcpserver import Context

from recollex_engine.errors import InputError

if TYPE_CHECKING:
    from recollex.remote.server.access import Principal

Result = TypeVar("Result")
Caller = Context[Any, Any]
"""What a tool is told of the call."""
HEAD_START = 0.3
"""Seconds for which requests that need no store are answered before it is opened."""
PRINCIPAL = "recollex.principal"
"""Key of an HTTP request's scope: whose token it has; see `frameworks.mcp.http_serving`."""


class Stores(Protocol):
    """What holds the agents: a folder that processes share, or a server."""

    def reading(self, name: str) -> Any:
        """Return an agent to read from."""

    def write(self, name: str, work: Callable[[Any], Result]) -> Result:
        """Return what ``work`` returns of an agent that it may write."""

    def close(self) -> None:
        """Close what is open."""


class Agents:
    """The agents of a server's clients.

    agent: whose memory it is; None: each client has its own, named as the client names itself.
    Threads: any number.
    """

    def __init__(self, open_stores: Callable[[], Stores], agent: str | None) -> None:
        self._open = open_stores
        self._agent = agent
        self._wanted = threading.Event()
        self._opened = threading.Event()
        self._closing = False
        self._stores: Stores | None = None
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._load, name="recollex mcp opening")

    def start(self) -> None:
        """Open the store soon, or as soon as a call needs it."""
        self._thread.start()

    def _load(self) -> None:
        self._wanted.wait(HEAD_START)
        if self._closing:
            return
        try:
            self._stores = self._open()
        except BaseException as error:
            self._failure = error
        self._opened.set()

    @property
    def stores(self) -> Stores:
        """What holds the agents, once it is open. Raises the error of its opening."""
        self._wanted.set()
        self._opened.wait()
        if self._failure is not None:
            raise self._failure
        assert self._stores is not None
        return self._stores

    @property
    def fixed(self) -> str | None:
        """Whose memory it is; None if each client has its own."""
        return self._agent

    def name(self, context: Context[Any, Any]) -> str:
        """Return the name of the agent that a request means, without checking its token."""
        return self._agent or client_name(context)

    def reading(self, context: Context[Any, Any]) -> Any:
        """Return the agent of a request to read from. Raises `ForbiddenError`."""
        name = self.name(context)
        _check(context, "read", name)
        return self.stores.reading(name)

    def write(self, context: Context[Any, Any], work: Callable[[Any], Result]) -> Result:
        """Return what ``work`` returns of the agent of a request. Raises `ForbiddenError`."""
        name = self.name(context)
        _check(context, "write", name)
        return self.stores.write(name, work)

    def close(self) -> None:
        """Close the store, if it was opened; an opening that has begun is waited for."""
        self._closing = True
        self._wanted.set()
        if self._thread.ident is not None:
            self._thread.join()
        if self._stores is not None:
            self._stores.close()


def client_name(context: Context[Any, Any]) -> str:
    """Return what the client calls itself. Raises `InputError` if it gives no name."""
    client = context.request_context.session.client_params
    name = client.client_info.name.strip() if client is not None else ""
    if not name:
        raise InputError(
            "the client gives no name, and each client has its own agent: name it in clientInfo, "
            "or start the server with --agent NAME"
        )
    return name


def author(context: Context[Any, Any]) -> str:
    """Return who does something, for the log: the client by its name."""
    client = context.request_context.session.client_params
    return f"mcp:{client.client_info.name}" if client is not None else "mcp"


def _check(context: Context[Any, Any], scope: Any, name: str) -> None:
    request = context.request_context.request
    principal: Principal | None = None if request is None else request.scope.get(PRINCIPAL)
    if principal is not None:
        principal.check(scope, name)
