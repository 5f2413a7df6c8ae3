import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import recollex
from tests.bindings.command_line import Shell, command_line
from tests.bindings.serving import serving
from tests.bindings.word_vectors import WordVectors

pytest.register_assert_rewrite(
    "tests.bindings.contract",
    "tests.bindings.argument_contract",
    "tests.bindings.fact_contract",
    "tests.bindings.memory_contract",
    "tests.bindings.bad_input.bad_values",
)


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    folder = tmp_path_factory.mktemp("certificate")
    chain, key = folder / "chain.pem", folder / "key.pem"
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    command = ["openssl", "req", "-x509", *curve, *names, "-keyout", str(key), "-out", str(chain)]
    subprocess.run(command, check=True, capture_output=True)
    yield chain, key


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    address = f"unix://{tmp_path / 'memory.sock'}"
    with serving(recollex.open(tmp_path / "memory", embedder=WordVectors()), address=address):
        yield address


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    return command_line(tmp_path, monkeypatch, capsys)
