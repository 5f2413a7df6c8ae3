"""The option --key-file and the variable RECOLLEX_KEY, on the command line and of a server."""

from pathlib import Path

import pytest

import recollex
import recollex.encryption
from recollex.api import keys
from recollex_engine.errors import EncryptionError, InputError
from tests.bindings.command_line import Shell
from tests.bindings.serving import VECTOR
from tests.bindings.test_serve import process

KEY = bytes(range(32))


@pytest.fixture(autouse=True)
def no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(keys.VARIABLE, raising=False)


@pytest.fixture
def with_key(shell: Shell) -> Shell:
    """Return a shell in whose folder the file key has the key."""
    Path("key").write_text(KEY.hex() + "\n")
    return shell


def test_subcommands_take_a_key_file(with_key: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = ("--key-file", "key")

    def run(*words: str) -> str:
        code, out, err = with_key(*words, *secret)
        assert code == 0, (words, out, err)
        return out

    run("retain", "s", "Ann lives in Oslo.", "--id", "home", "--at", "2024-05-01")
    assert "Oslo" in run("recall", "s", "Where does Ann live?")
    assert "Oslo" in run("export", "s") and "home" in run("log", "s")
    for words in (("stats", "s"), ("agents", "s"), ("verify", "s"), ("head", "s"), ("audit", "s")):
        run(*words)
    run("checkpoint", "s")
    run("doctor", "s")
    run("backup", "s", "b")
    run("verify", "b")
    assert with_key("verify", "b")[0] == 0  # hashes need no key
    run("restore", "b", "again")
    run("replay", "s/agents/default", "replayed")
    run("erase", "s", "--id", "home", "--by", "a", "--why", "b", "--yes", "--copy", "b")
    for folder in ("s", "again", "replayed", "b"):
        held = b"".join(each.read_bytes() for each in Path(folder).rglob("*") if each.is_file())
        assert b"Oslo" not in held
    monkeypatch.setenv(keys.VARIABLE, KEY.hex())
    assert "Oslo" in with_key("recall", "again", "Where does Ann live?")[1]


def test_a_key_is_made_in_a_new_file(shell: Shell) -> None:
    code, out, _ = shell("key", "made")
    assert code == 0 and "keep a copy" in out
    path = Path("made")
    assert path.stat().st_mode & 0o777 == 0o600 and len(path.read_text()) == 65
    assert path.read_text().strip() not in out
    assert recollex.encryption.read_key(path) == bytes.fromhex(path.read_text())
    code, _, err = shell("key", "made")
    assert code == 2 and "File exists" in err
    assert shell("key", "nowhere/made")[0] == 2


def test_what_is_wrong_is_one_line(with_key: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    assert with_key("retain", "s", "Ann lives in Oslo.", "--key-file", "key")[0] == 0
    code, out, err = with_key("recall", "s", "Ann")
    assert (code, out) == (2, "") and "is encrypted: give the key" in err and err.count("\n") == 1
    Path("other").write_bytes(bytes(32))
    assert "is not the key of" in with_key("recall", "s", "Ann", "--key-file", "other")[2]
    Path("short").write_text("abc")
    code, _, err = with_key("recall", "s", "Ann", "--key-file", "short")
    assert code == 2 and "must hold 64 hexadecimal digits, got 3 other characters" in err
    assert "cannot be read" in with_key("recall", "s", "Ann", "--key-file", "none")[2]
    monkeypatch.setenv(keys.VARIABLE, "x" * 64)
    code, _, err = with_key("recall", "s", "Ann")
    assert code == 2 and "RECOLLEX_KEY must hold" in err and "xxx" not in err


def test_a_server_opens_its_store_with_its_key(tmp_path: Path) -> None:
    place, store = tmp_path / "key", tmp_path / "store"
    place.write_bytes(KEY)
    options = ("--store", str(store), "--key-file", str(place), "--workers", "1")
    with process(*options) as (_, address), recollex.connect(address) as remote:
        agent = remote.agent("ann")
        agent.retain("Zyxqvw is told.", id="told", embedding=VECTOR)
        for _ in range(20):
            assert agent.recall("Zyxqvw", query_embedding=VECTOR)[0].id == "told"
    held = b"".join(each.read_bytes() for each in store.rglob("*") if each.is_file())
    assert b"yxqvw" not in held.lower()
    with (
        pytest.raises(EncryptionError),
        recollex.open(store, embedder=recollex.GivenVectors(len(VECTOR))) as opened,
    ):
        opened.agent("ann").list()


class Ring:
    """A keyring in memory, as a backend of the package keyring."""

    def __new__(cls) -> "Ring":
        import keyring.backend

        class Backend(keyring.backend.KeyringBackend):
            priority = 1  # type: ignore[assignment]

            def __init__(self) -> None:
                super().__init__()
                self.held: dict[tuple[str, str], str] = {}

            def get_password(self, service: str, username: str) -> str | None:
                return self.held.get((service, username))

            def set_password(self, service: str, username: str, password: str) -> None:
                self.held[service, username] = password

        return Backend()  # type: ignore[return-value]


def test_a_key_of_the_keyring(tmp_path: Path) -> None:
    import keyring

    before = keyring.get_keyring()
    keyring.set_keyring(Ring())  # type: ignore[arg-type]
    try:
        key = recollex.encryption.KeyringKey("recollex's tests")
        with pytest.raises(InputError, match=r"the keyring has no key of .*: create\(\) makes one"):
            recollex.open(tmp_path, key=key)
        assert key.create() is key and len(key.read()) == 32
        with pytest.raises(InputError, match=r"has a key of .* already"):
            key.create()
        for _ in range(2):
            with recollex.open(tmp_path, embedder=recollex.GivenVectors(8), key=key) as store:
                store.agent("a").retain("Tea.", embedding=[1] * 8)
        assert key.read().hex() not in repr(key)
    finally:
        keyring.set_keyring(before)
