import json
import random
import socket
import threading
import time

import pytest

from recollex_engine.errors import InputError, RerankError
from recollex_engine.ranking import http_reranker
from recollex_engine.ranking.http_reranker import HttpReranker
from recollex_engine.ranking.reranking import rerank
from tests.http_stub import QuietHandler, http_stub


def good(*scores):
    results = [{"index": n, "relevance_score": score} for n, score in enumerate(scores)]
    return json.dumps({"results": results[::-1]}).encode()


class Scripted(QuietHandler):
    """Answers with the server's next (status, headers, body); a function acts for itself."""

    def answer(self):
        size = int(self.headers["Content-Length"])
        self.server.asked.append((self.path, dict(self.headers), json.loads(self.rfile.read(size))))
        script = self.server.script
        answer = script.pop(0) if len(script) > 1 else script[0]
        if callable(answer):
            answer(self)
            return
        status, headers, body = answer
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def server():
    with http_stub(Scripted) as found:
        found.asked, found.script = [], [(200, {}, good(0.1, 0.9, 0.5))]
        found.stays = threading.Event()
        found.url = f"http://127.0.0.1:{found.server_port}/v1/rerank"
        yield found
        found.stays.set()


class Clock:
    """The time of the reranker, which passes while it sleeps and at no other moment."""

    def __init__(self):
        self.now, self.slept = 1000.0, []

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds
        self.slept.append(seconds)


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr(http_reranker, "time", found)
    monkeypatch.setattr(http_reranker, "_chance", random.Random(1))
    return found


def test_a_server_is_asked_as_cohere_and_jina_are(server, candidates):
    reranker = HttpReranker(f"{server.url}?v=2", "judge-1", api_key="secret")
    found = rerank(candidates, reranker)
    assert (found.order.tolist(), found.scores.tolist()) == ([1, 2, 0], [0.9, 0.5, 0.1])
    ((path, headers, question),) = server.asked
    assert path == "/v1/rerank?v=2"
    assert headers["Authorization"] == "Bearer secret"
    assert headers["Content-Type"] == "application/json"
    assert question == {
        "model": "judge-1",
        "query": "Where does Ann live?",
        "documents": candidates.dated_texts,
        "top_n": 3,
    }
    assert "secret" not in repr(reranker)


def test_the_key_may_come_from_the_environment_or_not_at_all(server, candidates, monkeypatch):
    monkeypatch.delenv("RECOLLEX_RERANK_API_KEY", raising=False)
    HttpReranker(server.url, "m", dated=False).scores(candidates)
    assert "Authorization" not in server.asked[-1][1]
    assert server.asked[-1][2]["documents"] == candidates.texts
    monkeypatch.setenv("RECOLLEX_RERANK_API_KEY", "one")
    monkeypatch.setenv("OTHER_KEY", "two")
    HttpReranker(server.url, "m").scores(candidates)
    assert server.asked[-1][1]["Authorization"] == "Bearer one"
    HttpReranker(server.url, "m", key_variable="OTHER_KEY").scores(candidates)
    assert server.asked[-1][1]["Authorization"] == "Bearer two"
    HttpReranker(server.url, "m", api_key="three").scores(candidates)
    assert server.asked[-1][1]["Authorization"] == "Bearer three"


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again(server, clock, candidates, status):
    server.script = [(status, {}, b"busy"), (status, {}, b"busy"), (200, {}, good(0.1, 0.2, 0.3))]
    assert HttpReranker(server.url, "m").scores(candidates).tolist() == [0.1, 0.2, 0.3]
    first, second = clock.slept
    assert 0.05 <= first <= 0.1 <= second <= 0.2


def test_a_server_that_asks_for_time_gets_it(server, clock, candidates):
    server.script = [(429, {"Retry-After": "0.4"}, b""), (200, {}, good(1, 2, 3))]
    HttpReranker(server.url, "m").scores(candidates)
    assert clock.slept == [0.4]


@pytest.mark.parametrize("value", ["3600", "inf", "1e999"])
def test_more_time_than_there_is_ends_the_call_at_once(server, clock, candidates, value):
    server.script = [(503, {"Retry-After": value}, b"later")]
    with pytest.raises(RerankError, match=r"within 20 s; HTTP 503 .*: 'later'"):
        HttpReranker(server.url, "m", timeout=20).scores(candidates)
    assert len(server.asked) == 1 and not clock.slept


