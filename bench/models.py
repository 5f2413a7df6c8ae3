"""How fast do the models run, beside sentence-transformers and the floor that the CPU sets?

Claim: in int8, a question of 9 tokens takes at most 1.6 ms (p50, one thread), a fourth of what
sentence-transformers takes; texts of 36 tokens go at 290/s a thread or more, one by one; 100 pairs
of 58 tokens take at most 3 times the measured GEMM floor, a third of its CrossEncoder's time.

Command: python -m bench.models [--json] [--out FILE] [--short] [--parts PART ...]

A whole run takes three minutes; ``--parts`` runs some of it.

Check: before the clock starts, vectors of fp32 equal sentence-transformers' to 1e-5 and those of
int8 have a cosine of 0.99 to them. int8 and bf16 give the same bytes for a text alone, among 64,
shuffled and sorted; fp32 gives the same to 1e-5. The same holds for scores.

The cross-encoder has the architecture of ms-marco-MiniLM-L-6-v2, with MiniLM's encoder and a seeded
random head: it is as fast as the published weights, and has no quality. The floor is the arithmetic
of a run (2 operations for each weight and token, and those of attention) at the speed of one matrix
product, 1024 x 384 x 1536, by onnxruntime on one thread, in fp32 and in int8. Both are given in CPU
time, beside the wall time; the CPU time hardly changes when others use the machine. For two threads
it is the sum. bf16 needs the extra openvino. sentence-transformers and its torch run on the same
number of threads, if they are installed.
"""

import importlib.util
import random
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from bench.lib.cross_encoders import cross_encoders, random_judge, stages
from bench.lib.drawing import Plot
from bench.lib.latency import Bound, Page, Section, claim, finish, parse
from bench.lib.model_runs import (
    MODEL,
    QUESTION,
    SECONDS,
    SEED,
    TEXT_TOKENS,
    WAYS,
    not_run,
    sentence,
    timed,
)
from bench.lib.rundata import percentiles
from recollex_engine.errors import ModelError
from recollex_engine.models.encoder import load_encoder
from recollex_engine.models.session import library
from recollex_engine.models.weights import find_weights

GEMM = (1024, 384, 1536)
QUESTION_TOKENS = 9
PARTS = ("encoder", "stages", "mixed", "pairs32", "pairs64", "pairs128")
RIVAL = "sentence-transformers"


@dataclass(frozen=True)
class Found:
    """One line for each measurement, or the reason why there is none."""

    encoders: list[dict[str, Any]]
    cross_encoders: list[dict[str, Any]]
    stages: list[dict[str, Any]]


