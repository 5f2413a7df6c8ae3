"""What a user sees while kernels are compiled."""

import logging
import sys

import pytest

from recollex.api import store
from recollex.api.store import MESSAGE, Announcement
from recollex_engine import waiting


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(store.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(waiting, "DRAWN", 3600)
    return now


def compile_for(announcement: Announcement, clock: list[float], *seconds: float) -> None:
    """Compile a kernel that calls others, each for as many seconds."""
    announcement.started()
    for length in seconds:
        announcement.started()
        clock[0] += length
        announcement.ended()
    announcement.ended()


def test_a_short_compilation_says_nothing(
    clock: list[float], caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    announcement = Announcement()
    compile_for(announcement, clock, 0.5)
    clock[0] += 1000
    compile_for(announcement, clock, 0.25)
    assert not caplog.records
    assert capsys.readouterr().err == ""


def test_a_log_is_told_once_of_a_long_one(
    clock: list[float], caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    announcement = Announcement()
    for _ in range(3):
        compile_for(announcement, clock, 0.25, 0.25, 0.25)
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("recollex", logging.WARNING)
    assert record.getMessage() == MESSAGE
    assert "minute" in MESSAGE and "`recollex warmup`" in MESSAGE
    assert capsys.readouterr().err == ""


def test_a_terminal_is_told_on_standard_error(
    clock: list[float],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    announcement = Announcement()
    compile_for(announcement, clock, 2, 2)
    compile_for(announcement, clock, 2)
    assert capsys.readouterr().err == f"\rrecollex: {MESSAGE}\x1b[K\n"
    assert not caplog.records


def test_a_caller_that_shows_it_itself_hears_nothing(
    clock: list[float], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    announcement = Announcement()
    monkeypatch.setattr(store, "ANNOUNCEMENT", announcement)
    with store.unannounced():
        compile_for(announcement, clock, 2)
    assert not caplog.records
    compile_for(announcement, clock, 0.1)
    assert caplog.records
