import shutil
import subprocess
from pathlib import Path

import pytest

from tests.bindings.command_line import Shell


def completed(script: str, *words: str) -> list[str]:
    """Return what bash offers for the last of the words of a command line."""
    line = " ".join(f"'{word}'" for word in words)
    ask = (
        f"source /dev/stdin; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _shtab_recollex; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", ask], input=script, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_subcommands_options_and_folders(shell: Shell, tmp_path: Path) -> None:
    code, script, _ = shell("completion", "bash")
    assert code == 0
    Path("memory").mkdir()
    Path("memo.txt").touch()
    assert completed(script, "recollex", "reca") == ["recall"]
    assert completed(script, "recollex", "recall", "m", "q", "--as") == [
        "--as-recorded",
        "--as-world",
    ]
    assert completed(script, "recollex", "stats", "mem") == ["memory"]
    assert set(completed(script, "recollex", "ingest", "memory", "memo")) == {"memory", "memo.txt"}
    assert completed(script, "recollex", "models", "fe") == ["fetch"]


@pytest.mark.parametrize("name", ["zsh", "tcsh"])
def test_other_shells_have_a_script(shell: Shell, name: str) -> None:
    code, script, _ = shell("completion", name)
    assert code == 0 and "memosearch" in script


def test_another_shell_is_refused(shell: Shell) -> None:
    code, out, err = shell("completion", "bas")
    assert (code, out) == (2, "") and "did you mean bash?" in err
