"""Cross-encoders: one score for a question and a text, how well the text answers it.

A folder with a ready ONNX graph of a cross-encoder, which is run without conversion.

::

    model.onnx         or onnx/model.onnx, as on model hubs; input_ids int64[batch, length] and
                       perhaps attention_mask and token_type_ids -> one number a pair
    tokenizer.json
    config.json        optional: max_position_embeddings
"""

import hashlib
from collections import OrderedDict
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from recollex_engine import fork
from recollex_engine.errors import InputError, ModelError
from recollex_engine.models.backends import (
    BATCHES,
    Auto,
    Precision,
    batches_of,
    fastest_precision,
    graph_precision,
    open_backend,
)
from recollex_engine.models.convert import Converted, converted
from recollex_engine.models.description import ModelDescription, read_json
from recollex_engine.models.embedder import checked_texts, places_of
from recollex_engine.models.micro_batch import CORES, MicroBatch
from recollex_engine.models.pairs import Pair, PairTokenizer, StoredPieces
from recollex_engine.models.session import open_tokenizer
from recollex_engine.models.weights import (
    WEIGHTS_FILE,
    are_weights_here,
    cache_settings,
    is_folder,
    sha256_of,
)

# A cache of a cross-encoder's recent scores, which evicts the least recently used.
Score = TypeVar("Score")


