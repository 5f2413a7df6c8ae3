"""The log of an agent, and the difference between two times."""

import pytest

import recollex
from recollex_engine.errors import InputError
from tests.bindings.time_travel.days import day, told


def test_the_log_says_what_was_done_when_by_whom_and_why(agent):
    said = [(e.op, e.kind, e.ids, e.by, e.why) for e in agent.log()]
    assert said == [
        (1, "create", (), None, None),
        (2, "retain", ("home",), None, None),
        (3, "retain", ("pet",), None, None),
        (4, "correct", ("home",), "ben", "She moved."),
        (5, "archive", ("pet",), "ann", "It ran away."),
        (6, "retain", ("cello",), None, None),
        (7, "forget", ("cello",), "ann", None),
    ]
    assert [e.recorded_at for e in agent.log()][1:] == [day(n) for n in range(1, 7)]
    assert [e.op for e in agent.log(since=day(2), until=day(4))] == [3, 4]
    assert [e.op for e in agent.log(op=["forget", "correct"])] == [4, 7]
    assert [e.op for e in agent.at(day(3)).log(op="retain")] == [2, 3]
    assert agent.log(op="correct")[0].to_dict()["payload"]["text"] == "Ann lives in Rome."
    with pytest.raises(InputError, match="swap them"):
        agent.log(since=day(3), until=day(2))


def test_the_log_is_read_from_the_file_that_holds_the_time(agent, monkeypatch):
    from recollex_engine.log import files as log_files
    from recollex_engine.writing import checkpoint

    monkeypatch.setattr(checkpoint, "LOG_BYTES", 300)
    for number in range(7, 16):
        told(agent, number, f"On day {number}.")
        agent.checkpoint()
    read = []
    opened = log_files.LogFile.read
    monkeypatch.setattr(
        log_files.LogFile,
        "read",
        lambda file, offset, size: (read.append(file.path.name), opened(file, offset, size))[1],
    )
    assert [e.recorded_at for e in agent.log(since=day(14))] == [day(14), day(15)]
    assert "00000001.jsonl.gz" not in read
    assert [e.op for e in agent.log(since=day(0))] == list(range(1, 17))


def test_what_changed_between_two_times(agent):
    def texts(difference):
        return [[m.text for m in side] for side in (difference.added, difference.closed)]

    assert texts(agent.diff(day(1), day(3))) == [
        ["Ben has a puppy.", "Ann lives in Rome."],
        ["Ann lives in Oslo."],
    ]
    assert texts(agent.diff(day(4), day(6))) == [[], []]  # it came and went
    found = agent.diff(day(5))
    assert (found.added, [m.closed.how for m in found.closed]) == ([], ["forgotten"])
    assert texts(agent.diff(day(0), day(1))) == [["Ann lives in Oslo."], []]
    assert agent.diff(day(2), day(2)) == recollex.Difference([], [])
    assert texts(agent.at(day(3)).diff(day(1))) == texts(agent.diff(day(1), day(3)))
    with pytest.raises(InputError, match="swap them"):
        agent.diff(day(3), day(2))
