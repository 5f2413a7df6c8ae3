"""Every error that recollex raises, and what its caller can do about it.

::

    RecollexError
    |-- InputError (ValueError)          fix the call: the message names the bound and the value
    |   |-- UnknownIdError (KeyError)    no such memory, fact or event here (or in this view)
    |   |-- MergeCycleError              two entities would be merged into each other
    |   |-- OperationError               one of several operations: none was applied; see its cause
    |   `-- ClosedError                  it was closed, or opened before a fork; open it again
    |-- ReadOnlyError                    opened with read_only=True; open it for writing
    |-- LockedError                      another writer has the agent; wait, or open read_only=True
    |-- StoreMovedError                  the folder was moved or replaced; open the store again
    |-- StoreFullError (OSError)         the disk is full: nothing of the call was stored
    |   `-- AccessError (PermissionError)  the system refuses a file: see its owner and permissions
    |-- TooManyFilesError (OSError)      close stores or agents, or let the process open more files
    |-- CorruptError                     data on disk is damaged or lost; see `recollex verify`
    |-- FormatError                      written by another version, or not a store at all
    |-- EncryptionError                  no key, another key, or a key for a plain agent: see it
    |-- ModelError                       a model cannot be found, loaded or verified
    |   |-- ModelMismatchError           the agent's vectors come from another model; open with it
    |   `-- LanguageModelError           no answer, or none that can be used; `reason` says why
    |-- RerankError                      a reranker failed or answered nonsense; see the message
    `-- ServiceError                     a server did not carry out the call
        |-- OverloadedError              its queue is full: try again after `retry_after` seconds
        |-- MovedError                   another node of a cluster has the agent: `address`
        |-- DeadlineError (TimeoutError)         the call timed out
        |-- CancelledError               the caller cancelled the call before it began
        |-- UnauthorizedError (PermissionError)  no token, or one that the server does not know
        |-- ForbiddenError (PermissionError)     the token does not allow it
        |-- ProtocolError                a message breaks PROTOCOL.md: another version or server
        |-- DisconnectedError (ConnectionError)  the connection broke; a write may have happened
        `-- InternalError                the server failed; its log says why
"""

import os
import re
from collections.abc import Mapping
from typing import Any, TypeVar, cast

_PRECISIONS = ("fp32", "bf16", "fp16")
"""All but int8, which need not be named."""


def embedder_name(fingerprint: str) -> str:
    """Return what `recollex.open(embedder=...)` takes to load the embedder of a fingerprint.

    For a model that was loaded from a folder, it is the name of that folder alone.

    >>> embedder_name("all-MiniLM-L6-v2@53aa51172d14-int8-v1")
    'all-MiniLM-L6-v2'
    >>> embedder_name("all-MiniLM-L6-v2@53aa51172d14-fp16-v2")
    'all-MiniLM-L6-v2:fp16'
    """
    name, _, conversion = fingerprint.rpartition("@")
    precision = "".join(conversion.split("-")[1:2])
    return f"{name}:{precision}" if precision in _PRECISIONS else name or fingerprint


class RecollexError(Exception):
    """The base of every error that recollex raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the class, the arguments and the fields; the constructor is not called again."""
        return remade, (type(self), known_args(self), vars(self))


E = TypeVar("E", bound=RecollexError)


def known_args(error: BaseException) -> tuple[Any, ...]:
    """Return the arguments of an error; of a system's error its number, text and file names.

    >>> known_args(StoreFullError(28, "no space left", "log"))
    (28, 'no space left', 'log')
    """
    if not isinstance(error, OSError) or error.errno is None:
        return error.args
    if error.filename2 is not None:
        return error.errno, error.strerror, error.filename, None, error.filename2
    if error.filename is not None:
        return error.errno, error.strerror, error.filename
    return error.errno, error.strerror


def remade(kind: type[E], args: tuple[Any, ...], fields: Mapping[str, Any]) -> E:
    """Return an error of the class ``kind`` with the results of `known_args` and `vars`."""
    error: Any = kind.__new__(kind, *args)
    error.args = args
    if isinstance(error, OSError) and len(args) > 1:
        OSError.__init__(error, *args)  # a class with a constructor of its own has not read them
        error.args = args[:2]
    vars(error).update(fields)
    return cast(E, error)