def main() -> None:
    parser = parse(__doc__)
    parser.add_argument("--short", action="store_true", help="100 pairs at most, each once")
    parser.add_argument(
        "--parts", nargs="+", choices=PARTS, default=PARTS, help="all, if not given"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        judge = random_judge(Path(folder) / "judge")
        floor = gemm_floors()
        found = Found(
            encoders() if "encoder" in arguments.parts else [],
            cross_encoders(judge, floor, arguments.short, arguments.parts),
            stages(judge) if "stages" in arguments.parts else [],
        )
    finish(page(found, floor), arguments)


def compared() -> list[str]:
    """Return those of the compared packages that are installed."""
    names = ("openvino", RIVAL, "torch")
    return [name for name in names if importlib.util.find_spec(name.replace("-", "_"))]


def gemm_floors() -> dict[str, float]:
    """Return GFLOP/s (GOP/s for int8) of one matrix product on one thread, by precision."""
    rows, inner, columns = GEMM
    rng = np.random.default_rng(SEED)
    floats = rng.standard_normal((rows, inner), np.float32)
    weight = rng.standard_normal((inner, columns), np.float32)
    bytes_ = rng.integers(0, 255, (rows, inner)).astype(np.uint8)
    small = rng.integers(-127, 127, (inner, columns)).astype(np.int8)
    found = {}
    for name, kind, value, constant in (
        ("fp32", "MatMul", floats, weight),
        ("int8", "MatMulInteger", bytes_, small),
    ):
        taken_in = helper.np_dtype_to_tensor_dtype(value.dtype)
        output = TensorProto.FLOAT if name == "fp32" else TensorProto.INT32
        graph = helper.make_graph(
            [helper.make_node(kind, ["x", "w"], ["y"])],
            "gemm",
            [helper.make_tensor_value_info("x", taken_in, GEMM[:2])],
            [helper.make_tensor_value_info("y", output, (rows, columns))],
            [numpy_helper.from_array(constant, "w")],
        )
        onnxruntime = library("onnxruntime")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        _, spent = timed(partial(session.run, None, {"x": value}), 1.0)
        found[name] = 2 * rows * inner * columns / float(np.median(spent)) / 1e6
    return found


def encoders() -> list[dict[str, Any]]:
    """Return a question's latency and the throughput of texts, for each way to run the model."""
    rng = random.Random(SEED)
    lines = []
    reference = load_encoder(MODEL, "fp32")
    assert reference.count_tokens(QUESTION) + 2 == QUESTION_TOKENS, reference.count_tokens(QUESTION)
    texts = [sentence(rng, TEXT_TOKENS + rng.randint(-20, 20)) for _ in range(256)]
    exact = reference.embed(texts[:64])
    for way in WAYS:
        try:
            encoder = load_encoder(MODEL, way)
        except ModelError as error:
            lines.append(not_run("encoder", way, error))
            continue
        vectors = encoder.embed(texts[:64])
        cosines = (vectors * exact).sum(axis=1)
        assert cosines.min() >= 0.99, (way, cosines.min())
        alone = np.array([encoder.embed([text])[0] for text in texts[:64]])
        mixed = rng.sample(range(64), 64)
        shuffled = encoder.embed([texts[n] for n in mixed])
        moved = float(max(np.abs(alone - vectors).max(), np.abs(shuffled - vectors[mixed]).max()))
        assert moved <= {"int8": 0, "fp32": 1e-5, "bf16": 0}[way], (way, moved)
        asked, spent = timed(lambda e=encoder: e._embed_query(QUESTION), SECONDS)
        began, started = time.process_time(), time.perf_counter()
        encoder.embed(texts)
        seconds, of_cpu = time.perf_counter() - started, time.process_time() - began
        lines.append(
            {
                "part": "encoder",
                "runs": way,
                "query_ms": percentiles(asked),
                "query_cpu_ms": percentiles(spent),
                "texts_per_s": len(texts) / seconds,
                "texts_per_cpu_s": len(texts) / of_cpu,
                "tokens": float(np.mean([encoder.count_tokens(text) + 2 for text in texts])),
                "company_moves": moved,
                "least_cosine_to_fp32": float(cosines.min()),
            }
        )
    lines.append(rival_encoder(texts, exact))
    return lines


def rival_encoder(texts: list[str], exact: np.ndarray) -> dict[str, Any]:
    if RIVAL not in compared():
        return not_run("encoder", RIVAL, "not installed")
    sentence_transformers = library("sentence_transformers")
    import torch

    torch.set_num_threads(1)
    model = sentence_transformers.SentenceTransformer(str(find_weights(MODEL).folder), device="cpu")
    moved = float(np.abs(model.encode(texts[:64], batch_size=1) - exact).max())
    assert moved <= 1e-5, moved
    asked, spent = timed(lambda: model.encode(QUESTION, show_progress_bar=False), SECONDS)
    began, started = time.process_time(), time.perf_counter()
    model.encode(texts, batch_size=32, show_progress_bar=False)
    seconds, of_cpu = time.perf_counter() - started, time.process_time() - began
    return {
        "part": "encoder",
        "runs": RIVAL,
        "query_ms": percentiles(asked),
        "query_cpu_ms": percentiles(spent),
        "texts_per_s": len(texts) / seconds,
        "texts_per_cpu_s": len(texts) / of_cpu,
        "greatest_difference_to_fp32": moved,
    }


def page(found: Found, floor: dict[str, float]) -> Page:
    asked = [
        {"runs": line["runs"], "not run": line["not_run"]}
        if "not_run" in line
        else {
            "runs": line["runs"],
            **{f"question {p} ms": ms for p, ms in line["query_ms"].items()},
            "of CPU, p50": line["query_cpu_ms"]["p50"],
            "texts/s": line["texts_per_s"],
            "texts/s of CPU": line["texts_per_cpu_s"],
            "least cosine to fp32": line.get("least_cosine_to_fp32", 1.0),
        }
        for line in found.encoders
    ]
    judged = [
        {"runs": line["runs"], "not run": line["not_run"]}
        if "not_run" in line
        else {
            "runs": line["runs"],
            "threads": line["threads"],
            "pairs": line["pairs"],
            "tokens": line["tokens"],
            **line["ms"],
            "of CPU, p50": line["cpu_ms"]["p50"],
            "floor, fp32": line["floor_cpu_ms"]["fp32"],
            "floor, int8": line["floor_cpu_ms"]["int8"],
            "shape": f"{line['runs']}, {line['threads']} x {line['pairs']} of {line['tokens']:.0f}",
        }
        for line in found.cross_encoders
    ]
    beside = [
        {
            "stage": line["runs"],
            "new p50": line["new_ms"]["p50"],
            "known p50": line["known_ms"]["p50"],
            "bytes a text": line.get("bytes_per_text", ""),
        }
        for line in found.stages
    ]
    sections = [
        Section("A question and texts", asked, Plot("bars", "runs", "question p50 ms")),
        Section("Pairs, ms", judged, Plot("bars", "shape", "p50", unit="p50 ms")),
        Section("What else a second stage costs, ms", beside),
    ]
    return Page(
        "models",
        claim(__doc__),
        "python -m bench.models",
        [section for section in sections if section.rows],
        [*bounds_of_questions(found.encoders), *bounds_of_pairs(found.cross_encoders)],
        [],
        compared(),
        {f"GFLOP/s of one product, {name}": round(speed) for name, speed in floor.items()},
    )


def bounds_of_questions(lines: list[dict[str, Any]]) -> list[Bound]:
    ran = {line["runs"]: line for line in lines if "not_run" not in line}
    if "int8" not in ran:
        return []
    question = ran["int8"]["query_ms"]["p50"]
    bounds = [
        Bound("a question, p50 ms", question, 1.6),
        Bound("texts/s", ran["int8"]["texts_per_s"], 290, least=True),
    ]
    if RIVAL in ran:
        times = ran[RIVAL]["query_ms"]["p50"] / question
        bounds.append(Bound(f"a question, times as fast as {RIVAL}", times, 4, least=True))
    return bounds


def bounds_of_pairs(lines: list[dict[str, Any]]) -> list[Bound]:
    ran = {
        line["runs"]: line
        for line in lines
        if "not_run" not in line and line["part"] == "mixed" and line["threads"] == 1
    }
    if "int8" not in ran:
        return []
    ours = ran["int8"]["ms"]["p50"]
    over = ours / ran["int8"]["floor_cpu_ms"]["int8"]
    bounds = [Bound("100 pairs of mixed lengths, over the floor of int8", over, 3)]
    if RIVAL in ran:
        times = ran[RIVAL]["ms"]["p50"] / ours
        bounds.append(Bound(f"100 pairs, times as fast as {RIVAL}", times, 3, least=True))
    return bounds


if __name__ == "__main__":
    main()
