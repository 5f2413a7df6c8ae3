"""Refuses what a web page of another site makes a browser send to a server without tokens.

Such a server trusts every process of this machine, and a browser is one. Browsers say for whom they
send a request: the host of the address bar (a name of the page's owner may resolve to this machine:
DNS rebinding), the page's origin, and whether its site is that of the request. A program that is no
browser says only the host. With tokens nothing is refused here: a browser adds none by itself.
"""

import ipaddress
import re
from collections.abc import Iterable

from recollex.remote.http.problems import RequestError

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
