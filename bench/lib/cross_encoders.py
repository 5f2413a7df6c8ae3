"""How long do a cross-encoder and the stages around it take?

This is a part of `bench.models`. It measures pairs of a question and a text for each way to run the
model, beside sentence-transformers and the floor that the arithmetic sets; the tokens of pairs,
made from their texts and from the stored word pieces; and token vectors for late interaction.
"""

import importlib.util
import json
import random
import shutil
import struct
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import recollex
from bench.lib.model_runs import (
    MODEL,
    QUESTION,
    SECONDS,
    SEED,
    TEXT_TOKENS,
    WAYS,
    not_run,
    repeated,
    sentence,
    timed,
)
from bench.lib.rundata import percentiles
from recollex_engine.errors import ModelError
from recollex_engine.models.backends import graph_precision
from recollex_engine.models.convert import converted
from recollex_engine.models.cross_encoder import CrossEncoder
from recollex_engine.models.pairs import Pair, StoredPieces
from recollex_engine.models.session import library
from recollex_engine.models.token_encoder import TokenEncoder
from recollex_engine.models.weights import find_weights
from recollex_engine.ranking.reranking import Candidates
from recollex_engine.state.word_pieces import find_pieces
from recollex_kernels.fusing.reranking import maxsim

PAIRS = (10, 50, 100, 300)
LENGTHS = (32, 64, 128)
MIXED = (100, 58)
"""The number of pairs of mixed lengths, and their mean number of tokens."""


