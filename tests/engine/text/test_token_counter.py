import doctest
import hashlib
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.text import token_counter as tokens
from recollex_engine.text.token_counter import TokenCounter, open_counter


def words(text):
    return len(text.split())


@pytest.fixture(scope="module")
def cl100k():
    if not tokens._on_disk():
        pytest.skip("no cl100k_base vocabulary; TIKTOKEN_CACHE_DIR names a folder that holds it")
    return open_counter(len)


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """No vocabulary on disk, and nothing remembered of an earlier try."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    tokens._encoding.cache_clear()
    yield
    tokens._encoding.cache_clear()


def test_the_example_in_the_docstring_runs(cl100k):
    assert doctest.testmod(tokens).failed == 0


def test_known_counts(cl100k):
    assert cl100k.name == "cl100k_base"
    assert cl100k.count_many(["", "hello world", "tiktoken is great!"]) == [0, 2, 6]


SPECIAL = ["<|endoftext|>", "<|fim_prefix|>", "<|endofprompt|>"]


@settings(deadline=None)
@given(st.lists(st.text(max_size=9) | st.sampled_from([*SPECIAL, "x" * 600, " tea\n"])))
def test_many_texts_are_counted_as_each_alone(cl100k, texts):
    for several in (texts, texts * 9):  # a few, and as many as are counted together
        assert cl100k.count_many(several) == [cl100k.count(text) for text in several]


def test_counting_many_imports_nothing(cl100k):
    """A child that is forked while another thread imports waits for ever for that module."""
    code = (
        "import sys\n"
        "from recollex_engine.text.token_counter import open_counter\n"
        "counter = open_counter(len)\n"
        "counter.count('tea')\n"
        "before = set(sys.modules)\n"
        "counter.count_many(['tea'] * 70)\n"
        "print(set(sys.modules) - before)\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_a_special_token_is_plain_text(cl100k):
    assert cl100k.count("<|endoftext|>") == 7
    for special in SPECIAL:
        assert cl100k.count_many([special] * 20) == [cl100k.count(special)] * 20
    assert cl100k.count("<|im_start|>" * 300) > 300


@settings(deadline=None)
@given(st.text(st.characters(codec=None), max_size=40))
def test_any_string_can_be_counted(cl100k, text):
    assert (cl100k.count(text) > 0) == bool(text)


@settings(deadline=None)
@given(st.lists(st.sampled_from(["a", "word ", "x" * 500, " " * 500, "\n", "é" * 513])))
def test_cutting_keeps_every_character(parts):
    text = "".join(parts)
    assert "".join(tokens._pieces(tokens._RUN.findall(text))) == text
    assert TokenCounter("length", len).count(text) == len(text)


@settings(deadline=None)
@given(st.lists(st.sampled_from(["a ", "words here. ", "x" * 300 + " "]), min_size=100))
def test_a_long_text_of_ordinary_runs_is_counted_whole(parts):
    seen = []
    TokenCounter("spy", lambda text: seen.append(text) or 1).count("".join(parts))
    assert seen == ["".join(parts)]


def test_no_run_of_more_than_512_is_counted_in_one_piece():
    seen = []
    TokenCounter("spy", lambda text: seen.append(text) or 1).count("a b" + "c" * 2000 + " d")
    assert max(len(run) for text in seen for run in text.split()) == 512


@pytest.mark.parametrize(
    "text",
    [
        "a" * 10**6,
        "\uff41" * 300_000,
        "😀" * 300_000,
        " " * 10**6,
        "\n" * 10**6,
        "." * 10**6,
        "1" * 10**6,
    ],
    ids=lambda text: ascii(text[0]),
)
def test_a_run_of_a_million_takes_seconds_at_most(cl100k, text):
    began = time.process_time()
    assert cl100k.count(text) > 0
    assert time.process_time() - began < 5


def test_cutting_adds_at_most_one_token_a_piece(cl100k):
    text = "antidisestablishmentarianism" * 200
    whole = cl100k._count(text)
    assert whole <= cl100k.count(text) <= whole + len(text) // 512 + 1


def test_without_the_vocabulary_nothing_is_downloaded(fresh, monkeypatch):
    tries = []
    monkeypatch.setattr(tokens, "_load", lambda: tries.append(1))
    counter = open_counter(words)
    assert (counter.name, counter.count("three short words")) == ("wordpiece", 3)
    assert not tries
    assert not tokens.fetch_vocabulary()
    assert len(tries) == 1


@pytest.mark.parametrize("content", [b"", b"IQ== 0\n"])
def test_a_damaged_vocabulary_is_not_downloaded_anew(fresh, tmp_path, monkeypatch, content):
    """tiktoken removes a file with another hash, and downloads it."""
    name = hashlib.sha1(tokens._VOCABULARY.encode()).hexdigest()
    (tmp_path / name).write_bytes(content)
    monkeypatch.setattr(tokens, "_load", lambda: pytest.fail("tiktoken was asked"))
    assert open_counter(words).name == "wordpiece"


def test_a_hanging_download_is_given_up(fresh, monkeypatch):
    monkeypatch.setattr(tokens, "DOWNLOAD_SECONDS", 0.05)
    hanging, ended = threading.Event(), []
    monkeypatch.setattr(tokens, "_load", lambda: ended.append(hanging.wait(20)))
    assert not tokens.fetch_vocabulary()
    assert not ended
    hanging.set()


def test_a_network_that_swallows_packets_holds_no_caller(tmp_path):
    with socket.socket() as silent:  # accepts a connection and never answers
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        proxy = f"http://127.0.0.1:{silent.getsockname()[1]}"
        code = (
            "from recollex_engine.text import token_counter as tokens\n"
            "tokens.DOWNLOAD_SECONDS = 0.5\n"
            "print(tokens.fetch_vocabulary(), tokens.open_counter(len).name)"
        )
        environment = {
            **{
                name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ
            },
            "PYTHONPATH": str(Path(tokens.__file__).parents[2]),
            "TIKTOKEN_CACHE_DIR": str(tmp_path),
            "HTTPS_PROXY": proxy,
        }
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            timeout=20,
            text=True,
        )
    assert done.stdout == "False wordpiece\n", done.stderr
