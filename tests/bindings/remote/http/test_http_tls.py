"""HTTP over TLS, with a self-signed certificate."""

import ssl
from pathlib import Path

import httpx
import pytest

import recollex
from recollex.remote.server.listener import tls_context
from recollex_engine import errors
from tests.bindings.remote.http.http_service import served


def test_it_is_spoken_and_the_certificate_is_looked_at(
    tmp_path: Path, certificate: tuple[Path, Path]
) -> None:
    chain, key = certificate
    with served(tmp_path, tls=tls_context(str(chain), str(key))) as server:
        url = f"https://localhost:{server.server.address[1]}"
        trusting = ssl.create_default_context(cafile=str(chain))
        with httpx.Client(base_url=url, verify=trusting) as http:
            assert http.get("/healthz").text == "ok\n"
            body = {"agent_id": "ann", "items": [{"content": "Ann likes tea."}]}
            assert http.post("/api/memories/batch", json=body).status_code == 200
        with httpx.Client(base_url=url) as http, pytest.raises(httpx.ConnectError):
            http.get("/healthz")
        with recollex.connect(url, certificates=chain) as store:
            assert store.agents() == ["ann"]
            assert store.agent("ann").recall("tea")[0].text == "Ann likes tea."
        with pytest.raises(errors.DisconnectedError):
            recollex.connect(url, timeout=2)
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.load_verify_locations(chain)
        with pytest.warns(DeprecationWarning):
            old.maximum_version = ssl.TLSVersion.TLSv1_1
        with httpx.Client(base_url=url, verify=old) as http, pytest.raises(httpx.ConnectError):
            http.get("/healthz")
