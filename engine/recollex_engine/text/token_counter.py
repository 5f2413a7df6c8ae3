"""How many tokens does a text cost the model that will read it? Token budgets count these."""

import hashlib
import os
import re
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

ENCODING = "cl100k_base"
FALLBACK = "wordpiece"

DOWNLOAD_SECONDS = 10.0
"""Seconds that `fetch_vocabulary` waits."""

_VOCABULARY = "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken"
_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
_LONGEST_RUN = 512
_FEW = 8  # texts: to join them, and to part their tokens, takes longer than to count each
_END = "<|endoftext|>"
_RUN = re.compile(r"\S+|\s+")


TokenNumbers = NDArray[Any]


class _Encoding(Protocol):
    @property
    def eot_token(self) -> int: ...

    def encode_ordinary(self, text: str) -> list[int]: ...

    def encode_to_numpy(
        self, text: str, *, allowed_special: set[str], disallowed_special: tuple[str, ...]
    ) -> TokenNumbers: ...


class TokenCounter:
    """Counts the tokens of a vocabulary: "cl100k_base" or "wordpiece" (the embedder's own).

    A text that looks like a special token ("<|endoftext|>") is counted as plain text. Threads: may
    be shared.
    """

    def __init__(
        self,
        name: str,
        count: Callable[[str], int],
        count_joined: Callable[[Sequence[str]], list[int]] | None = None,
        is_of_bytes: Callable[[], bool] = lambda: False,
    ) -> None:
        self.name = name
        self._count = count
        self._count_joined = count_joined
        self._is_of_bytes = is_of_bytes

    def is_of_bytes(self) -> bool:
        """Return whether a token is known to stand for one byte or more of a text in UTF-8."""
        return self.name == ENCODING or self._is_of_bytes()

    def count(self, text: str) -> int:
        """Return the number of tokens of `text`, 0 if it is empty.

        Runs of more than 512 characters without a space (or of spaces alone) are counted in pieces
        of 512 characters, because the byte-pair merge of one run takes quadratic time in tiktoken
        up to 0.12. This adds at most one token a piece. Cost: linear, about 10 us for 25 words.
        """
        if len(text) <= _LONGEST_RUN:
            return self._count(text)
        runs = _RUN.findall(text)
        if max(map(len, runs)) <= _LONGEST_RUN:
            return self._count(text)
        return sum(map(self._count, _pieces(runs)))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Return `count` of each text, in order; of more than `_FEW` by one call of native code.

        Texts are joined by the token that ends a text. tiktoken cuts there before it looks for
        words, so each text is counted as if it were alone.
        """
        if self._count_joined is None or len(texts) <= _FEW:
            return [self.count(text) for text in texts]
        plain = [len(text) <= _LONGEST_RUN and _END not in text for text in texts]
        joined = iter(self._count_joined([t for t, ok in zip(texts, plain, strict=True) if ok]))
        return [
            next(joined) if ok else self.count(text) for text, ok in zip(texts, plain, strict=True)
        ]


def open_counter(
    fallback: Callable[[str], int],
    name: str = ENCODING,
    is_of_bytes: Callable[[], bool] = lambda: False,
) -> TokenCounter:
    """Return a counter by tiktoken's cl100k_base, or by `fallback` if that is not available.

    name: "cl100k_base", or "wordpiece" for `fallback` in any case. is_of_bytes: tells of `fallback`
    what `TokenCounter.is_of_bytes` does; asked when it is needed.

    tiktoken's vocabulary is read from the folder that TIKTOKEN_CACHE_DIR names; nothing is
    downloaded (see `fetch_vocabulary`). The outcome of the first call holds until the process ends,
    so the counts of one process agree.

    >>> counter = open_counter(lambda text: len(text.split()))
    >>> counter.name in ("cl100k_base", "wordpiece")
    True
    """
    encoding = None if name == FALLBACK else _encoding()
    if encoding is not None:
        encode = encoding.encode_ordinary
        return TokenCounter(
            ENCODING, lambda text: len(encode(text)), partial(_count_joined, encoding)
        )
    return TokenCounter(FALLBACK, fallback, is_of_bytes=is_of_bytes)


def fetch_vocabulary() -> bool:
    """Return whether tiktoken's vocabulary is on disk; download it if it is not.

    Only `recollex warmup` calls it. It takes up to `DOWNLOAD_SECONDS`.
    """
    if not _on_disk():
        # tiktoken's download has no time limit; a daemon thread does not delay the process's end.
        download = threading.Thread(target=_load, daemon=True)
        download.start()
        download.join(DOWNLOAD_SECONDS)
    return _on_disk()


@cache
def _encoding() -> _Encoding | None:
    return _load() if _on_disk() else None


def _count_joined(encoding: _Encoding, texts: Sequence[str]) -> list[int]:
    if not texts:
        return []
    # To look for special tokens, tiktoken imports a module: a child of a fork meanwhile would wait.
    numbers = encoding.encode_to_numpy(
        _END.join(texts), allowed_special={_END}, disallowed_special=()
    )
    ends = np.flatnonzero(np.asarray(numbers) == encoding.eot_token)
    edges = np.concatenate(([-1], ends, [len(numbers)]))
    counts: list[int] = (np.diff(edges) - 1).tolist()
    return counts


def _on_disk() -> bool:
    """Return whether the vocabulary is where tiktoken looks before it downloads.

    One that is damaged is not: tiktoken would download it anew.
    """
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    if folder is None:
        folder = str(Path(tempfile.gettempdir()) / "data-gym-cache")
    name = hashlib.sha1(_VOCABULARY.encode(), usedforsecurity=False).hexdigest()
    try:
        content = b"" if folder == "" else (Path(folder) / name).read_bytes()
    except OSError:
        return False
    return hashlib.sha256(content).hexdigest() == _SHA256


def _load() -> _Encoding | None:
    try:
        import tiktoken  # takes 60 ms and loads 1.7 MB: only when tokens are counted

        return tiktoken.get_encoding(ENCODING)
    except Exception:  # no package, no network, a bad proxy, a wrong hash: each means the fallback
        return None


def _pieces(runs: list[str]) -> Iterable[str]:
    """Yield the text in stretches whose runs are at most `_LONGEST_RUN` characters long."""
    held: list[str] = []
    for run in runs:
        if len(run) <= _LONGEST_RUN:
            held.append(run)
            continue
        if held:
            yield "".join(held)
            held = []
        for start in range(0, len(run), _LONGEST_RUN):
            yield run[start : start + _LONGEST_RUN]
    if held:
        yield "".join(held)