class InputError(RecollexError, ValueError):
    """An argument is not acceptable; nothing was changed."""


class UnknownIdError(InputError, KeyError):
    """No memory, fact, event or episode has this id; ``kind`` says which was asked for.

    With the kind "agent", the store has no such agent.
    """

    def __init__(self, id: str, agent: str, kind: str = "memory") -> None:
        if kind == "agent":
            super().__init__(f"the store has no agent {agent!r}")
        else:
            super().__init__(f"agent {agent!r} has no {kind} with id {id!r}")
        self.kind = kind
        self.id = id
        self.agent = agent

    def __str__(self) -> str:
        return str(self.args[0])


class MergeCycleError(InputError):
    """A merge would make a cycle: its target was already merged into its source."""

    def __init__(self, source: str, target: str) -> None:
        super().__init__(
            f"{source!r} cannot be merged into {target!r}: "
            + (
                "they are one name"
                if source == target
                else f"{target!r} was merged into {source!r} already"
            )
        )
        self.source = source
        self.target = target


class OperationError(InputError):
    """One operation of a transaction was refused, so the whole transaction was refused.

    ``where``: the line of the file, or the place in the transaction. ``__cause__`` is the error.
    """

    def __init__(self, where: str, cause: Exception) -> None:
        super().__init__(f"{where}: {cause}; nothing of its transaction was applied")
        self.where = where


class ClosedError(InputError):
    """The store or agent was closed before this call, or the process was forked from its owner."""


class ReadOnlyError(RecollexError):
    """A write was attempted on a store that was opened for reading."""


class LockedError(RecollexError):
    """Another writer, in this process or another, has the agent open."""

    def __init__(self, path: object, holder: str = "", remedy: str = "") -> None:
        who = f" (held by {holder})" if holder else ""
        super().__init__(
            f"{path} is open for writing elsewhere{who}: "
            + (
                remedy
                or "close that writer, or open this store with read_only=True; many processes "
                "share one with `recollex serve` and recollex.connect"
            )
        )
        self.path = path
        self.holder = holder


class StoreMovedError(RecollexError):
    """The store, or a part of it, was moved, replaced or removed while it was open.

    Nothing of this call was stored, and nothing was changed where the path leads now.
    """

    def __init__(self, path: object, found: str) -> None:
        super().__init__(
            f"{path} is not what was opened ({found}): the store was moved, replaced or removed "
            "while it was open; nothing of this call was stored: close the store, and open it "
            "again where it is now"
        )
        self.path = path
        self.found = found


class StoreFullError(RecollexError, OSError):
    """The disk refused bytes: nothing of this call was stored, all earlier calls are stored."""


class AccessError(StoreFullError, PermissionError):
    """The system does not let this process read or write a file; nothing was changed."""


class TooManyFilesError(RecollexError, OSError):
    """The process, or the machine, may not open another file; nothing was changed.

    An agent that is open for writing holds two or three open files.
    """


class CorruptError(RecollexError):
    """Data on disk is damaged or missing."""

    def __init__(self, path: object, expected: object, found: object) -> None:
        super().__init__(f"{path}: expected {expected}, found {found}")
        self.path = path
        self.expected = expected
        self.found = found


class FormatError(RecollexError):
    """A file was written by another version, or is not ours."""


class EncryptionError(RecollexError):
    """An encrypted agent was opened without its key, or a plain one with a key."""


class ModelError(RecollexError):
    """A model cannot be found, loaded or verified."""


class ModelMismatchError(ModelError):
    """The agent was written with another embedding model."""

    def __init__(self, agent: str, expected: str, found: str) -> None:
        name = embedder_name(expected)
        needed = f"open it with embedder={name!r} (or that model's folder), or move"
        if name.startswith("given-"):
            dimension = name.removeprefix("given-")
            needed = f"open it with embedder=recollex.GivenVectors({dimension}), or move"
        elif name == embedder_name(found):
            needed = "these are two versions of one model, so move"
        super().__init__(
            f"agent {agent!r} was written with the model {expected}, this store was opened with "
            f"{found}: {needed} it to the model that you want: "
            f"recollex reembed STORE --agent {agent} --model MODEL"
        )
        self.agent = agent
        self.expected = expected
        self.found = found


