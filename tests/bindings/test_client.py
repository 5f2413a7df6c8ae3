"""The tables of a client's methods, its retries and its pool of connections."""

import time
from types import SimpleNamespace

import pytest

from recollex.remote.client.calls import SAFE_METHODS as REPEATABLE
from recollex.remote.client.calls import Retries, is_idempotent
from recollex.remote.client.pool import Pool
from recollex.remote.client.sockets import LostError
from recollex.remote.client.store import (
    Agent,
    AgentProfile,
    Events,
    Facts,
    Jobs,
    Opinions,
    Sessions,
    Store,
    Tools,
)
from recollex.remote.client.stubs import PREPARE
from recollex.remote.wire.methods import METHODS
from recollex_engine import errors


def test_every_method_of_the_wire_is_a_method_of_the_client() -> None:
    homes = {
        "": Agent,
        "facts": Facts,
        "events": Events,
        "sessions": Sessions,
        "profile": AgentProfile,
        "opinions": Opinions,
        "jobs": Jobs,
        "tools": Tools,
    }
    for name, method in METHODS.items():
        if method.store or method.deletes:
            assert callable(getattr(Store, name.rpartition(".")[2])), name
        elif name != "transact":
            assert callable(getattr(homes[method.group], name.rpartition(".")[2])), name
    assert set(METHODS) >= set(PREPARE)
    assert {name for name, method in METHODS.items() if method.scope == "write"} >= REPEATABLE


def test_a_time_of_recording_makes_a_write_one_of_a_kind() -> None:
    assert is_idempotent("retain", {"text": "a"})
    assert not is_idempotent("retain", {"text": "a", "recorded_at": 1})
    assert not is_idempotent("forget", {"id": "a"})
    assert is_idempotent("apply", {"operations": [{"op": "UPSERT_EDGE"}]})
    assert not is_idempotent("apply", {"operations": [{"op": "UPSERT_EDGE"}, {"op": "FORGET"}]})


def test_a_call_that_cannot_be_repeated_goes_to_the_same_server_alone() -> None:
    attempts = Retries("forget", False, None, 10)
    attempts.check("any")
    attempts.after_loss(LostError("gone", sent=False), "a")
    attempts.check("b")  # it was never sent
    attempts.after_loss(LostError("gone", sent=True), "b")
    attempts.check("b")
    with pytest.raises(errors.DisconnectedError):
        attempts.check("c")


def test_pauses_grow_and_end(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses, now = [], [0.0]
    clock = SimpleNamespace(monotonic=lambda: now[0])
    monkeypatch.setattr("recollex.remote.client.calls.time", clock)
    attempts = Retries("stats", True, 1.0, 100)
    with pytest.raises(errors.DisconnectedError):
        for _ in range(100):
            pauses.append(attempts.after_failure(errors.DisconnectedError("gone")))
            now[0] += pauses[-1]
    assert sum(pauses) <= 1 and len(pauses) >= 4 and pauses[0] <= 0.01 and max(pauses) <= 1
    with pytest.raises(errors.OverloadedError):
        Retries("stats", True, None, 1).after_failure(errors.OverloadedError("full", 2.0))


def test_a_pool_hands_out_what_was_given_back_last() -> None:
    class Fake:
        instance, is_idle = "", True

        def close(self) -> None:
            self.is_idle = False

    pool = Pool(lambda deadline: Fake(), 3)  # type: ignore[arg-type, return-value]
    first, second = pool.take(None, "x"), pool.take(None, "x")
    pool.give(first)
    pool.give(second)
    assert pool.take(None, "x") is second
    second.close()
    pool.give(second)  # of no use: its place is free
    assert pool.take(None, "x") is first
    pool.take(None, "x"), pool.take(None, "x")
    with pytest.raises(errors.DeadlineError):
        pool.take(time.monotonic() + 0.01, "x")
    pool.close()
    pool.give(first)
    assert not first.is_idle
    with pytest.raises(errors.ClosedError):
        pool.take(None, "x")
