import io
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollex.remote.server.logs import Log
from recollex_engine.errors import InputError

SECRET = "my PIN is 4711"


def written(stream: io.StringIO) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in stream.getvalue().split("\n")[:-1]]


def test_a_slow_request_tells_no_text() -> None:
    stream = io.StringIO()
    log = Log(stream, slow=0.5)
    given = {"query": SECRET, "tags": [SECRET], "where": {SECRET: SECRET}, "max_tokens": 9}
    log.answered("recall", "alice", "unix", 0.75, given)
    assert SECRET not in stream.getvalue()
    (line,) = written(stream)
    assert (line["event"], line["level"], line["agent"]) == ("slow", "warning", "alice")
    assert line["milliseconds"] == 750
    assert line["arguments"] == {
        "query": f"str of {len(SECRET)}",
        "tags": "list of 1",
        "where": "dict of 1",
        "max_tokens": 9,
    }


def test_a_bug_gives_its_traceback_and_hides_its_message() -> None:
    stream = io.StringIO()
    try:
        {}[SECRET]  # type: ignore[index]
    except KeyError as error:
        Log(stream).bug(error, method="retain", agent="alice")
    (line,) = written(stream)
    assert (line["event"], line["error"]) == ("bug", "KeyError")
    assert "test_logs.py" in line["traceback"]
    assert line["message"] != SECRET and "4711" not in line["message"]


def test_errors_of_callers_are_for_debug_alone() -> None:
    quiet, loud = io.StringIO(), io.StringIO()
    for stream, level in ((quiet, "info"), (loud, "debug")):
        Log(stream, level).answered("get", "alice", "unix", 0.1, {}, InputError(SECRET))
    assert quiet.getvalue() == ""
    (line,) = written(loud)
    assert line["error"] == "InputError" and SECRET not in loud.getvalue()


def test_texts_are_written_when_they_are_asked_for() -> None:
    stream = io.StringIO()
    Log(stream, texts=True, slow=0.0).answered("recall", "a", "unix", 0.1, {"query": SECRET})
    assert written(stream)[0]["arguments"] == {"query": SECRET}


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(st.dictionaries(st.text(), anything))
def test_anything_makes_one_line_of_json(fields: dict[str, Any]) -> None:
    stream = io.StringIO()
    Log(stream, texts=True, slow=0.0).answered("recall", "a", "unix", 0.1, fields)
    assert stream.getvalue().count("\n") == 1
    assert len(written(stream)) == 1


def test_what_is_long_is_cut() -> None:
    stream = io.StringIO()
    Log(stream).event("opened", agent="a" * 10_000)
    assert written(stream)[0]["agent"].endswith("... (10000 characters)")
    assert len(stream.getvalue()) < 2200


def test_times_are_written_with_their_zone() -> None:
    stream = io.StringIO()
    Log(stream, slow=0).answered("at", "a", "unix", 1.0, {"at": datetime(2024, 5, 1, tzinfo=UTC)})
    assert written(stream)[0]["arguments"]["at"] == "2024-05-01 00:00:00+00:00"


def test_a_log_that_was_closed_stops_no_caller() -> None:
    stream = io.StringIO()
    log = Log(stream)
    stream.close()
    log.event("opened")
    log.event("opened")


def test_a_level_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="debug, info, warning, error, got 'loud'"):
        Log(level="loud")
