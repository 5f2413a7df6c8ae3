"""Is a processor likely idle?"""

import os

import pytest

from recollex_engine import cores


@pytest.mark.parametrize(
    ("load", "usable", "idle"), [(0.4, 1, False), (0.9, 2, True), (1.6, 2, False), (6.9, 8, True)]
)
def test_a_core_is_idle_if_the_load_is_well_below_their_number(monkeypatch, load, usable, idle):
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 9.0, 9.0), raising=False)
    monkeypatch.setattr(cores, "usable_cores", lambda: usable)
    assert cores.is_one_idle() == idle


def test_a_system_that_does_not_tell_its_load_has_none(monkeypatch):
    def unknown():
        raise OSError

    monkeypatch.setattr(os, "getloadavg", unknown, raising=False)
    assert not cores.is_one_idle()
    monkeypatch.delattr(os, "getloadavg")
    assert not cores.is_one_idle()
