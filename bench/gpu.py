"""How fast do a cross-encoder and an embedder run on a GPU, and a whole recall?

Claim: on one H100, 100 pairs of 128 tokens take at most 8 ms (p50; Memora says about 80), a whole
recall with 100 candidates reranked at most 15 ms (p50; TEMPR's example 148, Memora 192).

Command: python -m bench.gpu [--json] [--out FILE]

Check: before the clock starts, the scores in fp16 are within 2e-3 of the scores in fp32 on the CPU.
Their order is the same, except for pairs that are nearer than that. Vectors have a cosine of 0.9999
to those of fp32. The recall's trace names no failed stage.

Without a GPU, or without onnxruntime-gpu, every row says "not run" and why. The cross-encoder
comes from bench/lib/cross_encoders.py and has a random head. The floor is the arithmetic of the
pairs at the speed of one fp16 matrix product of 12,800 x 384 x 1536 on the device, by onnxruntime.
The recall uses TEMPR's preset with thinking budget 100, over made-up memories. As in TEMPR's
Table 1 and Memora 5.2, its time includes the question's embedding, the date of each candidate and
the tokens of the pairs. sentence-transformers runs the same weights in fp16, if it and a torch with
CUDA are installed.
"""

import random
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import recollex
from bench.lib.cross_encoders import LENGTHS, PAIRS, flops, random_judge
from bench.lib.drawing import Plot
from bench.lib.latency import Bound, Page, Section, claim, finish, parse
from bench.lib.model_runs import MODEL, SEED, TEXT_TOKENS, repeated, sentence
from bench.lib.rundata import percentiles
from recollex import presets
from recollex_engine.models.convert import converted
from recollex_engine.models.cross_encoder import CrossEncoder
from recollex_engine.models.device_session import CUDA, is_gpu_here
from recollex_engine.models.encoder import load_encoder
from recollex_engine.models.session import library
from recollex_engine.models.weights import find_weights

GEMM = (12_800, 384, 1536)
MEMORIES = 10_000
CANDIDATES = 100
QUESTIONS = 50
SECONDS = 1.0
TEXTS = 10_000
RIVAL = "sentence-transformers"
QUESTION = "where did she move to after the summer"
TOLERANCE = 2e-3
RECALL = f"a recall, {CANDIDATES} candidates reranked"
LIMITS = {"100 pairs of 128 tokens": 8, RECALL: 15}
"""Bounds: measurement -> milliseconds at p50."""


def main() -> None:
    arguments = parse(__doc__).parse_args()
    if not is_gpu_here():
        able = ", ".join(library("onnxruntime").get_available_providers())
        why = f"no GPU that onnxruntime's CUDA can use; its providers are {able}"
        finish(page(not_run(why), []), arguments)
        return
    with tempfile.TemporaryDirectory() as folder:
        finish(page(measured(Path(folder)), embedded()), arguments)


def shapes() -> list[tuple[int, int]]:
    return [(pairs, length) for length in LENGTHS for pairs in PAIRS]


def not_run(why: str) -> list[dict[str, Any]]:
    """Return all rows, each with the reason why it was not measured."""
    rows = [{"what": f"{pairs} pairs of {length} tokens"} for pairs, length in shapes()]
    rows.append({"what": RECALL})
    return [row | {"not run": why} for row in rows]


def measured(folder: Path) -> list[dict[str, Any]]:
    place = random_judge(folder / "judge")
    judge = CrossEncoder(converted(place, "fp16", scoring=True), "fp16")
    exact = CrossEncoder(converted(place, "fp32", scoring=True), "fp32")
    speed = gemm_speed()
    rng = random.Random(SEED)
    own = len(exact._pairs.of(QUESTION, [""])[0].ids)
    rival = other_cross_encoder(place)
    rows = []
    for pairs, length in shapes():
        texts = [sentence(rng, length - own + 2) for _ in range(pairs)]
        check(judge.scores(QUESTION, texts), exact.scores(QUESTION, texts))

        def known(texts: list[str] = texts) -> None:
            judge._known._scores.clear()  # as for a new question about texts whose tokens are known
            judge.scores(QUESTION, texts)

        def run(texts: list[str] = texts) -> None:
            judge._pairs._remembered.clear()
            known(texts)

        gflop = pairs * flops(length) / 1e9
        rows.append(
            {
                "what": f"{pairs} pairs of {length} tokens",
                **percentiles(repeated(run, SECONDS)),
                "known p50": percentiles(repeated(known, SECONDS))["p50"],
                "floor": gflop / speed * 1000,
                "GFLOP": gflop,
            }
        )
        if rival is not None:
            taken = repeated(partial(rival, texts), SECONDS)
            rows[-1][f"{RIVAL} p50"] = percentiles(taken)["p50"]
    return [*rows, whole_recall(folder, place, rng)]


def check(found: np.ndarray, expected: np.ndarray) -> None:
    """Assert that the scores agree, and that their order does where they differ beyond rounding."""
    assert np.abs(found - expected).max() <= TOLERANCE, np.abs(found - expected).max()
    order = np.argsort(-found, kind="stable")
    assert (np.diff(expected[order]) <= 2 * TOLERANCE).all()