@pytest.mark.parametrize("value", ["nan", "-1", "Wed, 21 Oct 2026 07:28:00 GMT"])
def test_an_odd_wish_for_time_is_passed_over(server, clock, candidates, value):
    server.script = [(503, {"Retry-After": value}, b""), (200, {}, good(1, 2, 3))]
    HttpReranker(server.url, "m").scores(candidates)
    assert max(clock.slept) <= 0.1


def test_a_server_that_stays_busy_is_given_up_in_time(server, clock, candidates):
    server.script = [(500, {}, b"broken")]
    with pytest.raises(RerankError, match=r"no answer from http.* within 60 s; HTTP 500 .*broken"):
        HttpReranker(server.url, "m", timeout=60).scores(candidates)
    assert sum(clock.slept) < 60
    assert len(server.asked) == len(clock.slept) + 1 > 5


def sleeping(handler):
    handler.server.stays.wait(60)
    handler.close_connection = True


def dripping(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    try:
        while not handler.server.stays.wait(0.05):
            handler.wfile.write(b" ")
            handler.wfile.flush()
    except OSError:
        handler.close_connection = True


def stalling(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    time.sleep(0.8)
    handler.wfile.write(b" ")
    handler.wfile.flush()
    sleeping(handler)


def test_a_server_that_stalls_late_has_only_the_time_that_is_left(server, candidates):
    server.script = [stalling]
    started = time.monotonic()
    with pytest.raises(RerankError, match=r"within 1 s; (TimeoutError|timeout)"):
        HttpReranker(server.url, "m", timeout=1).scores(candidates)
    assert time.monotonic() - started < 30  # the server stays for a minute


def dripping_a_head(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
    dripping_only(handler, b"x")


def asking_to_go_on(handler):
    dripping_only(handler, b"HTTP/1.1 100 Continue\r\n\r\n")


def dripping_only(handler, part):
    try:
        while not handler.server.stays.wait(0.05):
            handler.wfile.write(part)
            handler.wfile.flush()
    except OSError:
        handler.close_connection = True


@pytest.mark.parametrize("act", [sleeping, dripping, dripping_a_head, asking_to_go_on])
def test_a_slow_server_is_given_up_in_time(server, candidates, act):
    server.script = [act]
    started = time.monotonic()
    with pytest.raises(RerankError, match=r"within 0.3 s; (TimeoutError|timeout)"):
        HttpReranker(server.url, "m", timeout=0.3).scores(candidates)
    assert time.monotonic() - started < 30


def hanging_up(handler):
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def breaking_off(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"results": [')
    handler.close_connection = True


@pytest.mark.parametrize("act", [hanging_up, breaking_off])
def test_a_connection_that_breaks_is_made_again(server, candidates, act):
    server.script = [act, (200, {}, good(1, 2, 3))]
    assert HttpReranker(server.url, "m").scores(candidates).tolist() == [1, 2, 3]
    assert len(server.asked) == 2


def in_chunks(handler):
    handler.protocol_version = "HTTP/1.1"
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    body = good(1, 2, 3)
    for part in (body[:9], body[9:]):
        handler.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
    handler.wfile.write(b"0\r\n\r\n")
    handler.close_connection = True


def until_the_end(handler):
    handler.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n" + good(1, 2, 3))
    handler.close_connection = True


@pytest.mark.parametrize("act", [in_chunks, until_the_end])
def test_an_answer_may_come_in_any_form_of_http(server, candidates, act):
    server.script = [act]
    assert HttpReranker(server.url, "m").scores(candidates).tolist() == [1, 2, 3]


@pytest.mark.parametrize("status", [301, 400, 401, 404, 422])
def test_a_refusal_is_not_repeated(server, candidates, status):
    server.script = [(status, {"Location": "/elsewhere"}, b'{"message": "no such model"}')]
    with pytest.raises(RerankError, match=rf"rerank refused: HTTP {status} .*no such model"):
        HttpReranker(f"{server.url}?key=secret", "m").scores(candidates)
    assert len(server.asked) == 1


def results(*pairs):
    return json.dumps(
        {"results": [{"index": index, "relevance_score": score} for index, score in pairs]}
    ).encode()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "expected .*'relevance_score'.*, got ''"),
        (b"<html>busy</html>", "got '<html>busy</html>'"),
        (b"[1, 2]", "expected"),
        (b'{"result": []}', "KeyError: 'results'"),
        (b'{"results": null}', "TypeError"),
        (b'{"results": [1]}', "TypeError"),
        (b'{"results": [{"index": 0}]}', "KeyError: 'relevance_score'"),
        (b"\xff\xfe", "got "),
        (results(), "3 of 3 texts have no score, the first of them text 0"),
        (results((0, 1), (2, 1)), "1 of 3 texts have no score, the first of them text 1"),
        (results((0, 1), (1, 1), (1, 1)), "index 1 came twice"),
        (results((0, 1), (1, 1), (3, 1)), r"index must lie in \[0, 3\), got 3"),
        (results((-1, 1)), r"index must lie in \[0, 3\), got -1"),
        (results(("0", 1)), r"got '0'"),
        (results((True, 1)), r"got True"),
        (results((1.0, 1)), r"got 1\.0"),
        (results((0, None)), "relevance_score of 0 is None, no number"),
        (results((0, "high")), "relevance_score of 0 is 'high', no number"),
        (results((0, 1), (1, float("nan")), (2, 1)), "must be finite, got nan for text 1"),
        (results((0, 1), (1, float("inf")), (2, 1)), "must be finite, got inf for text 1"),
        (results((0, 1), (1, 10**400), (2, 1)), "not numbers"),
        (b"[" * 100_000, "RecursionError"),
        (b'{"results": ' + b"[" * 900 + b"]" * 900 + b"}", "TypeError"),
        (results((json.loads("[" * 900 + "]" * 900), 1)), r"got \[+\.\.\.\]+$"),
        (results(("x" * 1_000_000, 1)), r"got 'x+\.\.\.x+'$"),
        (results((0, "x" * 1_000_000)), r"is 'x+\.\.\.x+', no number"),
        (b"9" * 5000, "expected"),
        (b" " * ((16 << 20) + 1), "more than 16777216 bytes"),
    ],
)
def test_a_malformed_answer_says_what_is_wrong_with_it(server, candidates, body, message):
    server.script = [(200, {}, body)]
    with pytest.raises(RerankError, match=message) as caught:
        HttpReranker(server.url, "m", timeout=1).scores(candidates)
    assert len(str(caught.value)) < 1000


def test_an_address_without_a_listener_is_an_error_in_time(clock, candidates):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # it does not listen, and no other program can
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with pytest.raises(RerankError, match=r"within 20 s; ConnectError"):
            HttpReranker(url, "m", timeout=20).scores(candidates)
    assert 5 < sum(clock.slept) < 20


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"url": "localhost:8000/rerank"}, "url must begin with http:// or https://"),
        ({"url": "http:///rerank"}, "and name a host"),
        ({"url": "ftp://host/x"}, "url must begin with"),
        ({"url": "http://host:port/"}, "url is not an address"),
        ({"url": "http://me:secret@host/"}, "give the key as api_key"),
        ({"url": 7}, "url is not an address"),
        ({"url": "http://host/", "timeout": 0}, "timeout must lie in"),
    ],
)
def test_what_cannot_be_asked_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        HttpReranker(**({"model": "m"} | arguments))


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/a\x00b", f"http://{'x' * 66_000}.invalid/"])
def test_what_can_never_be_asked_is_not_tried_again(candidates, url):
    started = time.monotonic()
    with pytest.raises(RerankError, match="cannot ask http://"):
        HttpReranker(url, "m", timeout=20).scores(candidates)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("key", ["two\nlines", "\u2713"])
def test_a_key_that_cannot_be_sent_is_refused_and_not_shown(candidates, key):
    with pytest.raises(RerankError, match="the API key must be printable ASCII") as caught:
        HttpReranker("http://127.0.0.1:1/", "m", api_key=key).scores(candidates)
    assert key not in str(caught.value)
