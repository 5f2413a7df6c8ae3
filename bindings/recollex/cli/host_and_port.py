"""Reads an address to listen on."""

from recollex_engine.errors import InputError


def host_and_port(given: str, option: str, instead: str = "") -> tuple[str, int]:
    """Return the host and the port of HOST:PORT. Raises `InputError`.

    option: its name, for the message, which ends with ``instead``.

    >>> host_and_port("127.0.0.1:7077", "--listen")
    ('127.0.0.1', 7077)
    """
    host, _, port = given.rpartition(":")
    if not host or "://" in given or not port.isdigit() or int(port) > 65535:
        raise InputError(
            f"{option} must be HOST:PORT, such as 127.0.0.1:7077, got {given!r}{instead}"
        )
    return host, int(port)
