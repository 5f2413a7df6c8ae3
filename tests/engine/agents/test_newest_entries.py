"""The last operations of a log, against all of them reversed."""

import itertools
from datetime import UTC, datetime

import pytest

import recollex
from recollex_engine.agents.logbook import entries, entries_of, newest_entries
from recollex_engine.clock import to_micros
from recollex_engine.errors import InputError
from recollex_engine.writing import checkpoint


@pytest.fixture(params=[1 << 24, 300], ids=["one file", "many files"])
def agent(request, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "LOG_BYTES", request.param)
    with recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(8)) as store:
        a = store.agent("a")
        for n in range(14):
            texts, ids = [f"No. {n}.", f"And {n}."], [f"m{n}", f"n{n}"]
            a.retain_many(texts, id=ids, embedding=[[1.0] * 8] * 2)
            if n % 3 == 0:
                a.archive(f"m{n}")
            if n % 4 == 0:
                a.checkpoint()
        yield a


def test_pages_are_the_log_reversed(agent):
    whole = [entry.op for entry in entries(agent.engine)][::-1]
    assert len(whole) > 30
    for limit in (1, 2, 7, 100):
        found, before = [], None
        while page := newest_entries(agent.engine, before, limit):
            assert len(page) == min(limit, len(whole) - len(found))
            found += [entry.op for entry in page]
            before = found[-1]
        assert found == whole


def test_operations_are_found_by_their_numbers(agent):
    whole = {entry.op: entry for entry in entries(agent.engine)}
    last = max(whole)
    assert entries_of(agent.engine, [7, 3, last, 3]) == [whole[op] for op in (3, 7, last)]
    assert [entries_of(agent.engine, [op])[0].op for op in whole] == sorted(whole)
    assert entries_of(agent.engine, [0, last + 1]) == []


def test_a_kind_and_a_cut_narrow_them(agent):
    archived = [entry.op for entry in entries(agent.engine, kinds=["archive"])][::-1]
    assert [entry.op for entry in newest_entries(agent.engine, kinds=["archive"])] == archived
    assert [e.op for e in newest_entries(agent.engine, archived[0], 2, ["archive"])] == archived[
        1:3
    ]
    at = next(e.recorded_at for e in entries(agent.engine) if e.op == archived[1])
    cut = agent.at(at).engine
    assert newest_entries(cut, limit=1)[0].op == archived[1]
    assert newest_entries(agent.at(datetime(2020, 1, 1, tzinfo=UTC)).engine) == []
    with pytest.raises(InputError, match="op must be some of"):
        newest_entries(agent.engine, kinds=["archived"])


def test_entries_of_rare_kinds_are_those_of_the_whole_log(tmp_path):
    with recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(8)) as store:
        agent = store.agent("a")
        for n in range(3):
            ids = [f"{n} {m}" for m in range(150)]
            agent.retain_many([f"No. {m}." for m in ids], id=ids, embedding=[[1.0] * 8] * 150)
            agent.forget(ids[3])
            agent.archive(ids[5])
        whole = [(to_micros(each.recorded_at, "at"), each) for each in entries(agent.engine)]
        times = [None, *(at for at, each in whole if each.kind == "forget")]
        for kinds in (["forget"], ["archive", "forget"], ["amend"]):
            for since, until in itertools.product(times, times):
                assert list(entries(agent.engine, since, until, kinds)) == [
                    each
                    for at, each in whole
                    if each.kind in kinds and (since is None or at >= since)
                    if until is None or at < until
                ]
