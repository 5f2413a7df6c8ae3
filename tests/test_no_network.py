"""The guard that fails every test which calls out; see conftest.py."""

import socket

import pytest

from tests.conftest import CALLED, CalledOutError


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1", "example.org"])
def test_a_host_elsewhere_cannot_be_reached(host):
    with pytest.raises(CalledOutError, match="called out"):
        socket.create_connection((host, 80), timeout=0.1)
    with socket.socket(type=socket.SOCK_DGRAM) as datagrams, pytest.raises(CalledOutError):
        datagrams.sendto(b"tea", ("192.0.2.1", 53))
    assert CALLED
    CALLED.clear()


def test_this_machine_can_be_reached(tmp_path):
    for family, address in ((socket.AF_INET, ("localhost", 0)), (socket.AF_UNIX, None)):
        with socket.socket(family) as server, socket.socket(family) as client:
            server.bind(address or str(tmp_path / "s"))
            server.listen()
            client.connect(server.getsockname())
    assert not CALLED
