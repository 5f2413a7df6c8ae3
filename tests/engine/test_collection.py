"""The collector is paused while a batch is recorded, and runs again afterwards."""

import gc
import threading

import pytest

from recollex_engine.collection import paused


def _pause():
    with paused(True):
        pass


def test_it_runs_again_after_the_last_of_overlapping_pauses():
    assert gc.isenabled()
    with paused(True):
        with paused(True):
            assert not gc.isenabled()
        assert not gc.isenabled()
        other = threading.Thread(target=_pause)
        other.start()
        other.join()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_runs_again_after_an_error_and_stays_off_for_those_who_want_it_off():
    with pytest.raises(KeyError), paused(True):
        raise KeyError
    assert gc.isenabled()
    gc.disable()
    try:
        with paused(True):
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_small_batch_does_not_pause_it():
    with paused(False):
        assert gc.isenabled()
