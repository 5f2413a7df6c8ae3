import _thread
import threading

import pytest

from recollex_engine.state.integrity import SideThread


def test_the_work_is_done_on_another_thread_before_anything_waits():
    begun, ending = threading.Event(), threading.Event()

    def work():
        begun.set()
        assert ending.wait(60)
        return threading.get_ident()

    beside = SideThread(work)
    assert begun.wait(60)
    ending.set()
    assert beside.wait() != [threading.get_ident()]
    assert beside.wait() == beside.wait()


def test_the_waiting_thread_helps_with_works_that_are_left():
    begun, ending = threading.Event(), threading.Event()

    def first():
        begun.set()
        assert ending.wait(60)
        return threading.get_ident()

    def second():
        ending.set()  # before it, nothing lets the first end
        return threading.get_ident()

    beside = SideThread(first, second)
    assert begun.wait(60)
    here, there = beside.wait()
    assert here == threading.get_ident() != there


def test_the_waiting_thread_does_what_no_other_thread_began(monkeypatch):
    started = []
    monkeypatch.setattr(_thread, "start_new_thread", lambda run, _: started.append(run))
    beside = SideThread(threading.get_ident)
    assert beside.wait() == [threading.get_ident()]
    started[0]()  # the thread runs at last, and finds nothing to do
    assert beside.wait() == [threading.get_ident()]


def test_without_a_further_thread_the_waiting_one_does_the_work(monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_thread, "start_new_thread", refuse)
    assert SideThread(threading.get_ident).wait() == [threading.get_ident()]


def test_each_wait_raises_what_a_work_raised():
    done = []

    def fail():
        raise OverflowError("damaged")

    beside = SideThread(fail, lambda: done.append(1))
    for _ in range(2):
        with pytest.raises(OverflowError, match="damaged"):
            beside.wait()
    assert done == [1]