class LanguageModelError(ModelError):
    """A language model did not answer, or not as it was asked; nothing was changed.

    ``reason``: "failed" (after all attempts), "overloaded", "unauthorized", "refused", "truncated",
    "malformed", "deadline", "cancelled", "not recorded" or "damaged" (a recording). After "failed",
    "overloaded" and "deadline" another call may succeed.
    """

    def __init__(self, what: str, reason: str = "failed") -> None:
        super().__init__(what)
        self.reason = reason


class RerankError(RecollexError):
    """A reranker failed, or its answer is not one score for each text."""

    def __init__(self, reranker: str, what: str) -> None:
        super().__init__(f"reranker {reranker!r}: {what}")
        self.reranker = reranker


class ServiceError(RecollexError):
    """A server did not carry out a call."""


class OverloadedError(ServiceError):
    """The server's queue is full; ``retry_after``: seconds to wait before the next try."""

    def __init__(self, what: str, retry_after: float) -> None:
        super().__init__(f"{what}: try again in {retry_after:.3g} s")
        self.retry_after = retry_after


class MovedError(ServiceError):
    """Another node of a cluster has the agent; ``address``: where, None if that is not known yet.

    A call that was refused with it was not carried out, or may be repeated at the other node.
    """

    def __init__(self, what: str, address: str | None) -> None:
        super().__init__(f"{what}: ask {address or 'another node'}")
        self.address = address


class DeadlineError(ServiceError, TimeoutError):
    """A call timed out before its answer arrived.

    ``begun``: whether the server had begun the work. If it had, a write may have happened; if it
    had not, nothing happened.
    """

    def __init__(self, method: str, begun: bool) -> None:
        super().__init__(
            f"the time given to {method} was over "
            + ("while it ran: a write may have happened" if begun else "before it began")
        )
        self.begun = begun


class CancelledError(ServiceError):
    """A call was cancelled before it began; nothing happened."""


class UnauthorizedError(ServiceError, PermissionError):
    """A connection or a request has no token, or one that the server does not know."""


class ForbiddenError(ServiceError, PermissionError):
    """A token does not give access to this agent, or does not allow writing."""


class ProtocolError(ServiceError):
    """A message breaks the protocol (PROTOCOL.md)."""


class DisconnectedError(ServiceError, ConnectionError):
    """The server cannot be reached, or went away before it answered; a write may have happened."""


class InternalError(ServiceError):
    """A server failed unexpectedly; its log says how."""


_PART = r"[^\s/:;,'\"`()<>]++"
_PATH = re.compile(
    rf"(?:(?<=file://)|(?<![\w/.~\]]))/(?={_PART})(?:{_PART}(?: {_PART})*+/)*+(?:{_PART})?"
)
"""An absolute path in a text. The name of a folder may hold spaces, which no URL's path does."""
_AGENTS = "/agents/"


def without_paths(text: str, *paths: str) -> str:
    """Return a text without the absolute paths of this machine.

    An error names a file by its whole path, which its caller in this process needs. What is sent to
    others names a file of the store by its path below the store, any other by its name. paths:
    those that are known to be in the text, and may hold any character. A path whose first folder
    does not exist here is none of this machine, and stays: it may be an address.

    >>> without_paths("/usr/store/agents/ann/log/1: expected JSON, found '/tmp/x'")
    "agents/ann/log/1: expected JSON, found 'x'"
    >>> without_paths("there is no /openapi of https://example.org/usr/v1 or a/b")
    'there is no /openapi of https://example.org/usr/v1 or a/b'
    """
    for path in paths:
        text = text.replace(path, _shown(path))
    return _PATH.sub(lambda found: _shown(found[0]), text)


def _shown(path: str) -> str:
    first, _, rest = path.lstrip("/").partition("/")
    if not path.startswith("/") or not first or not os.path.lexists(f"/{first}"):
        return path
    if _AGENTS in path:
        return f"agents/{path.rpartition(_AGENTS)[2]}"
    return rest.rstrip("/").rpartition("/")[2] or first