class ScoreCache(Generic[Score]):
    """Scores of one model by question and text, at most ``most`` of them.

    The text is what the model reads for a memory, with its date and context. So a corrected memory
    is another text, and equal memories of two agents share a score. Keys are digests of 128 bits:
    an entry takes about 200 bytes, however long the texts are.

    Threads: any number.

    >>> cache = ScoreCache[float](2)
    >>> cache.put("who?", ["Ann", "Bob", "Eve"], [0.1, 0.2, 0.3])
    >>> cache.get("who?", ["Ann", "Bob", "Eve"])
    [None, 0.2, 0.3]
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._scores: OrderedDict[bytes, Score] = OrderedDict()
        self._changing = fork.lock()

    def get(self, query: str, texts: Sequence[str]) -> list[Score | None]:
        """Return the score of each text, or None if it is not cached. Cost: 1 us a text."""
        keys = _keys(query, texts)
        with self._changing:
            found = [self._scores.get(key) for key in keys]
            for key, score in zip(keys, found, strict=True):
                if score is not None:
                    self._scores.move_to_end(key)
        return found

    def put(self, query: str, texts: Sequence[str], scores: Sequence[Score]) -> None:
        """Store the scores of texts."""
        with self._changing:
            for key, score in zip(_keys(query, texts), scores, strict=True):
                self._scores[key] = score
                self._scores.move_to_end(key)
            while len(self._scores) > self._most:
                self._scores.popitem(last=False)


def _keys(query: str, texts: Sequence[str]) -> list[bytes]:
    before = hashlib.blake2b(query.encode("utf-8", "surrogatepass"), digest_size=16)
    before.update(b"\xff")  # marks the end of the question: UTF-8 never has this byte
    keys = []
    for text in texts:
        digest = before.copy()
        digest.update(text.encode("utf-8", "surrogatepass"))
        keys.append(digest.digest())
    return keys


_LONGEST = 512
_GRAPHS = ("model.onnx", "onnx/model.onnx")


def read_onnx_folder(folder: Path) -> Converted | None:
    """Return the model whose graph is in ``folder``; None if there are weights, or no graph.

    The model reads at most 512 tokens, and at most its number of positions minus two, because some
    families reserve two.

    Raises:
        ModelError: the folder has a graph but no tokenizer, or config.json cannot be read.

    """
    if (folder / WEIGHTS_FILE).exists():
        return None
    graph = next((folder / name for name in _GRAPHS if (folder / name).is_file()), None)
    if graph is None:
        return None
    if not (folder / "tokenizer.json").is_file():
        raise ModelError(f"{folder} has a graph, {graph.name}, and no tokenizer.json beside it")
    positions = _LONGEST
    if (folder / "config.json").is_file():
        said = read_json(folder / "config.json").get("max_position_embeddings")
        positions = said - 2 if isinstance(said, int) and said > 2 else positions
    name = folder.resolve().name
    description = ModelDescription(
        name=name,
        repository=name,
        dimension=0,
        pooling="score",
        normalise=False,
        max_length=min(positions, _LONGEST),
    )
    fingerprint = f"{name}@{sha256_of(graph)[:12]}-onnx"
    return Converted(folder, description, fingerprint, graph)


DEFAULT_CROSS_ENCODER = "cross-encoder/ms-marco-MiniLM-L-6-v2"
"""The reranker of TEMPR 3.3 and Memora 3.3.2, trained on MS MARCO."""

_SCORES = 32_768
"""Scores of recent pairs that are cached: 7 MB."""
_SHARED = 512
"""The most pairs of concurrent calls that a GPU runs together."""
_INPUTS = ("input_ids", "token_type_ids", "attention_mask")


@dataclass(frozen=True, slots=True)
class PairScores:
    """scores: float64[n] in [0, 1]; truncated: how many pairs were too long to be read whole."""

    scores: NDArray[np.float64]
    truncated: int


class CrossEncoder:
    """A loaded BERT that reads a question and a text together.

    A score is the sigmoid of the classifier's logit, in [0, 1] (TEMPR 3.3).

    Invariant in int8 and bf16: a pair's score depends only on the pair, to the bit, because pairs
    run one at a time; more threads run more pairs at once. In fp32 and fp16, pairs of similar
    length run together, padded and masked. Calls with one thread that come while all cores (or the
    GPU) are busy run together next. The other pairs of a batch change a score by less than 1e-5 in
    fp32 and 2e-3 in fp16. Scores of recent pairs are cached.

    Threads: any number may call any method at once.

    Example:
        >>> encoder = load_cross_encoder("cross-encoder/ms-marco-MiniLM-L-6-v2")  # doctest: +SKIP
        >>> encoder.scores("Where does Ann live?", ["Ann moved to Oslo.", "It rains."])
        ... # doctest: +SKIP

    """

    def __init__(self, model: Converted, precision: Precision = "int8") -> None:
        self.precision = precision
        self._size = BATCHES[precision]
        self.name = model.description.name
        self.fingerprint = model.fingerprint
        self.max_length = model.description.max_length
        self._session = open_backend(model.graph, precision, self.max_length)
        self._shared: MicroBatch[Pair, float] | None = None
        if precision == "fp16":
            self._shared = MicroBatch(self._run_mixed, _SHARED)
        elif self._size > 1:
            self._shared = MicroBatch(self._run_mixed, 4 * self._size, lanes=CORES)
        self._known = ScoreCache[tuple[float, bool]](_SCORES)
        self._inputs = [part.name for part in self._session.get_inputs()]
        self._tokenizer = open_tokenizer(model.folder / "tokenizer.json")
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(self.max_length)
        self._pairs = PairTokenizer(self._tokenizer, self.max_length)
        if model.given is not None:
            self._check(model.given)

    def _check(self, graph: Path) -> None:
        """Raise `ModelError` unless a graph from elsewhere is a cross-encoder's."""
        try:
            found = self._session.run(None, self._fed(self._pairs.of("a", ["b"])))[0]
        except Exception as error:  # each backend has its own error classes
            raise ModelError(
                f"{graph}: it cannot be run on {', '.join(_INPUTS)} int64[batch, length]: {error}"
            ) from error
        if np.size(found) != 1:
            raise ModelError(
                f"{graph}: it gives {np.size(found)} numbers for a pair, a cross-encoder gives 1"
            )

    def scores(self, query: str, texts: Sequence[str], threads: int = 1) -> NDArray[np.float64]:
        """Return float64[n]: how well each text answers ``query``, in [0, 1]; see `score_pairs`."""
        return self.score_pairs(query, texts, threads).scores

    @property
    def vocabulary(self) -> str | None:
        """The vocabulary of the ids for `score_pairs` (see `models.embedder`), or None."""
        return self._pairs.vocabulary

    def score_pairs(
        self,
        query: str,
        texts: Sequence[str],
        threads: int = 1,
        stored: StoredPieces | None = None,
    ) -> PairScores:
        """Return how well each text answers ``query``, and how many pairs were too long.

        A pair of more than `max_length` tokens loses the end of its longer text. Equal texts are
        run once. stored: token ids of the texts in this model's `vocabulary`. Texts with stored ids
        are not tokenized; the scores are the same.

        Cost, MiniLM with pairs of 128 tokens on one thread: about 10 ms a pair in int8, 23 ms in
        fp32.

        Raises:
            InputError: ``query`` or a text is not a string, or not valid Unicode.

        """
        if threads < 1:
            raise InputError(f"threads must be at least 1, got {threads}")
        places = places_of(texts)
        distinct = list(places)
        found = self._known.get(checked_texts(query), distinct)
        fresh = [n for n, score in enumerate(found) if score is None]
        if fresh:
            asked = [distinct[n] for n in fresh]
            known = None
            if stored is not None:
                known = stored.of([places[text][0] for text in asked])
            pairs = self._pairs.of(query, asked, known)
            logits = self._logits(pairs, threads)
            cut = [pair.truncated for pair in pairs]
            scored = list(zip(map(_sigmoid, logits), cut, strict=True))
            self._known.put(query, asked, scored)
            for n, score in zip(fresh, scored, strict=True):
                found[n] = score
        scores = np.empty(len(texts), dtype=np.float64)
        truncated = 0
        for rows, each in zip(places.values(), found, strict=True):
            assert each is not None
            scores[rows] = each[0]
            truncated += each[1] * len(rows)
        return PairScores(scores, truncated)

    def _logits(self, pairs: list[Pair], threads: int) -> list[float]:
        """Return the logit of each pair."""
        if self._shared is not None and (threads == 1 or self.precision == "fp16"):
            return self._shared(pairs)
        batches = batches_of([len(pair.ids) for pair in pairs], self._size)
        logits = np.empty(len(pairs), dtype=np.float64)
        with closing(
            self._run_all([[pairs[n] for n in batch] for batch in batches], threads)
        ) as run:
            for batch, found in zip(batches, run, strict=True):
                logits[batch] = found
        numbers: list[float] = logits.tolist()
        return numbers

    def _run_mixed(self, pairs: list[Pair]) -> list[float]:
        """Return the logits of pairs of several calls, computed on this thread."""
        logits = np.empty(len(pairs), dtype=np.float64)
        for batch in batches_of([len(pair.ids) for pair in pairs], self._size):
            logits[batch] = self._run([pairs[n] for n in batch])
        numbers: list[float] = logits.tolist()
        return numbers

    def _run_all(
        self, batches: list[list[Pair]], threads: int
    ) -> Generator[NDArray[np.float32], None, None]:
        if min(threads, len(batches)) <= 1:
            yield from map(self._run, batches)
            return
        with ThreadPoolExecutor(min(threads, len(batches))) as pool:
            yield from pool.map(self._run, batches)

    def _run(self, pairs: list[Pair]) -> NDArray[np.float32]:
        """Return the logit of each pair; the pairs are sorted by length."""
        found: NDArray[np.float32] = self._session.run(None, self._fed(pairs))[0]
        return found.reshape(len(pairs))

    def _fed(self, pairs: list[Pair]) -> dict[str, NDArray[np.int64]]:
        """Return the graph's inputs for pairs sorted by length, padded to the longest."""
        length = len(pairs[-1].ids)
        ids, types, mask = (np.zeros((len(pairs), length), dtype=np.int64) for _ in range(3))
        for n, pair in enumerate(pairs):
            used = len(pair.ids)
            ids[n, :used] = pair.ids
            types[n, pair.second : used] = 1
            mask[n, :used] = 1
        fed = dict(zip(_INPUTS, (ids, types, mask), strict=True))
        return {name: fed[name] for name in self._inputs if name in fed}


