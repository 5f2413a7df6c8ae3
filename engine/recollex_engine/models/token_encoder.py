"""Token encoders: from a text to a vector for each of its tokens, for late interaction."""

from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollex_engine import fork
from recollex_engine.errors import InputError
from recollex_engine.models.convert import converted
from recollex_engine.models.description import DEFAULT_MODEL
from recollex_engine.models.session import open_session, open_tokenizer
from recollex_engine.models.weights import is_folder

CACHE_BYTES = 256 << 20
"""The most bytes of cached vectors: 18,000 texts of 36 tokens at 384 bytes a token."""

TokenVectors = NDArray[np.int8]


class TokenEncoder:
    """The default encoder's last hidden states, each of length 1, in eight bits a component.

    Invariant: a text's vectors depend only on the text and the model, to the bit. The two special
    tokens are left out. Vectors of recent texts are cached, up to `CACHE_BYTES`.

    Threads: any number may call.
    """

    def __init__(self, name_or_folder: str | Path = DEFAULT_MODEL) -> None:
        model = converted(name_or_folder, tokens=True)
        self.name = model.description.name
        self.dimension = model.description.dimension
        self._session = open_session(model.folder / "model.onnx")
        self._tokenizer = open_tokenizer(model.folder / "tokenizer.json")
        self._tokenizer.enable_truncation(model.description.max_length)
        self._query_prefix = model.description.query_prefix
        self._passage_prefix = model.description.passage_prefix
        self._kept: OrderedDict[str, TokenVectors] = OrderedDict()
        self._bytes = 0
        self._keeping = fork.lock()

    def query(self, text: str) -> TokenVectors:
        """Return the vectors of a query's tokens: int8[tokens, dimension], where 127 means 1."""
        return self._kept_or_run([self._query_prefix + text], 1)[0]

    def passages(self, texts: Sequence[str], threads: int = 1) -> list[TokenVectors]:
        """Return the vectors of each text's tokens, each as `query` does.

        Cost: 3 ms of one thread for a text of 36 tokens, a look-up for a cached text.
        """
        return self._kept_or_run([self._passage_prefix + text for text in texts], threads)

    def _kept_or_run(self, texts: list[str], threads: int) -> list[TokenVectors]:
        with self._keeping:
            found = [self._kept.get(text) for text in texts]
            for text, tokens in zip(texts, found, strict=True):
                if tokens is not None:
                    self._kept.move_to_end(text)
        fresh = list(
            dict.fromkeys(t for t, known in zip(texts, found, strict=True) if known is None)
        )
        if min(threads, len(fresh)) > 1:
            with ThreadPoolExecutor(min(threads, len(fresh))) as pool:
                made = dict(zip(fresh, pool.map(self._run, fresh), strict=True))
        else:
            made = dict(zip(fresh, map(self._run, fresh), strict=True))
        self._keep(made)
        return [
            made[text] if tokens is None else tokens
            for text, tokens in zip(texts, found, strict=True)
        ]

    def _keep(self, made: dict[str, TokenVectors]) -> None:
        with self._keeping:
            for text, tokens in made.items():
                if text not in self._kept:
                    self._kept[text] = tokens
                    self._bytes += tokens.nbytes
            while self._bytes > CACHE_BYTES:
                self._bytes -= self._kept.popitem(last=False)[1].nbytes

    def _run(self, text: str) -> TokenVectors:
        try:
            ids = self._tokenizer.encode(text).ids
        except (TypeError, UnicodeError) as error:
            raise InputError(f"a text must be valid Unicode, got {str(text)[:40]!r}") from error
        hidden: NDArray[Any] = self._session.run(None, {"input_ids": np.array([ids], np.int64)})[0]
        tokens: TokenVectors = np.rint(127 * hidden[0, 1:-1]).astype(np.int8)
        return tokens


_loaded: dict[str, TokenEncoder] = {}
_loading = fork.lock()


def load_token_encoder(name_or_folder: str | Path = DEFAULT_MODEL) -> TokenEncoder:
    """Return the token encoder of this name or folder: the same one for every call in a process.

    It runs the graph of `load_encoder` without the pooling. Cost: as `load_encoder`.

    Raises:
        ModelError: the weights cannot be found, verified or read; the message says what to type.

    """
    folder = is_folder(name_or_folder)
    key = str(Path(name_or_folder).resolve()) if folder else str(name_or_folder)
    with _loading:
        if key not in _loaded:
            _loaded[key] = TokenEncoder(name_or_folder)
        return _loaded[key]
