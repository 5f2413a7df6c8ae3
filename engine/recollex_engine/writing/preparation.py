"""Which parts of a memory depend on its text alone? Passages, words, names, dates, token counts.

They are computed outside the writer's lock. The results are written to the log, so that a replay
repeats them even after the rules have changed.

Where is a long text cut into the passages that the arms index?
A passage is a run of whole sentences with about 100 words. Passages are short for two reasons: an
encoder reads no more than 256 word pieces, and a rare detail weighs more for BM25 in a short
passage than in a long text.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import from_micros, named_zone
from recollex_engine.dates.time_range import find_event_range
from recollex_engine.domain.prompt_lines import count_texts
from recollex_engine.domain.statement import Statement
from recollex_engine.domain.trust import role_of_speaker
from recollex_engine.domain.turn import is_spoken, passages_to_embed
from recollex_engine.errors import InputError
from recollex_engine.fork import ThreadPool
from recollex_engine.models.embedder import (
    Embedder,
    EmbeddingProgress,
    TokenIds,
    TokenizedTexts,
    embed_with_pieces,
)
from recollex_engine.state.view import View
from recollex_engine.state.word_pieces import PassagePieces, find_pieces
from recollex_engine.text.analyzer import Analyzer
from recollex_engine.text.entity_types import EntityType
from recollex_engine.text.names import find_names
from recollex_engine.text.token_counter import TokenCounter
from recollex_engine.text.type_rule import FindTypes

SLACK = 1.3
"""A text, or a sentence, of up to this many times the wanted words is left whole."""

_LONGEST_WORD = 16
"""A longer run without spaces counts as several words, so that every passage has a bound."""

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u3096\u30a1-\u30fa\u30fc-\u30ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af"
)
_WIDE_STOP = "[\u3002\uff01\uff1f\uff61]+[\u300d\u300f\u201d\uff09]*"
_PIECE = re.compile(
    rf"(?:{_WIDE_STOP}|[{_UNSPACED}]{{1,4}}|[^\s{_UNSPACED}\u3002\uff01\uff1f\uff61]"
    rf"{{1,{_LONGEST_WORD}}}|\A)\s*"
)
_ENDING = np.frombuffer(".!?\u2026\"')]\u201d\u2019\u00bb".encode("utf-32-le"), np.uint32)
"""What a piece that ends a sentence ends with: few pieces do, and only they are searched."""
_STOP = re.compile(r"[.!?\u2026][\"')\]\u201d\u2019\u00bb]*\Z").search
_ABBREVIATION = re.compile(
    r"\W*(?:Dr|Mr|Mrs|Ms|Prof|St|Sr|Jr|vs|cf|No|approx|e\.g|i\.e|[A-Z](?:\.[A-Z])*)\.\Z"
).match
_WIDE_STOPS = np.array([0x3002, 0xFF01, 0xFF1F, 0xFF61], np.uint32)


def _edges(ranges: str) -> npt.NDArray[np.uint32]:
    """Return the first code of each range of a character class, and the one after its last."""
    codes = [ord(letter) for letter in ranges.replace("-", "")]
    return np.array([code + place % 2 for place, code in enumerate(codes)], np.uint32)


_UNSPACED_EDGES = _edges(_UNSPACED)


def split(text: str, words: int = 100) -> list[tuple[int, int]]:
    """Return the character spans of the passages of `text`, in order.

    The spans are not empty, touch each other and cover the text; an empty text has no span. A text
    of up to `SLACK * words` words is one span. A longer text is cut after sentences (or lines) into
    passages of about equal size near `words`; no passage exceeds twice `words`. A sentence longer
    than `SLACK * words` is itself cut between words, and a run without spaces at any place. A
    character of a script written without spaces counts half a word, and so does a word of one
    character.

    Cost: linear; 0.2 us for a short text, about 1 us a word for a long one.

    >>> split("One two three. Four five six. Seven eight.", words=3)
    [(0, 15), (15, 30), (30, 42)]
    """
    longest = SLACK * words
    if not text:
        return []
    if len(text) <= 2 * longest:  # a text has at most half a word per character
        return [(0, len(text))]
    units = _units(text, words)
    left = sum(size for _, size in units)
    if left <= longest:
        return [(0, len(text))]

    wanted = left / max(2, round(left / words))
    starts = [0]
    held = 0.0
    held_end = 0
    for end, size in units:
        if held and (held + size / 2 > wanted or held + size > 1.5 * words):
            starts.append(held_end)
            left -= held
            wanted = left / max(1, round(left / words))
            held = 0.0
        held += size
        held_end = end
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


def _units(text: str, words: int) -> list[tuple[int, float]]:
    """Return (end, words) of each sentence, or of each part of a sentence that is too long."""
    pieces = _PIECE.findall(text)
    bare = list(map(str.rstrip, pieces))
    whole = np.fromiter(map(len, pieces), np.int64, len(pieces))
    length = np.fromiter(map(len, bare), np.int64, len(bare))
    end = np.cumsum(whole)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    first = codes[end - whole]
    last = codes[end - whole + np.maximum(length, 1) - 1]
    spaced = whole > length
    stops = np.isin(first, _WIDE_STOPS)
    wide = stops | (np.searchsorted(_UNSPACED_EDGES, first, "right") % 2 == 1)
    so_far = np.cumsum(np.where(wide | (length <= 1), length / 2, 1.0))

    closes = stops.copy()
    for place in np.flatnonzero(spaced & ~stops & np.isin(last, _ENDING)).tolist():
        said = bare[place]
        closes[place] = _STOP(said) is not None and _ABBREVIATION(said) is None
    closes[np.searchsorted(end, np.flatnonzero(codes == ord("\n")), "right")] = True
    closes[-1] = True

    units: list[tuple[int, float]] = []
    closing = np.flatnonzero(closes)
    sizes = np.diff(so_far[closing], prepend=0.0)
    done = 0  # sentences
    for long in np.flatnonzero(sizes > SLACK * words).tolist():
        units += zip(end[closing[done:long]].tolist(), sizes[done:long].tolist(), strict=True)
        begin = closing[long - 1] + 1 if long else 0
        own = slice(begin, closing[long] + 1)
        before = so_far[closing[long]] - sizes[long]
        units += _parts(end[own], so_far[own] - before, (spaced | wide)[own], words)
        done = long + 1
    units += zip(end[closing[done:]].tolist(), sizes[done:].tolist(), strict=True)
    return units


def _parts(
    end: npt.NDArray[np.int64],
    so_far: npt.NDArray[np.float64],
    ends_word: npt.NDArray[np.bool_],
    words: int,
) -> list[tuple[int, float]]:
    """Return (end, words) of parts of about ``words`` words of a sentence that is too long.

    Of each piece of the sentence: where it ends, the words up to there, and whether a word ends.
    """
    size = float(so_far[-1])
    wanted = size / max(2, round(size / words))
    word_ends = np.append(np.flatnonzero(ends_word), len(end))
    parts: list[tuple[int, float]] = []
    held = 0.0  # words of the parts that are done
    while True:
        wish = np.searchsorted(so_far, held + wanted)
        limit = np.searchsorted(so_far, held + 1.1 * wanted)  # within a word, if need be
        cut = min(word_ends[np.searchsorted(word_ends, wish)], limit)
        if cut >= len(end) - 1:
            break
        parts.append((int(end[cut]), float(so_far[cut]) - held))
        held = float(so_far[cut])
    parts.append((int(end[-1]), size - held))
    return parts


COUNTED_AT_ONCE = 500
"""Characters whose tokens are not counted in another thread: of one turn of a talk, or two."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A statement and what was computed from its text.

    passages: (start, end) in characters, one or more. sequences: the words of each passage, None
    for a stop word. types: of folded names, as a recognizer says; others are typed by rule.
    pieces: the passages in tokens of the embedder's tokenizer; None before they
    were embedded, or if the embedder does not give them.
    """

    statement: Statement
    said_at: int
    passages: list[tuple[int, int]]
    sequences: list[list[str | None]]
    names: list[str]
    event: tuple[int, int] | None
    _counted: Callable[[], list[int]]
    _places: slice
    _: KW_ONLY
    types: Mapping[str, EntityType] = field(default_factory=dict)
    pieces: PassagePieces | None = None

    @property
    def tokens(self) -> list[int]:
        """The tokens of the whole text, then of each passage if there are several.

        Counted since `prepare`, perhaps in another thread; waits until that is done.
        """
        return self._counted()[self._places]

    @property
    def texts(self) -> list[str]:
        """The texts to embed, one for each passage."""
        return passages_to_embed(self.statement.text, self.passages, self.statement.speaker)


def prepare(
    statements: Sequence[Statement],
    said_at: int,
    analyzer: Analyzer,
    counter: TokenCounter,
    month_first: bool,
    find_types: FindTypes | None = None,
) -> list[Prepared]:
    """Return ``statements`` with what is computed from their texts.

    ``said_at``: the time of statements that give none. ``month_first``: whether 5/7/2023 is 7 May.
    ``find_types``: a recognizer; None for the rule alone.
    Another thread, which releases the interpreter lock, counts the tokens of more than
    `COUNTED_AT_ONCE` characters while this thread finds words, names and dates; `Prepared.tokens`
    waits for it.
    """
    spans = [split(statement.text) for statement in statements]
    several = [place for place, parts in enumerate(spans) if len(parts) > 1]
    texts = [[statement.text] for statement in statements]
    for place in several:
        text = texts[place][0]
        texts[place] += [text[start:end] for start, end in spans[place]]
    counted = _count(counter, [part for parts in texts for part in parts])
    recognized = find_types([each.text for each in statements]) if find_types else None
    found = [_found(statement, said_at, month_first) for statement in statements]
    sequences = [[analyzer.sequence(part) for part in (parts[1:] or parts)] for parts in texts]
    ends = list(accumulate(map(len, texts), initial=0))
    return [
        Prepared(
            statement,
            said_at if statement.said_at is None else statement.said_at,
            span,
            sequence,
            names,
            event,
            counted,
            slice(*places),
            types=recognized[number] if recognized else {},
        )
        for number, (statement, span, sequence, (names, event), places) in enumerate(
            zip(statements, spans, sequences, found, pairwise(ends), strict=True)
        )
    ]


def embed(
    prepared: Sequence[Prepared],
    known: set[int],
    given: npt.NDArray[np.float32] | None,
    embedder: Embedder,
    threads: int,
    progress: EmbeddingProgress | None,
    computed: Mapping[int, "Computed"],
) -> tuple[Sequence[Prepared], npt.NDArray[np.float16]]:
    """Return the statements with their pieces, and float16[passages, dimension].

    A given vector is used for all passages of its memory; then there are no pieces. ``known``:
    places that get zeros, because their vectors are not used. ``computed``: place -> what was
    computed of the same text before. It is used unless the text is now split in another way.
    """
    counts = [len(statement.passages) for statement in prepared]
    if given is not None:
        return prepared, np.repeat(given, counts, axis=0).astype(np.float16)
    vectors = np.zeros((sum(counts), embedder.dimension), np.float16)
    told = list(prepared)
    texts: list[str] = []
    places: list[int] = []
    new: list[int] = []
    for number, (each, end) in enumerate(zip(prepared, accumulate(counts), strict=True)):
        reused = computed.get(number)
        if reused is not None and len(reused.vectors) == counts[number]:
            vectors[end - counts[number] : end] = reused.vectors
            told[number] = replace(each, pieces=reused.pieces)
        elif number not in known:
            texts += each.texts
            places += range(end - counts[number], end)
            new.append(number)
    if not texts:
        return told, vectors
    where = places if len(places) < len(vectors) else slice(None)
    vectors[where], read = embed_with_pieces(embedder, texts, threads, progress)
    if read is not None:
        ids = iter(read.ids)
        for number in new:
            each = prepared[number]
            pieces = _pieces(each, [next(ids) for _ in each.passages], read)
            told[number] = replace(each, pieces=pieces)
    return told, vectors


@dataclass(frozen=True, slots=True)
class Computed:
    """What the model computed of a memory: float16[passages, dimension], and the pieces if any."""

    vectors: npt.NDArray[np.float16]
    pieces: PassagePieces | None


def computed_of(view: View, memory: int) -> Computed:
    """Return what the model computed of a memory of the view."""
    first, end = view.buffer("first_row")[memory : memory + 2].tolist()
    rows = np.arange(first, end, dtype=np.uint32)
    name = view.columns.vocabulary
    stored = find_pieces(view, rows, name)
    pieces = None
    if stored is not None and name is not None and bool((stored.ends > stored.starts).all()):
        spans = zip(stored.starts.tolist(), stored.ends.tolist(), strict=True)
        pieces = PassagePieces(name, tuple(stored.ids[start:stop] for start, stop in spans))
    return Computed(view.vectors[first:end].view(np.float16).copy(), pieces)


def _pieces(prepared: Prepared, ids: list[TokenIds], read: TokenizedTexts) -> PassagePieces | None:
    """Return the token ids of a statement's passages for a reranker, from those of the embedder.

    The embedder reads "Ann said: ...", a reranker reads "Ann: ...".
    """
    text = prepared.statement.text
    speaker = prepared.statement.speaker
    if is_spoken(text, speaker):
        if prepared.passages[0][1] < len(f"{speaker}: "):
            return None
        said = len(read.of(f"{speaker} said:"))
        head = read.of(f"{speaker}:")
        ids = [np.concatenate([head, each[said:]]) for each in ids]
    return PassagePieces(read.vocabulary, tuple(ids))


def _found(
    statement: Statement, said_at: int, month_first: bool
) -> tuple[list[str], tuple[int, int] | None]:
    """Return the names in a statement, the caller's first, and the time range in its text."""
    at = said_at if statement.said_at is None else statement.said_at
    found = find_event_range(statement.text, at, named_zone(statement.zone), month_first)
    began = min(at, found.start) if found else at
    if statement.valid_until is not None and statement.valid_until <= began:
        raise InputError(
            f"valid_until must be later than the event, which began at {from_micros(began)}, got "
            f"{from_micros(statement.valid_until)}: give event_at, or a later valid_until"
        )
    names = find_names(statement.text, statement.speaker)
    if role_of_speaker(statement.speaker):  # "user" is not the name of a person
        names = names[1:]
    if statement.entities:
        names = list(dict.fromkeys((*statement.entities, *names)))
    return names, (found.start, found.end) if found else None


def _count(counter: TokenCounter, texts: list[str]) -> Callable[[], list[int]]:
    """Start counting, and return a function that waits for the result.

    A few characters are counted at once: to wake a thread, and to wait for it, takes longer.
    """
    if sum(map(len, texts)) <= COUNTED_AT_ONCE:
        counted = count_texts(counter, texts)
        return lambda: counted
    try:
        return _counting.submit(count_texts, counter, texts).result
    except RuntimeError:  # the interpreter is ending and starts no threads
        counted = count_texts(counter, texts)
        return lambda: counted


_counting = ThreadPool(2, "recollex count")
