"""The answer to "hello", in which a server describes itself to a client."""

from typing import Any

from recollex.remote.server.service import Service
from recollex.remote.wire.messages import CAPABILITIES, PROTOCOL
from recollex_engine.errors import ProtocolError


def hello_answer(service: Service, version: str) -> dict[str, Any]:
    """Return the answer to "hello", the same for each transport; see `PROTOCOL.md`."""
    return {
        "protocol": PROTOCOL,
        "server": f"recollex/{version}",
        "instance": service.instance,
        "capabilities": list(CAPABILITIES),
        "limits": {
            "message_bytes": service.limits.message_bytes,
            "items": service.limits.items,
            "in_flight": service.limits.in_flight,
            "seconds": service.limits.seconds,
        },
    }


def check_protocol(protocol: object) -> None:
    """Raise `ProtocolError` unless a client speaks this version of the protocol."""
    if protocol != PROTOCOL:
        raise ProtocolError(f"this server speaks protocol {PROTOCOL}, got {str(protocol)[:40]}")
