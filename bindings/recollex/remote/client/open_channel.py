"""Opens the channel of an address: over a socket or over HTTP, by the scheme of the address."""

import ssl
import time
from pathlib import Path

from recollex.remote.client import sockets
from recollex.remote.client.address import Address
from recollex.remote.client.channel import Channel
from recollex.remote.client.connection import Connection
from recollex.remote.client.http_channel import HttpChannel


def open_channel(
    address: Address,
    token: str | None,
    trusted: ssl.SSLContext | Path | None,
    deadline: float | None,
) -> Channel:
    """Return a channel to a server, after its hello.

    deadline: of `time.monotonic`; the call takes `sockets.CONNECT_SECONDS` at most. Raises
    `errors.DisconnectedError` if no server answers, and the error of a server that refuses.
    """
    end = time.monotonic() + sockets.CONNECT_SECONDS
    end = end if deadline is None else min(deadline, end)
    made = sockets.connect_socket(address, trusted, end)
    if address.scheme in ("http", "https"):
        return HttpChannel(made, address, token, end)
    return Connection(made, token, end)
