"""The subcommand doctor."""

from pathlib import Path

from tests.bindings.command_line import Shell
from tests.bindings.test_cli_history import store

__all__ = ["store"]


def test_the_doctor_says_what_is_wrong_and_what_it_mended(shell: Shell, store: str) -> None:
    assert shell("checkpoint", store)[0] == 0
    code, out, _ = shell("doctor", store)
    assert code == 0 and out.startswith("default is sound: ")
    manifest = Path(store, "agents/default/MANIFEST")
    manifest.write_text("{")
    code, out, err = shell("doctor", store, "--look")
    assert code == 1 and out.startswith("default: ") and "manifest is damaged" in out and err == ""
    code, out, _ = shell("doctor", store)
    assert code == 0 and out.splitlines()[-1] == "default is mended"
    assert shell("doctor", store)[1].startswith("default is sound: ")


def test_what_cannot_be_mended_is_saved(shell: Shell, store: str) -> None:
    (log,) = Path(store, "agents/default/log").glob("0*")
    whole = log.read_bytes()
    log.write_bytes(whole.replace(b"She moved.", b"He stayed."))
    code, out, err = shell("doctor", store)
    assert code == 1 and "default is not mended: " in out and "--salvage DIR" in err
    code, out, err = shell("doctor", store, "--salvage", "saved")
    assert code == 1 and "default: 4 operations saved in saved" in out and err == ""
    assert "Oslo" in shell("export", "saved")[1] and shell("verify", "saved")[0] == 0
    assert shell("doctor", "nowhere")[0] == 1
    code, _, err = shell("doctor", store, "--agent", "bob")
    assert code == 1 and "there is no agent 'bob' in memory, only default" in err
