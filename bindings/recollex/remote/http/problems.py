"""Errors over HTTP: a status, and a body of RFC 9457 that names the error's class.

Refuses what a web page of another site makes a browser send to a server without tokens.
Such a server trusts every process of this machine, and a browser is one. Browsers say for whom they
send a request: the host of the address bar (a name of the page's owner may resolve to this machine:
DNS rebinding), the page's origin, and whether its site is that of the request. A program that is no
browser says only the host. With tokens nothing is refused here: a browser adds none by itself.
"""

import ipaddress
import math
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import orjson

from recollex.remote.wire.error_codec import encode_error
from recollex_engine import errors

CONTENT_TYPE = "application/problem+json"

STATUS: Mapping[type[BaseException], int] = MappingProxyType(
    {
        errors.UnknownIdError: 404,
        errors.MergeCycleError: 409,
        errors.OperationError: 422,
        errors.ClosedError: 503,
        errors.InputError: 422,
        errors.ReadOnlyError: 403,
        errors.LockedError: 423,
        errors.StoreMovedError: 503,
        errors.AccessError: 500,
        errors.StoreFullError: 507,
        errors.CorruptError: 500,
        errors.FormatError: 500,
        errors.EncryptionError: 500,
        errors.ModelMismatchError: 409,
        errors.ModelError: 503,
        errors.RerankError: 502,
        errors.OverloadedError: 503,
        errors.MovedError: 421,
        errors.DeadlineError: 504,
        errors.CancelledError: 503,
        errors.UnauthorizedError: 401,
        errors.ForbiddenError: 403,
        errors.ProtocolError: 400,
        errors.DisconnectedError: 502,
        errors.InternalError: 500,
    }
)
"""Class -> status; any other class has the status of its base."""

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "description": "An error (RFC 9457). title is its class in recollex.errors.",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "cause": {"type": "object", "description": "The error that led to it: the same, nested."},
    },
    "required": ["type", "title", "status", "detail"],
    "additionalProperties": True,
}


class RequestError(Exception):
    """A request that calls no method: it has no endpoint, or cannot be read as HTTP."""

    def __init__(self, status: int, title: str, detail: str, **headers: str) -> None:
        super().__init__(detail)
        self.status = status
        self.title = title
        self.headers: dict[str, str] = {
            name.replace("_", "-").lower(): value for name, value in headers.items()
        }


def status_of(error: BaseException) -> int:
    """Return the status of an error; 500 for an unexpected one.

    >>> status_of(errors.UnknownIdError("m1", "alice"))
    404
    """
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def problem(error: BaseException) -> tuple[int, dict[str, str], bytes]:
    """Return the status, the headers and the body that tell of an error.

    The body of an unexpected error holds no word of its text, which is in the server's log.
    """
    headers = {"content-type": CONTENT_TYPE}
    if isinstance(error, RequestError):
        status = error.status
        told = _told(error.title, str(error), {})
        headers |= error.headers
    else:
        status = status_of(error)
        told = _told(*encode_error(error))
    if isinstance(error, errors.UnauthorizedError):
        headers["www-authenticate"] = "Bearer"
    if isinstance(error, errors.OverloadedError):
        headers["retry-after"] = str(max(1, math.ceil(error.retry_after)))
    return status, headers, orjson.dumps(told | {"status": status})


def _told(title: str, detail: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return an encoded error, and the errors that led to it, as members of a problem."""
    told = {**data, "type": f"urn:recollex:error:{title}", "title": title, "detail": detail}
    if "cause" in data:
        told["cause"] = _told(*data["cause"])
    return told


_HOST = re.compile(rb"(\[[0-9a-f:.]+\]|[^\[\]:@/\s]+)(:[0-9]{1,5})?")
_OWN_SITE = frozenset({b"same-origin", b"none"})
"""Values of Sec-Fetch-Site of the server's own pages, and of an address that a user has typed."""


def check_site(headers: Iterable[tuple[bytes, bytes]], listening: str) -> None:
    """Raise `RequestError` for a request that a page of another site may have sent.

    headers: with names in lower case. listening: the host that the server was told to listen on,
    which requests may name beside localhost and the addresses of the loopback.
    """
    said: dict[bytes, list[bytes]] = {b"host": [], b"origin": [], b"sec-fetch-site": []}
    for name, value in headers:
        if name in said:
            said[name].append(value.strip().lower())
    hosts = said[b"host"]
    if len(hosts) != 1 or not _is_own(hosts[0], listening):
        raise RequestError(
            421,
            "HostError",
            "without tokens, this server answers to localhost alone: ask for http://localhost or "
            "http://127.0.0.1 with its port, or start it with a token file",
        )
    own = all(origin.partition(b"://")[2] == hosts[0] for origin in said[b"origin"])
    if not own or not _OWN_SITE.issuperset(said[b"sec-fetch-site"]):
        raise RequestError(
            403,
            "CrossSiteError",
            "without tokens, this server answers to no page of another site: open its address in "
            "a tab of its own, or start it with a token file",
        )


def _is_own(host: bytes, listening: str) -> bool:
    """Return whether a Host header, in lower case, names this machine."""
    if (found := _HOST.fullmatch(host)) is None:
        return False
    name = found[1].decode("latin-1").strip("[]")
    if name in ("localhost", listening.lower()):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