_loaded: dict[tuple[str, str], CrossEncoder] = {}
_loading = fork.lock()


def load_cross_encoder(
    name_or_folder: str | Path = DEFAULT_CROSS_ENCODER, precision: Precision | Auto = "int8"
) -> CrossEncoder:
    """Return the cross-encoder of this name or folder: the same one for every call in a process.

    A name without an owner means the owner ``cross-encoder``. Every BERT with a
    sequence-classification head of one label works. So does a folder with the ONNX graph of a
    cross-encoder of any family, which is run as it is (`read_onnx_folder`): one pair at a time in
    "int8", otherwise in batches.

    ``precision`` "auto" is the fastest one on this machine by measurement, see
    `backend_choice.fastest_precision`. Cost: as `load_encoder`.

    Raises:
        ModelError: the weights cannot be found or read, or are not a cross-encoder's; the message
            says what to type.

    """
    place = _place(name_or_folder)
    key = str(place.resolve()) if isinstance(place, Path) else place
    with _loading:
        chosen = fastest_precision(place, _open) if precision == "auto" else precision
        if (key, chosen) not in _loaded:
            _loaded[key, chosen] = _open(place, chosen)
        return _loaded[key, chosen]


def has_cross_encoder(name_or_folder: str | Path = DEFAULT_CROSS_ENCODER) -> bool:
    """Return whether the weights of this name or folder are on this machine; asks no network.

    The first answer for a name and a Hugging Face cache stays for the process, because a recall
    asks each time. Cost: 2 us.
    """
    if isinstance(name_or_folder, Path):
        return are_weights_here(name_or_folder)
    return _is_here(name_or_folder, cache_settings())


@cache
def _is_here(name_or_folder: str, _: tuple[str | None, ...]) -> bool:
    return are_weights_here(_place(name_or_folder))


def _place(name_or_folder: str | Path) -> str | Path:
    """Return the folder, or the name with its owner."""
    if is_folder(name_or_folder):
        return Path(name_or_folder)
    name = str(name_or_folder)
    return name if "/" in name else f"cross-encoder/{name}"


def _open(place: str | Path, precision: Precision) -> CrossEncoder:
    graph = graph_precision(precision)
    if is_folder(place) and (model := read_onnx_folder(Path(place))) is not None:
        return CrossEncoder(model, precision)
    return CrossEncoder(converted(place, graph, scoring=True), precision)


def _sigmoid(x: float) -> float:
    """Return 1 / (1 + exp(-x)) without overflow."""
    small = float(np.exp(-abs(x)))
    return 1 / (1 + small) if x >= 0 else small / (1 + small)
