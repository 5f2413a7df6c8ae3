"""The line that is drawn while something takes long."""

import io
import threading

import pytest

from recollex_engine import waiting as module
from recollex_engine.waiting import waiting


class Screen(io.StringIO):
    """Standard error that tells when it was written to."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal
        self.flushed = threading.Event()

    def isatty(self) -> bool:
        return self.terminal

    def flush(self) -> None:
        self.flushed.set()


def shown(monkeypatch: pytest.MonkeyPatch, terminal: bool, redirected: bool, wait: bool) -> str:
    screen = Screen(terminal)
    monkeypatch.setattr(module.sys, "stderr", screen)
    monkeypatch.setattr(module, "DRAWN", 0.001 if wait else 3600)
    monkeypatch.setattr(module, "WRITTEN", 0.001 if wait else 3600)
    with waiting(lambda: "counting to 9", redirected):
        if wait:
            assert screen.flushed.wait(60)
    return screen.getvalue()


def test_a_terminal_has_one_line_that_goes_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    first, *_, last = shown(monkeypatch, True, False, True).split("\r")[1:]
    assert first == "recollex: counting to 9, 0 s\x1b[K"
    assert last == "\x1b[K"


def test_a_log_file_has_line_after_line(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(monkeypatch, False, True, True).splitlines()
    assert set(lines) == {"recollex: counting to 9, 0 s"}


def test_what_is_done_soon_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, True, True, False) == ""


def test_a_pipe_has_nothing_unless_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = set(threading.enumerate())
    screen = Screen(False)
    monkeypatch.setattr(module.sys, "stderr", screen)
    with waiting(lambda: "counting"):
        assert set(threading.enumerate()) <= threads
    assert screen.getvalue() == ""


def test_an_error_in_the_body_ends_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.sys, "stderr", Screen(True))
    with pytest.raises(KeyError), waiting(lambda: "counting"):
        raise KeyError
    assert not [t for t in threading.enumerate() if t.name == "recollex-waiting"]
