"""A language model as the reader of times, against a real server on the loopback."""

import json
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from zoneinfo import ZoneInfo

import pytest

from recollex_engine.dates.time_range import EARLIEST, LATEST
from recollex_engine.errors import InputError, ModelError
from recollex_mind import language_model_dates as language_model_dates
from recollex_mind.language_model_dates import LanguageModelDates
from tests.http_stub import QuietHandler, http_stub

if find_spec("openai") is None or find_spec("pydantic") is None:  # importing openai takes a second
    pytest.skip("needs the extra: recollex[llm]", allow_module_level=True)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NOW = 1_700_042_400_000_000  # Wednesday, 15 November 2023, 10:00
QUESTION = "What did we do when the leaves fell?"


def us(*when):
    return (datetime(*when, tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)


def completion(content):
    """Return the body of a chat completion that says ``content``."""
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return json.dumps(
        {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    )


def found(first, last, words="when the leaves fell"):
    return json.dumps({"found": True, "words": words, "first": first, "last": last})


@contextmanager
def endpoint(body, status=200, kind="application/json", wait=0.0):
    """Serve one scripted answer on a free port; yield its address and what was asked."""
    asked = []

    class Handler(QuietHandler):
        def answer(self):
            sent = self.rfile.read(int(self.headers["Content-Length"]))
            asked.append((self.path, json.loads(sent)))
            time.sleep(wait)
            try:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body.encode())))
                self.end_headers()
                self.wfile.write(body.encode())
            except (BrokenPipeError, ConnectionResetError):
                pass  # the client gave up

    with http_stub(Handler) as server:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked


@contextmanager
def parser(url, **options):
    reader = LanguageModelDates("m", base_url=url, api_key="none", **options)
    try:
        yield reader
    finally:
        reader.close()


def read(body, *, tz=UTC, timeout=5.0, **served):
    with endpoint(body, **served) as (url, _), parser(url, tz=tz, timeout=timeout) as reader:
        return reader.find(QUESTION, NOW)


def test_days_are_read_as_days():
    range_ = read(completion(found("2023-09-01", "2023-11-30")))
    assert (range_.start, range_.end) == (us(2023, 9, 1), us(2023, 12, 1))
    assert range_.text == "when the leaves fell" == QUESTION[slice(*range_.span)]


def test_the_question_and_the_time_are_sent():
    nothing = completion('{"found": false, "words": null, "first": null, "last": null}')
    with endpoint(nothing) as (url, asked), parser(url) as reader:
        assert reader.name == "llm:m"
        assert reader.find(QUESTION, NOW) is None
        assert reader.find("  ", NOW) is None
    ((path, sent),) = asked
    assert path == "/v1/chat/completions"
    assert sent["model"] == "m" and sent["temperature"] == 0
    assert "2023-11-15 10:00 (Wednesday)" in sent["messages"][0]["content"]
    assert sent["messages"][1] == {"role": "user", "content": QUESTION}
    schema = sent["response_format"]["json_schema"]["schema"]
    assert sorted(schema["required"]) == ["first", "found", "last", "words"]


RANGES = {
    "hours": (
        found("2023-05-07T18:00", "2023-05-07T22:30"),
        us(2023, 5, 7, 18),
        us(2023, 5, 7, 22, 30),
    ),
    "to the last second": (
        found("2023-05-07T00:00:00", "2023-05-07T23:59:59"),
        us(2023, 5, 7),
        us(2023, 5, 8),
    ),
    "with a zone": (
        found("2023-05-07T02:00+02:00", "2023-05-07T04:00+02:00"),
        us(2023, 5, 7),
        us(2023, 5, 7, 2),
    ),
    "no beginning": (found(None, "2019-12-31"), EARLIEST, us(2020, 1, 1)),
    "until now": (found("2022-01-01", None), us(2022, 1, 1), NOW),
    "from later on": (found("2024-01-01", None), us(2024, 1, 1), LATEST),
    "between fences": (
        f"```json\n{found('2022-01-01', '2022-01-01')}\n```",
        us(2022, 1, 1),
        us(2022, 1, 2),
    ),
}


@pytest.mark.parametrize(("content", "start", "end"), RANGES.values(), ids=RANGES)
def test_ranges(content, start, end):
    range_ = read(completion(content))
    assert (range_.start, range_.end) == (start, end)


def test_days_are_those_of_the_zone():
    range_ = read(completion(found("2023-05-07", "2023-05-07")), tz=ZoneInfo("Asia/Tokyo"))
    assert (range_.start, range_.end) == (us(2023, 5, 6, 15), us(2023, 5, 7, 15))


def test_words_that_the_question_lacks_leave_the_question():
    range_ = read(completion(found("2023-05-07", "2023-05-07", words="last spring")))
    assert (range_.text, range_.span) == (QUESTION, (0, len(QUESTION)))


WRONG = {
    "no JSON": (completion("The leaves fall in autumn."), "what is no range"),
    "half a JSON": (completion('{"found": true, "words": "wh'), "what is no range"),
    "another JSON": (completion('{"start": "2023-01-01"}'), "what is no range"),
    "a word for a truth": (completion(found(1, 2)), "what is no range"),
    "no such day": (completion(found("2023-02-30", "2023-03-01")), "what is not a time"),
    "a word for a day": (completion(found("autumn", None)), "what is not a time"),
    "the last day of the calendar": (completion(found("9999-12-31", "9999-12-31")), "not a time"),
    "end before start": (completion(found("2023-11-30", "2023-09-01")), "ends before it begins"),
    "found without ends": (completion(found(None, None)), "neither"),
    "nothing": (completion(None), "answered nothing"),
    "no choices": ('{"id": "1", "object": "chat.completion", "choices": []}', "no chat completion"),
    "a list": ("[1, 2]", "no chat completion"),
    "a broken body": ("{", "did not answer"),
}


@pytest.mark.parametrize(("body", "complaint"), WRONG.values(), ids=WRONG)
def test_a_wrong_answer_is_an_error_that_says_so(body, complaint):
    with pytest.raises(ModelError, match=complaint):
        read(body)


def test_a_page_is_no_answer():
    with pytest.raises(ModelError, match="no chat completion"):
        read("<html>Sign in</html>", kind="text/html")


@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_an_endpoint_that_fails_is_asked_once(status):
    with endpoint('{"error": {"message": "no"}}', status=status) as (url, asked):
        with parser(url) as reader, pytest.raises(ModelError, match=f"answered HTTP {status}"):
            reader.find(QUESTION, NOW)
        assert len(asked) == 1


def test_a_silent_endpoint_is_left():
    began = time.monotonic()
    with pytest.raises(ModelError, match=r"did not answer within 0\.2 s"):
        read(completion(found("2023-01-01", None)), wait=1.5, timeout=0.2)
    assert time.monotonic() - began < 5


def test_without_a_server():
    with endpoint("") as (url, _):
        pass
    with parser(url) as reader, pytest.raises(ModelError, match="APIConnectionError"):
        reader.find(QUESTION, NOW)


def test_what_cannot_be_made(monkeypatch):
    with pytest.raises(InputError, match="timeout"):
        LanguageModelDates("m", api_key="none", timeout=0)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InputError, match="OpenAI needs a key"):
        LanguageModelDates("m")
    monkeypatch.setattr(language_model_dates.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'recollex\[llm\]'"):
        LanguageModelDates("m", api_key="none")
