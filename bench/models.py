"""How fast do the models run, beside sentence-transformers and the floor that the CPU sets?

Claim (int8, two cores): a question of 9 tokens at most 1.6 ms (p50, one thread) and 4 times as fast
as sentence-transformers; texts of 36 tokens at least 290/s a thread, one by one; 100 pairs of 58
tokens at most 3 times the measured GEMM floor and 3 times as fast as its CrossEncoder.

Command: python -m bench.models [--json] [--out FILE] [--short] [--parts PART ...]

A whole run takes four minutes. Where nobody has the machine alone for so long, ``--parts`` runs
some of it, and puts them into FILE in place of what it held of those parts.

Check: before the clock starts, vectors of fp32 equal sentence-transformers' to 1e-5 and those of
int8 have a cosine of .99 to them; int8 and bf16 give the same bytes alone, among 64, shuffled and
sorted; fp32 within 1e-5; scores likewise.

The cross-encoder is ms-marco-MiniLM-L-6-v2's architecture with MiniLM's encoder and a seeded random
head: as fast as the published weights, and without quality. The floor is the arithmetic of a run
(2 operations a weight and token, and attention's) at the speed of one matrix product, 1024 x 384 x
1536, by onnxruntime on one thread: in fp32, and in int8. Both are told in time of the CPU, which
hardly changes where others share the machine, beside the wall's; of two threads it is the sum.
bf16 needs the extra openvino; sentence-transformers and its torch, on the same number of threads,
are run if installed.
"""

import argparse
import importlib.util
import json
import random
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from bench.cross_encoders import cross_encoders, random_judge, stages
from bench.model_runs import (
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
from bench.rundata import environment, percentiles, write_run
from recollex_engine.errors import ModelError
from recollex_engine.models.encoder import load_encoder
from recollex_engine.models.weights import find_weights

GEMM = (1024, 384, 1536)
QUESTION_TOKENS = 9
PARTS = ("encoder", "stages", "mixed", "pairs32", "pairs64", "pairs128")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--out", type=Path, help="write the JSON to this file as well")
    parser.add_argument("--short", action="store_true", help="100 pairs at most, each once")
    parser.add_argument(
        "--parts", nargs="+", choices=PARTS, default=PARTS, help="all, if not given"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        judge = random_judge(Path(folder) / "judge")
        floor = gemm_floors()
        parts, short = arguments.parts, arguments.short
        result = {
            "bench": "models",
            "environment": environment() | installed(),
            "gemm_gflops": dict.fromkeys(parts, floor),
            "encoder": encoders() if "encoder" in parts else [],
            "cross_encoder": cross_encoders(judge, floor, short, parts),
            "stages": stages(judge) if "stages" in parts else [],
        }
    if arguments.out is not None and arguments.out.exists() and set(parts) != set(PARTS):
        result = joined(json.loads(arguments.out.read_text()), result, parts)
    write_run(result, arguments.json, arguments.out, show)


def joined(before: dict[str, Any], now: dict[str, Any], parts: Sequence[str]) -> dict[str, Any]:
    """Return ``now`` with those lines of ``before`` that are of other parts."""
    for name in ("encoder", "cross_encoder", "stages"):
        held = [line for line in before[name] if line["part"] not in parts]
        now[name] = held + now[name]
    return now | {"gemm_gflops": before["gemm_gflops"] | now["gemm_gflops"]}


def installed() -> dict[str, Any]:
    """Return the versions of what is compared, where it is there."""
    names = ("openvino", "sentence-transformers", "torch")
    found = {name: version(name) for name in names if importlib.util.find_spec(_module(name))}
    return {"compared": found}


def _module(name: str) -> str:
    return name.replace("-", "_")


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
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        _, spent = timed(partial(session.run, None, {"x": value}), 1.0)
        found[name] = 2 * rows * inner * columns / float(np.median(spent)) / 1e6
    return found


def encoders() -> list[dict[str, Any]]:
    """Return a question's latency and the throughput of texts, by what runs the model."""
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
    name = "sentence-transformers"
    if importlib.util.find_spec(_module(name)) is None:
        return not_run("encoder", name, "not installed")
    import sentence_transformers
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
        "runs": name,
        "query_ms": percentiles(asked),
        "query_cpu_ms": percentiles(spent),
        "texts_per_s": len(texts) / seconds,
        "texts_per_cpu_s": len(texts) / of_cpu,
        "greatest_difference_to_fp32": moved,
    }


def show(result: dict[str, Any]) -> str:
    """Return the run as tables in Markdown."""
    lines = [f"{result['environment']['cpu']}; one matrix product, GFLOP a CPU second:", ""]
    for part, speeds in result["gemm_gflops"].items():
        said = ", ".join(f"{name} {speed:.0f}" for name, speed in speeds.items())
        lines.append(f"- beside {part}: {said}")
    lines += [
        "",
        "| encoder | question p50 / p99 ms | of CPU, p50 | texts/s, one thread | a CPU second |",
        "|---|---|---|---|---|",
    ]
    for line in result["encoder"]:
        if "not_run" in line:
            lines.append(f"| {line['runs']} | not run: {line['not_run']} | | | |")
            continue
        asked = line["query_ms"]
        lines.append(
            f"| {line['runs']} | {asked['p50']:.2f} / {asked['p99']:.2f} "
            f"| {line['query_cpu_ms']['p50']:.2f} | {line['texts_per_s']:.0f} "
            f"| {line['texts_per_cpu_s']:.0f} |"
        )
    lines += [
        "",
        "| cross-encoder | threads | pairs | tokens | p50 ms | of CPU | its floor fp32 / int8 |",
        "|---|---|---|---|---|---|---|",
    ]
    for line in result["cross_encoder"]:
        if "not_run" in line:
            lines.append(f"| {line['runs']} | | | | not run: {line['not_run']} | | |")
            continue
        floors = line["floor_cpu_ms"]
        lines.append(
            f"| {line['runs']} | {line['threads']} | {line['pairs']} | {line['tokens']:.0f} "
            f"| {line['ms']['p50']:.0f} | {line['cpu_ms']['p50']:.0f} "
            f"| {floors['fp32']:.0f} / {floors['int8']:.0f} |"
        )
    lines += ["", "| stage | new p50 ms | known p50 ms | bytes a text |", "|---|---|---|---|"]
    lines += [
        f"| {line['runs']} | {line['new_ms']['p50']:.1f} | {line['known_ms']['p50']:.2f} "
        f"| {line.get('bytes_per_text', '')} |"
        for line in result["stages"]
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
