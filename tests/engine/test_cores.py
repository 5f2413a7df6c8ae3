"""Is a processor likely idle?"""

import os
from pathlib import Path

import pytest

from recollex_engine import cores


@pytest.mark.parametrize(
    ("running", "usable", "idle"), [(1, 1, False), (1, 2, True), (2, 2, False), (7, 8, True)]
)
def test_a_core_is_idle_if_fewer_threads_run_than_there_are(
    monkeypatch, tmp_path, running, usable, idle
):
    (tmp_path / "loadavg").write_text(f"9.75 0.18 0.12 {running}/80 11206\n")
    monkeypatch.setattr(cores, "_LOAD", tmp_path / "loadavg")
    monkeypatch.setattr(cores, "usable_cores", lambda: usable)
    assert cores.is_one_idle() == idle


@pytest.mark.parametrize(
    ("load", "usable", "idle"), [(0.4, 1, False), (0.9, 2, True), (1.6, 2, False), (6.9, 8, True)]
)
@pytest.mark.parametrize("told", [None, "", "0.20 0.18 0.12 many"])
def test_elsewhere_a_core_is_idle_if_the_load_is_well_below_their_number(
    monkeypatch, tmp_path, load, usable, idle, told
):
    if told is not None:
        (tmp_path / "loadavg").write_text(told)
    monkeypatch.setattr(cores, "_LOAD", tmp_path / "loadavg")
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 9.0, 9.0), raising=False)
    monkeypatch.setattr(cores, "usable_cores", lambda: usable)
    assert cores.is_one_idle() == idle


def test_a_system_that_does_not_tell_its_load_has_none(monkeypatch, tmp_path):
    def unknown():
        raise OSError

    monkeypatch.setattr(cores, "_LOAD", tmp_path / "none")
    monkeypatch.setattr(cores, "usable_cores", lambda: 2)
    monkeypatch.setattr(os, "getloadavg", unknown, raising=False)
    assert not cores.is_one_idle()
    monkeypatch.delattr(os, "getloadavg")
    assert not cores.is_one_idle()


@pytest.mark.skipif(not Path("/proc/loadavg").exists(), reason="only Linux tells it")
def test_this_thread_is_counted():
    assert cores._running() >= 1
