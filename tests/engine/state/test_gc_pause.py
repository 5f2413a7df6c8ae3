"""The collector is paused while a batch is recorded, and runs again afterwards."""

import gc
import threading

import numpy as np
import pytest

import recollex
from recollex_engine.state.replica import gc_paused


def _pause():
    with gc_paused(True):
        pass


def test_it_runs_again_after_the_last_of_overlapping_pauses():
    assert gc.isenabled()
    with gc_paused(True):
        with gc_paused(True):
            assert not gc.isenabled()
        assert not gc.isenabled()
        other = threading.Thread(target=_pause)
        other.start()
        other.join()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_runs_again_after_an_error_and_stays_off_for_those_who_want_it_off():
    with pytest.raises(KeyError), gc_paused(True):
        raise KeyError
    assert gc.isenabled()
    gc.disable()
    try:
        with gc_paused(True):
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_small_batch_does_not_pause_it():
    with gc_paused(False):
        assert gc.isenabled()


def test_it_stays_out_of_the_way_while_a_log_is_read(tmp_path):
    embedder = recollex.GivenVectors(8)
    with recollex.open(tmp_path, embedder=embedder) as store:
        texts = [f"Ann saw boat {n}." for n in range(200)]
        store.agent("a").retain_many(
            texts, embedding=np.eye(8, dtype=np.float32)[np.arange(200) % 8]
        )
    passes = []

    def noted(phase, _info):
        passes.append(phase)

    before = gc.get_threshold()
    with recollex.open(tmp_path, embedder=embedder) as store:
        gc.callbacks.append(noted)
        gc.set_threshold(100, 1000, 1000)
        try:
            store.agent("a")
        finally:
            gc.set_threshold(*before)
            gc.callbacks.remove(noted)
        assert store.agent("a").stats().memories == 200
    assert len(passes) < 30  # two a pass: ten were found, and eighty where it was not paused


def test_a_transaction_of_facts_leaves_the_collector_nothing(tmp_path):
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(8)) as store:
        alice = store.agent("alice")
        found = []
        for day in range(3):
            gc.collect()
            gc.disable()
            try:
                with alice.transaction() as tx:
                    for place in range(200):
                        tx.facts.add(f"Ann {place}", "met", f"Ben {day}")
                found.append(gc.collect())
            finally:
                gc.enable()
    assert found[-1] < 50, found
