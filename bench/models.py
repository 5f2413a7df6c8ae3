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
import shutil
import struct
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from bench.rundata import environment, percentiles, write_run
from recollex_engine.errors import ModelError
from recollex_engine.models.backends import Running, graph_precision
from recollex_engine.models.convert import converted
from recollex_engine.models.cross_encoder import CrossEncoder
from recollex_engine.models.encoder import load_encoder
from recollex_engine.models.token_encoder import TokenEncoder
from recollex_engine.models.weights import find_weights
from recollex_kernels.maxsim import maxsim

MODEL = "all-MiniLM-L6-v2"
WAYS: tuple[Running, ...] = ("int8", "fp32", "bf16")
GEMM = (1024, 384, 1536)
QUESTION = "Where did Caroline move from last year"
QUESTION_TOKENS = 9
TEXT_TOKENS = 36
PARTS = ("encoder", "stages", "mixed", "pairs32", "pairs64", "pairs128")
PAIRS = (10, 50, 100, 300)
LENGTHS = (32, 64, 128)
MIXED = (100, 58)
"""Pairs of mixed lengths, and their mean."""
SEED = 7
SECONDS = 1.5
"""For which a measurement is repeated; that of pairs half as long, after the check of ten."""
_WORDS = """
the of and a to in is you that it he was for on are as with his they at be this have from or one had
by word but not what all were we when your can said there use an each which she do how their if will
up other about out many then them these so some her would make like
"""
WORDS = _WORDS.split()


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
            lines.append(_not_run("encoder", way, error))
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
        return _not_run("encoder", name, "not installed")
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


def _not_run(part: str, runs: str, why: object) -> dict[str, Any]:
    return {"part": part, "runs": runs, "not_run": str(why).splitlines()[0]}


def cross_encoders(
    folder: Path, floor: dict[str, float], short: bool, parts: Sequence[str]
) -> list[dict[str, Any]]:
    """Return how long pairs take, by what runs the model, on one thread and on two."""
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
            lines.append(_not_run(shapes[0][0], way, error))
    counter = CrossEncoder(converted(folder, "int8", scoring=True))
    rival = rival_judge(folder)
    if rival is None:
        lines.append(_not_run(shapes[0][0], "sentence-transformers", "not installed"))
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
    """Return the judge's scores, none of them remembered."""

    def scores(question: str, texts: list[str], threads: int) -> Sequence[float]:
        judge._known._scores.clear()
        judge._pairs._remembered.clear()
        return judge.scores(question, texts, threads)

    return scores


def stages(folder: Path) -> list[dict[str, Any]]:
    """Return what else a second stage costs: tokens of pairs, and token vectors, new and known."""
    count, mean = MIXED
    rng = random.Random(SEED)
    texts = [sentence(rng, mean - 20) for _ in range(count)]
    judge = CrossEncoder(converted(folder, "int8", scoring=True))

    def afresh() -> None:
        judge._pairs._remembered.clear()
        judge._pairs.of(QUESTION, texts)

    tokens = {
        "part": "stages",
        "runs": f"tokens of {count} pairs",
        "new_ms": percentiles(repeated(afresh, SECONDS)),
        "known_ms": percentiles(repeated(lambda: judge._pairs.of(QUESTION, texts), SECONDS)),
    }
    encoder = TokenEncoder(MODEL)
    texts = [sentence(rng, TEXT_TOKENS) for _ in range(count)]
    started = time.perf_counter()
    vectors = encoder.passages(texts)
    new = (time.perf_counter() - started) * 1000
    starts = np.cumsum([0, *map(len, vectors)])
    query, out = encoder.query(QUESTION), np.empty(count)

    def late() -> None:
        maxsim(query, np.concatenate(encoder.passages(texts)), starts, out)

    interaction = {
        "part": "stages",
        "runs": f"late interaction with {count} texts of {TEXT_TOKENS} tokens",
        "new_ms": percentiles([new]),
        "known_ms": percentiles(repeated(late, SECONDS)),
        "bytes_per_text": int(np.mean([each.nbytes for each in vectors])),
    }
    return [tokens, interaction]


def rival_judge(folder: Path) -> Callable[[str, list[str], int], Sequence[float]] | None:
    if importlib.util.find_spec("sentence_transformers") is None:
        return None
    import sentence_transformers
    import torch

    model = sentence_transformers.CrossEncoder(str(folder), device="cpu")

    def scores(question: str, texts: list[str], threads: int) -> Sequence[float]:
        torch.set_num_threads(threads)
        pairs = [(question, text) for text in texts]
        return model.predict(pairs, batch_size=32, show_progress_bar=False)

    return scores


def flops(tokens: int, size: int = 384, wide: int = 1536, layers: int = 6) -> float:
    """Return the floating-point operations of MiniLM on one text.

    Of a layer and token: 2 (4 D^2 + 2 D W) in the linears, 4 D L in attention over L tokens.
    """
    linears = 2 * (4 * size**2 + 2 * size * wide)
    return float(layers * tokens * (linears + 4 * size * tokens))


def sentence(rng: random.Random, tokens: int) -> str:
    """Return a text of so many tokens, the two special ones included: each word is one."""
    return " ".join(rng.choices(WORDS, k=max(1, tokens - 2)))


def repeated(
    run: Callable[[], object], seconds: float, least: int = 5, warm: bool = True
) -> list[float]:
    """Return the milliseconds of runs, repeated for so long, after one that warms up."""
    return timed(run, seconds, least, warm)[0]


def timed(
    run: Callable[[], object], seconds: float, least: int = 5, warm: bool = True
) -> tuple[list[float], list[float]]:
    """Return the milliseconds of runs as `repeated` does, and those of the CPU, all threads'.

    On one thread the two are the same where nothing else runs; elsewhere the CPU's tell more.
    """
    if warm:
        run()
    taken: list[float] = []
    spent: list[float] = []
    while len(taken) < least or sum(taken) < seconds * 1000:
        began, started = time.process_time(), time.perf_counter()
        run()
        taken.append((time.perf_counter() - started) * 1000)
        spent.append((time.process_time() - began) * 1000)
    return taken, spent


def random_judge(folder: Path) -> Path:
    """Write MiniLM's encoder with a seeded random classifier on it; return its folder."""
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