def cross_encoders(
    folder: Path, floor: dict[str, float], short: bool, parts: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the times of pairs for each way to run the model, on one thread and on two."""
    shapes = [("mixed", *MIXED, 1), ("mixed", *MIXED, 2)]
    shapes += [(f"pairs{length}", pairs, length, 1) for length in LENGTHS for pairs in PAIRS]
    shapes = [shape for shape in shapes if shape[0] in parts and (shape[1] <= 100 or not short)]
    if not shapes:
        return []
    judges: dict[str, Callable[[str, list[str], int], Sequence[float]]] = {}
    lines: list[dict[str, Any]] = []
    for way in WAYS:
        try:
            model = converted(folder, graph_precision(way), scoring=True)
            judges[way] = _fresh(CrossEncoder(model, way))
        except ModelError as error:
            lines.append(not_run(shapes[0][0], way, error))
    counter = CrossEncoder(converted(folder, "int8", scoring=True))
    rival = rival_judge(folder)
    if rival is None:
        lines.append(not_run(shapes[0][0], "sentence-transformers", "not installed"))
    else:
        judges["sentence-transformers"] = rival
    rng = random.Random(SEED)
    question = "where did she move to after the summer"
    own = len(counter._pairs.of(question, [""])[0].ids)
    for part, pairs, length, threads in shapes:
        spread = length // 2 if (pairs, length) == MIXED else 0
        texts = [
            sentence(rng, length + rng.randint(-spread, spread) - own + 2) for _ in range(pairs)
        ]
        tokens = [len(each.ids) for each in counter._pairs.of(question, texts)]
        gflop = sum(flops(count) for count in tokens) / 1e9
        floors = {name: gflop / speed * 1000 for name, speed in floor.items()}
        some = texts[:10]
        exact = np.array(judges["fp32"](question, some, 1))
        for name, judge in judges.items():
            most = {"int8": 0.02, "bf16": 0.02}.get(name, 1e-5)
            moved = float(np.abs(np.array(judge(question, some, threads)) - exact).max())
            assert moved <= most, (name, moved)
            seconds = 0.0 if short else SECONDS / 2
            run = partial(judge, question, texts, threads)
            taken, spent = timed(run, seconds, least=1, warm=False)
            lines.append(
                {
                    "part": part,
                    "runs": name,
                    "threads": threads,
                    "pairs": pairs,
                    "tokens": float(np.mean(tokens)),
                    "ms": percentiles(taken),
                    "cpu_ms": percentiles(spent),
                    "gflop": gflop,
                    "floor_cpu_ms": floors,
                    "greatest_difference_to_fp32": moved,
                }
            )
    return lines


def _fresh(judge: CrossEncoder) -> Callable[[str, list[str], int], Sequence[float]]:
    """Return the judge's function of scores, which remembers no score."""

    def scores(question: str, texts: list[str], threads: int) -> Sequence[float]:
        judge._known._scores.clear()
        judge._pairs._remembered.clear()
        return judge.scores(question, texts, threads)

    return scores


def stages(folder: Path) -> list[dict[str, Any]]:
    """Return the other costs of a second stage, for new texts and for known ones."""
    return [*tokens_of_pairs(folder), late_interaction()]


def tokens_of_pairs(folder: Path) -> list[dict[str, Any]]:
    """Return the times to make the tokens of dated pairs, from texts and from stored pieces.

    The store was written with the default embedder and opened again; each text has its own day.
    "New" means that nothing is remembered, not even the tokens of a date.
    """
    count, mean = MIXED
    rng = random.Random(SEED)
    judge = CrossEncoder(converted(folder, "int8", scoring=True))
    empty = judge._pairs.of(QUESTION, ["[Date: March 01, 2024 (2024-03-01)] "])[0]
    texts = [sentence(rng, mean - len(empty.ids) + 2) for _ in range(count)]
    days = [datetime(2024, 3, 1, tzinfo=UTC) + timedelta(days=n) for n in range(count)]
    with tempfile.TemporaryDirectory() as home:
        with recollex.open(home) as store:
            store.agent("bench").retain_many(texts, event_at=days)
        with recollex.open(home, read_only=True) as store:
            view = store.agent("bench").engine.view()
            memories = np.arange(count, dtype=np.uint32)
            read = Candidates(QUESTION, view, memories, np.ones(count), 0)
            dated = read.dated_texts

            def of_texts() -> list[Pair]:
                return judge._pairs.of(QUESTION, dated)

            def of_stored() -> list[Pair]:
                found = find_pieces(view, read.rows, judge.vocabulary)
                stored = StoredPieces(found.ids, found.starts, found.ends, read.headings)
                return judge._pairs.of(QUESTION, dated, stored)

            for one, other in zip(of_texts(), of_stored(), strict=True):
                assert list(one.ids) == list(other.ids), (one, other)
                assert (one.second, one.truncated) == (other.second, other.truncated)
            lines = []
            for name, run in (("texts", of_texts), ("what is stored", of_stored)):

                def afresh(run: Callable[[], object] = run) -> None:
                    judge._pairs._remembered.clear()
                    judge._pairs._heading.cache_clear()
                    judge._pairs._word.cache_clear()
                    run()

                lines.append(
                    {
                        "part": "stages",
                        "runs": f"tokens of {count} pairs, from {name}",
                        "new_ms": percentiles(repeated(afresh, SECONDS)),
                        "known_ms": percentiles(repeated(run, SECONDS)),
                    }
                )
    return lines


def late_interaction() -> dict[str, Any]:
    """Return the time to compare the token vectors of texts with those of a question."""
    count = MIXED[0]
    rng = random.Random(SEED)
    encoder = TokenEncoder(MODEL)
    texts = [sentence(rng, TEXT_TOKENS) for _ in range(count)]
    started = time.perf_counter()
    vectors = encoder.passages(texts)
    new = (time.perf_counter() - started) * 1000
    starts = np.cumsum([0, *map(len, vectors)])
    query, out = encoder.query(QUESTION), np.empty(count)

    def late() -> None:
        maxsim(query, np.concatenate(encoder.passages(texts)), starts, out)

    return {
        "part": "stages",
        "runs": f"late interaction with {count} texts of {TEXT_TOKENS} tokens",
        "new_ms": percentiles([new]),
        "known_ms": percentiles(repeated(late, SECONDS)),
        "bytes_per_text": int(np.mean([each.nbytes for each in vectors])),
    }


def rival_judge(folder: Path) -> Callable[[str, list[str], int], Sequence[float]] | None:
    if importlib.util.find_spec("sentence_transformers") is None:
        return None
    sentence_transformers = library("sentence_transformers")
    import torch

    model = sentence_transformers.CrossEncoder(str(folder), device="cpu")

    def scores(question: str, texts: list[str], threads: int) -> Sequence[float]:
        torch.set_num_threads(threads)
        pairs = [(question, text) for text in texts]
        return model.predict(pairs, batch_size=32, show_progress_bar=False)

    return scores


def flops(tokens: int, size: int = 384, wide: int = 1536, layers: int = 6) -> float:
    """Return the floating-point operations of MiniLM on one text.

    Per layer and token: 2 (4 D^2 + 2 D W) in the linear maps, 4 D L in attention over L tokens.
    """
    linears = 2 * (4 * size**2 + 2 * size * wide)
    return float(layers * tokens * (linears + 4 * size * tokens))


def random_judge(folder: Path) -> Path:
    """Write MiniLM's encoder with a seeded random classifier; return its folder."""
    source = find_weights(MODEL).folder
    folder.mkdir(parents=True)
    raw = (source / "model.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header, body = json.loads(raw[8 : 8 + length]), raw[8 + length :]
    header.pop("__metadata__", None)
    header = {f"bert.{name}": entry for name, entry in header.items()}
    rng = np.random.default_rng(SEED)
    for name, shape in {"classifier.weight": (1, 384), "classifier.bias": (1,)}.items():
        data = (0.05 * rng.standard_normal(shape)).astype(np.float32).tobytes()
        offsets = [len(body), len(body) + len(data)]
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": offsets}
        body += data
    header["__metadata__"] = {"format": "pt"}
    encoded = json.dumps(header).encode()
    head = struct.pack("<Q", len(encoded)) + encoded
    (folder / "model.safetensors").write_bytes(head + body)
    config = json.loads((source / "config.json").read_text())
    config |= {"architectures": ["BertForSequenceClassification"], "num_labels": 1}
    config |= {"id2label": {"0": "LABEL_0"}, "label2id": {"LABEL_0": 0}}
    (folder / "config.json").write_text(json.dumps(config))
    shutil.copyfile(source / "tokenizer.json", folder / "tokenizer.json")
    tokenizer = {"tokenizer_class": "BertTokenizerFast", "model_max_length": 512}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    return folder
