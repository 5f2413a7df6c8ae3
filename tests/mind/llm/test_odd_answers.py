"""Odd answers of an endpoint: each is an answer, or a `LanguageModelError` that is soon raised."""

import copy
import gzip
import json
import os
import resource
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollex
from recollex.errors import LanguageModelError, RecollexError
from recollex_mind.llm.endpoint import MOST_BYTES
from recollex_mind.llm.exchange import Reply, Request, counted, mended
from recollex_mind.llm.language_model import Keeping, LanguageModel, ModelLimits
from tests.scripted_llm import Scripted, Step, completion, scripted

if find_spec("openai") is None or find_spec("pydantic") is None:
    pytest.skip("needs the extra: recollex[llm]", allow_module_level=True)

import pydantic

ASKED = [{"role": "user", "content": "Where is Bob?"}]
EXAMPLES = int(os.environ.get("RECOLLEX_FUZZ", "20"))
PACKED = {"Content-Encoding": "gzip"}


class Place(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", strict=True)

    town: str


class Endpoint:
    """A server that gives each request the same answer, and the door to it."""

    def __init__(self, served: Scripted, door: recollex.LanguageModel) -> None:
        self.served = served
        self.door = door
        self.step = Step()

    def answers(self, step: Step) -> list[str | LanguageModelError]:
        """Return what each way to ask makes of a step; other errors are raised."""
        self.step = step
        found: list[str | LanguageModelError] = []
        for ask in self.ways():
            try:
                said = ask()
                said.encode()  # no lone surrogate
                found.append(said)
            except LanguageModelError as error:
                assert len(str(error)) < 2000
                found.append(error)
        for used in self.door.usage.values():
            assert 0 <= used.prompt_tokens < 1 << 60 and 0 <= used.answer_tokens < 1 << 60
        return found

    def ways(self) -> tuple[Callable[[], str], ...]:
        return (
            lambda: self.door.ask(ASKED).text,
            lambda: "".join(self.door.stream(ASKED)),
            lambda: self.door.ask_for(Place, ASKED).town,
        )


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    record = tmp_path_factory.mktemp("talk") / "talk.jsonl"
    limits: dict[str, Any] = {"first_wait": 0.0, "attempts": 2, "deadline": 5.0}
    with (
        scripted(lambda _: endpoint.step) as served,
        recollex.llm("m", base_url=served.url, key="k", record=record, **limits) as door,
    ):
        endpoint = Endpoint(served, door)
        endpoint.answers(Step())
        yield endpoint


WHOLE = json.loads(completion(Step({"town": "Oslo"})))
BODIES = {
    "nothing": b"",
    "null": b"null",
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "deep in a field": completion(Step()).replace(b'"ok"', b"[" * 90_000 + b"]" * 90_000),
    "half": completion(Step())[:40],
    "half a letter": b'{"choices": "\xff\xfe',
    "a page": b"<html>",
    "a number of 5,000 digits": b'{"created": ' + b"9" * 5000 + b"}",
    "a surrogate": completion(Step()).replace(b'"ok"', b'"a\\ud800"'),
    "a zero": completion(Step()).replace(b'"ok"', b'"a\\u0000"'),
    "an event that never ends": b"data: " + b"x" * 100_000,
    "events of nonsense": b"data: [1]\n\ndata: {}\n\ndata: null\n\ndata: [DONE]\n\n",
    "an event of depth": b"data: " + b"[" * 100_000 + b"\n\n",
}


@pytest.mark.parametrize("status", [200, 400, 500])
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_odd_bodies(endpoint: Endpoint, body: bytes, status: int) -> None:
    kinds: tuple[dict[str, str], ...] = ({}, {"Content-Type": "text/event-stream"})
    for headers in kinds:
        endpoint.answers(Step(status=status, body=body, headers=headers))


WRONG = st.one_of(
    st.none(),
    st.booleans(),
    st.integers() | st.sampled_from([-1, 10**30, 1 << 63]),
    st.sampled_from([float("nan"), float("inf"), -0.5]),
    st.text(max_size=5) | st.sampled_from(["\ud800", "x\0y", "9" * 400, "length", " "]),
    st.lists(st.integers(), max_size=2),
    st.sampled_from([{}, {"content": 5}, [[]], [{}], {"0": {}}, [None]]),
)


@st.composite
def changed(draw: Any) -> bytes:
    """A completion in which one to three values are something else."""
    answer = copy.deepcopy(WHOLE)
    for _ in range(draw(st.integers(1, 3))):
        place: Any = answer
        while True:
            names = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not names:
                break
            name = draw(st.sampled_from(names))
            if isinstance(place[name], dict | list) and draw(st.booleans()):
                place = place[name]
                continue
            place[name] = draw(WRONG)
            break
    return json.dumps(answer).encode()


@settings(deadline=None, max_examples=EXAMPLES)
@given(changed(), st.sampled_from([200, 200, 200, 400, 429, 503]))
def test_fields_of_other_types(endpoint: Endpoint, body: bytes, status: int) -> None:
    endpoint.answers(Step(status=status, body=body))
    events = b"data: " + body.replace(b'"message"', b'"delta"') + b"\n\ndata: [DONE]\n\n"
    endpoint.answers(Step(body=events, headers={"Content-Type": "text/event-stream"}))


@pytest.mark.parametrize("status", [200, 400, 503])
@pytest.mark.parametrize("packed", [False, True])
def test_an_answer_of_300_mb_is_not_read_to_its_end(
    endpoint: Endpoint, packed: bool, status: int
) -> None:
    size = 300 << 20 if packed else MOST_BYTES + (1 << 20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    body = _spaces(size) if packed else b" " * size
    began = time.monotonic()
    for found in endpoint.answers(Step(status=status, body=body, headers=PACKED if packed else {})):
        assert isinstance(found, LanguageModelError)
        assert found.reason == "failed" and f"more than {MOST_BYTES} bytes" in str(found)
    assert time.monotonic() - began < 20
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 200 << 10  # kilobytes


@cache
def _spaces(size: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    parts = [packer.compress(bytes(1 << 20)) for _ in range(size >> 20)]
    return b"".join(parts) + packer.flush()


def test_none_asks_for_compression_and_what_comes_anyway_is_unpacked(endpoint: Endpoint) -> None:
    whole = completion(Step("In Oslo."))
    for body, coding in ((gzip.compress(whole), "gzip"), (zlib.compress(whole), "deflate")):
        step = Step(body=body, headers={"Content-Encoding": coding})
        assert endpoint.answers(step)[0] == "In Oslo."
        assert endpoint.served.headers[-1]["accept-encoding"] == "identity"
        broken = Step(body=body[:-20], headers={"Content-Encoding": coding})
        assert isinstance(endpoint.answers(broken)[0], LanguageModelError)
    for coding in ("br", "gzip, gzip", "x" * 1000):
        (found, *_) = endpoint.answers(Step(body=b"x", headers={"Content-Encoding": coding}))
        assert "switch it off there" in str(found)


def test_an_answer_of_many_faults_is_refused_without_listing_them(endpoint: Endpoint) -> None:
    class Many(pydantic.BaseModel):
        towns: list[Place]

    for size, said in ((50_000, "50000 of its parts"), (100_000, "it has 200012 characters")):
        endpoint.step = Step('{"towns": [' + ",".join("1" * size) + "]}")
        began = time.monotonic()
        with pytest.raises(LanguageModelError, match=said) as caught:
            endpoint.door.ask_for(Many, ASKED)
        assert caught.value.reason == "malformed"
        assert time.monotonic() - began < 5


WAITS = ["nan", "inf", "-inf", "1e18", "-5", "Wed, 21 Oct 2099 07:28:00 GMT", "", "9" * 400]


@pytest.mark.parametrize("asked", WAITS)
def test_no_wait_lasts_beyond_the_deadline(asked: str) -> None:
    step = Step(status=503, body=b"{}", headers={"Retry-After": asked, "retry-after-ms": asked})
    with (
        scripted([step]) as served,
        recollex.llm("m", base_url=served.url, attempts=2, deadline=0.5, first_wait=0.0) as door,
    ):
        door.close()
        began = time.monotonic()
        with pytest.raises(LanguageModelError):
            door.ask(ASKED)
        assert time.monotonic() - began < 5


def test_an_answer_that_never_ends_is_left_at_the_deadline() -> None:
    ended = threading.Event()

    def trickle(_: Any) -> Step:
        return Step(pieces=[" "] * 1_000_000, gate=ended, wait=0.001)

    with scripted(trickle) as served, recollex.llm("m", base_url=served.url, deadline=0.5) as door:
        began = time.monotonic()
        with pytest.raises(LanguageModelError, match=r"within 0\.5 s"):
            list(door.stream(ASKED))
        assert time.monotonic() - began < 5


def test_usage_is_estimated_where_it_is_no_count() -> None:
    for usage in (
        "x",
        5,
        {},
        {"prompt_tokens": -1},
        {"prompt_tokens": 1, "completion_tokens": "x"},
    ):
        assert counted("abcd", "stop", ASKED, usage) == Reply("abcd", "stop", 4, 1, 0, True)
    sound = {"prompt_tokens": 3, "completion_tokens": None, "prompt_tokens_details": "x"}
    assert counted("abcd", "stop", ASKED, sound) == Reply("abcd", "stop", 3, 0, 0, False)


@given(st.text(st.characters(codec=None), max_size=9))
def test_a_mended_text_can_be_written_and_a_sound_one_stays(text: str) -> None:
    mended(text).encode()
    assert mended(mended(text)) == mended(text)
    assert len(mended("\ud83d\ude00")) == 1


class Broken:
    """A backend whose library raises what it likes."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def reply(self, request: Request) -> Reply:
        raise self.error

    async def stream(self, request: Request) -> Any:
        raise self.error
        yield

    async def close(self) -> None:
        return None


@pytest.mark.parametrize("error", [KeyError(0), RecursionError("deep"), ZeroDivisionError()])
def test_whatever_a_backend_raises_is_an_error_of_ours(error: Exception) -> None:
    limits = ModelLimits(attempts=2, first_wait=0.0)
    with LanguageModel("m", lambda: Broken(error), limits, Keeping()) as door:
        for ask in (lambda: door.ask(ASKED), lambda: list(door.stream(ASKED))):
            with pytest.raises(LanguageModelError, match=type(error).__name__) as caught:
                ask()
            assert caught.value.reason == "failed"


def test_a_kept_answer_with_other_types_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    for field, value in (("prompt_tokens", "x"), ("answer_tokens", -1), ("cached_tokens", None)):
        reply = {"text": "a", field: value}
        path.write_text(json.dumps({"key": "k", "request": {}, "reply": reply}) + "\n")
        with pytest.raises(RecollexError, match="no reply of a model"):
            recollex.llm("m", replay=path)