def embedded() -> list[dict[str, Any]]:
    """Return the times of one question's vector and of many texts', each beside the rival's."""
    encoder, exact = load_encoder(MODEL, "fp16"), load_encoder(MODEL, "fp32")
    rng = random.Random(SEED)
    texts = [sentence(rng, TEXT_TOKENS) for _ in range(TEXTS)]
    nearness = (encoder.embed(texts[:100]) * exact.embed(texts[:100])).sum(axis=1)
    assert nearness.min() >= 0.9999, nearness.min()
    questions = iter(f"{sentence(rng, 7)} {number}" for number in range(1_000_000))
    ways = {"recollex": (lambda: encoder.embed_query(next(questions)), encoder.embed)}
    if (rival := other_encoder()) is not None:
        ways[RIVAL] = (lambda: rival([next(questions)]), rival)
    rows = []
    for name, (ask, embed) in ways.items():
        embed(texts[:500])
        rate = TEXTS / repeated(partial(embed, texts), 0, least=1, warm=False)[0] * 1000
        asked = percentiles(repeated(ask, SECONDS))
        rows.append({"what": name, "question p50": asked["p50"], "p99": asked["p99"]})
        rows[-1]["texts a second"] = rate
    return rows


def other_cross_encoder(place: Path) -> Callable[[list[str]], object] | None:
    """Return what scores texts by sentence-transformers on the GPU; None if it cannot."""
    options = cuda_options()
    if options is None:
        return None
    sentence_transformers = library("sentence_transformers")

    judge = sentence_transformers.CrossEncoder(str(place), **options)
    return lambda texts: judge.predict(
        [(QUESTION, text) for text in texts], batch_size=256, show_progress_bar=False
    )


def other_encoder() -> Callable[[list[str]], object] | None:
    """Return what embeds texts by sentence-transformers on the GPU; None if it cannot."""
    options = cuda_options()
    if options is None:
        return None
    sentence_transformers = library("sentence_transformers")

    model = sentence_transformers.SentenceTransformer(str(find_weights(MODEL).folder), **options)
    return lambda texts: model.encode(texts, batch_size=256, show_progress_bar=False)


def cuda_options() -> dict[str, Any] | None:
    """Return what makes a model of sentence-transformers run on the GPU in fp16."""
    try:
        library("sentence_transformers")
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    return {"device": "cuda", "model_kwargs": {"torch_dtype": torch.float16}}


def gpu_name() -> str:
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        said = subprocess.run(query, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        return f"its name is not known: {error}"
    return said.strip().replace("\n", "; ")


def gemm_speed() -> float:
    """Return GFLOP/s of one fp16 matrix product on the device, with its operands on the device."""
    rows, inner, columns = GEMM
    rng = np.random.default_rng(SEED)
    weight = rng.standard_normal((inner, columns)).astype(np.float16)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "gemm",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT16, (rows, inner))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT16, (rows, columns))],
        [numpy_helper.from_array(weight, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnxruntime = library("onnxruntime")
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=[CUDA])
    binding = session.io_binding()
    value = rng.standard_normal((rows, inner)).astype(np.float16)
    binding.bind_ortvalue_input("x", onnxruntime.OrtValue.ortvalue_from_numpy(value, "cuda", 0))
    output = onnxruntime.OrtValue.ortvalue_from_shape_and_type(
        (rows, columns), np.float16, "cuda", 0
    )
    binding.bind_ortvalue_output("y", output)
    taken = repeated(lambda: session.run_with_iobinding(binding), SECONDS)
    return 2 * rows * inner * columns / float(np.median(taken)) / 1e6


def whole_recall(folder: Path, place: Path, rng: random.Random) -> dict[str, Any]:
    """Return the times of recalls whose best 100 candidates are judged on a GPU."""
    reranker = presets.CrossEncoderReranker(place, precision="fp16")
    preset = replace(presets.tempr, reranker=reranker, depth=CANDIDATES)
    taken, stages = [], []
    with recollex.open(folder / "store", durability="off") as store:
        agent = store.agent("bench")
        for _ in range(MEMORIES // 1000):
            agent.retain_many([sentence(rng, 32) for _ in range(1000)])
        agent.checkpoint()
        for number in range(QUESTIONS + 1):  # the first one warms up
            question = sentence(rng, 9)
            started = time.perf_counter()
            found = agent.recall(question, preset=preset, thinking_budget=CANDIDATES)
            assert not found.trace.errors, found.trace.errors
            if number:
                taken.append((time.perf_counter() - started) * 1000)
                stages.append(found.trace.stages["rerank"] / 1000)
    return {
        "what": RECALL,
        "memories": MEMORIES,
        **percentiles(taken),
        "reranking p50": percentiles(stages)["p50"],
    }


def page(rows: list[dict[str, Any]], embeddings: list[dict[str, Any]]) -> Page:
    took = {row["what"]: row["p50"] for row in rows if "p50" in row}
    return Page(
        "gpu",
        claim(__doc__),
        "python -m bench.gpu",
        [
            Section("Milliseconds", rows, Plot("bars", "what", "p50", unit="p50 ms")),
            *([Section("Embedding: milliseconds, texts a second", embeddings)] * bool(embeddings)),
        ],
        [
            Bound(f"{what}, p50 ms", took[what], most)
            for what, most in LIMITS.items()
            if what in took
        ],
        [
            "p50, p95, p99: of new texts; known: of texts whose tokens are known.",
            *([f"GPU, driver: {gpu_name()}."] * bool(embeddings)),
        ],
    )


if __name__ == "__main__":
    main()
