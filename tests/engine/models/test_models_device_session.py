"""The path of a GPU, taken on a CPU: buckets, bound buffers, fallback. No GPU is needed."""

import random
import threading
import types
import warnings

import numpy as np
import pytest

from recollex_engine.errors import ModelError
from recollex_engine.models import device_session as module
from recollex_engine.models.convert import converted
from recollex_engine.models.device_session import BATCHES, LENGTHS, DeviceSession, bucket
from recollex_engine.models.encoder import load_encoder
from recollex_engine.models.session import library, open_session

onnxruntime = library("onnxruntime")
CPU = "CPUExecutionProvider"
WORDS = ["ann", "bob", "the", "cat", "sat", "moved", "to", "oslo", "rain", ".", ",", "?", "what"]


LONGEST = 64


def on_the_cpu(model, longest=LONGEST, warm=True):
    return DeviceSession(model, longest, CPU, "cpu", warm)


@pytest.fixture
def half(tmp_path, make_model):
    return converted(make_model(tmp_path / "tiny"), "fp16").folder / "model.onnx"


@pytest.fixture
def fp16(tmp_path, make_model, monkeypatch):
    """The fp16 encoder as it is on a GPU, but for the device."""
    monkeypatch.setattr(module, "open_device", on_the_cpu)
    return load_encoder(make_model(tmp_path / "tiny"), "fp16")


def sentences(count, seed=3):
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(0, 30))) for _ in range(count)]


def test_a_bucket_is_the_least_that_holds_it():
    for sizes in (BATCHES, LENGTHS):
        for size in range(1, sizes[-1] + 1):
            found = bucket(size, sizes)
            assert found >= size
            assert not any(size <= each < found for each in sizes)
    assert bucket(600, LENGTHS) == 600


def test_padding_to_a_bucket_changes_next_to_nothing(half):
    padded, plain = on_the_cpu(half), open_session(half)
    rng = np.random.default_rng(5)
    for batch, length in ((1, 3), (5, 16), (9, 33), (64, 20), (70, 60)):
        ids = rng.integers(5, 40, (batch, length))
        mask = (np.arange(length) < rng.integers(1, length + 1, (batch, 1))).astype(np.int64)
        inputs = {"input_ids": ids, "attention_mask": mask}
        (found,), (expected,) = padded.run(None, inputs), plain.run(None, inputs)
        assert found.shape == expected.shape == (batch, 32)
        assert found.dtype == np.float32
        assert np.abs(found - expected).max() <= 2e-3


def test_buffers_are_bound_once_a_bucket_and_never_mixed_up(half):
    session = on_the_cpu(half, warm=False)
    first = {name: np.full((2, 9), 6, np.int64) for name in ("input_ids", "attention_mask")}
    first["attention_mask"][:] = 1
    (before,) = session.run(None, first)
    kept = before.copy()
    session.run(None, {**first, "input_ids": np.full((2, 9), 9, np.int64)})
    assert len(session._bound) == 1
    assert before.tobytes() == kept.tobytes()  # not a view of a buffer that is used again
    assert session.run(None, first)[0].tobytes() == kept.tobytes()


def test_fp16_is_near_fp32_and_company_changes_little(fp16, tmp_path):
    exact = load_encoder(tmp_path / "tiny", "fp32")
    texts = sentences(80)
    vectors = fp16.embed(texts)
    assert np.abs(vectors - exact.embed(texts)).max() < 1e-2
    alone = np.array([fp16.embed([text])[0] for text in texts])
    shuffled = random.Random(5).sample(range(len(texts)), len(texts))
    again = fp16.embed([texts[n] for n in shuffled])
    assert np.abs(alone - vectors).max() <= 2e-3
    assert np.abs(again - vectors[shuffled]).max() <= 2e-3
    assert "-fp16-" in fp16.fingerprint


def test_threads_share_the_session_and_get_their_own_answers(fp16):
    texts = sentences(24, seed=9)
    expected = {text: fp16._embed_query(text)[0] for text in texts}
    found = {}

    def ask(mine):
        for text in mine:
            found[text] = fp16._embed_query(text)[0]

    threads = [threading.Thread(target=ask, args=(texts[n::6],)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(np.abs(found[text] - expected[text]).max() for text in texts) <= 2e-3


def test_without_the_provider_the_cpu_runs_it_after_a_warning_that_names_the_cause(half):
    with pytest.warns(
        RuntimeWarning,
        match=r"(?s)no CUDAExecutionProvider, only .*'onnxruntime-gpu\[cuda,cudnn\]'",
    ):
        session = module.open_device(half, LONGEST)
    assert not isinstance(session, DeviceSession)
    ones = np.ones((1, 5), np.int64)
    assert session.run(None, {"input_ids": ones, "attention_mask": ones})[0].shape == (1, 32)


def test_without_a_driver_the_cpu_runs_it(half, monkeypatch):
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CUDAExecutionProvider"])
    monkeypatch.setattr(module, "is_gpu_here", lambda: False)
    with pytest.warns(RuntimeWarning, match="there is no GPU, or no driver for it"):
        assert not isinstance(module.open_device(half, LONGEST), DeviceSession)


def fake_runtime(monkeypatch, make_session):
    monkeypatch.setattr(module, "is_gpu_here", lambda: True)
    monkeypatch.setattr(
        onnxruntime, "get_available_providers", lambda: ["CUDAExecutionProvider", CPU]
    )
    real = onnxruntime.InferenceSession

    def session(source, options, providers):
        if providers == [CPU]:
            return real(source, options, providers=providers)
        return make_session(real, source, options, providers)

    monkeypatch.setattr(onnxruntime, "InferenceSession", session)


def test_a_provider_that_is_listed_but_does_not_start_is_a_warning(half, monkeypatch, capsys):
    asked = []

    def make(real, source, options, providers):
        asked.extend(providers)
        return types.SimpleNamespace(get_providers=lambda: [CPU])

    fake_runtime(monkeypatch, make)
    monkeypatch.setattr(
        onnxruntime, "preload_dlls", lambda: print("Failed to load libcublas.so.13")
    )
    said = r"(?s)did not start: its libraries.*\n  Failed to load libcublas.so.13\n.*pip install"
    with pytest.warns(RuntimeWarning, match=said):
        assert not isinstance(module.open_device(half, LONGEST), DeviceSession)
    assert asked == [("CUDAExecutionProvider", {"enable_cuda_graph": "1"})]
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("able", "failure", "devices", "expected"),
    [(True, 0, 1, True), (True, 0, 0, False), (True, 100, 1, False), (False, 0, 1, False)],
)
def test_a_gpu_is_here_if_the_driver_counts_one(monkeypatch, able, failure, devices, expected):
    class Driver:
        def __init__(self, name):
            assert name == "libcuda.so.1"

        def cuInit(self, flags):  # noqa: N802
            return failure

        def cuDeviceGetCount(self, count):  # noqa: N802
            count._obj.value = devices
            return 0

    providers = ["CUDAExecutionProvider"] * able + [CPU]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: providers)
    monkeypatch.setattr(module.ctypes, "CDLL", Driver)
    assert module.is_gpu_here() is expected


def test_a_gpu_is_not_here_without_a_driver(monkeypatch):
    def missing(name):
        raise OSError(name)

    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CUDAExecutionProvider"])
    monkeypatch.setattr(module.ctypes, "CDLL", missing)
    assert not module.is_gpu_here()


def test_a_device_that_fails_is_a_warning_with_what_it_said(half, monkeypatch):
    def make(real, source, options, providers):
        raise RuntimeError("CUDA failure 2: out of memory")

    fake_runtime(monkeypatch, make)
    with pytest.warns(RuntimeWarning, match="out of memory"):
        module.open_device(half, LONGEST)
    with pytest.raises(ModelError, match="out of memory"):
        DeviceSession(half, LONGEST)


def test_each_bucket_has_its_own_cuda_graph(half, monkeypatch):
    graphs = []

    class Session:
        """A CUDA session, but for the device."""

        def __init__(self, real, source, options):
            self.real = real(source, options, providers=[CPU])

        def get_providers(self):
            return ["CUDAExecutionProvider", CPU]

        def run_with_iobinding(self, binding, options):
            graphs.append(options.get_run_config_entry("gpu_graph_id"))
            self.real.run_with_iobinding(binding, None)

        def __getattr__(self, name):
            return getattr(self.real, name)

    fake_runtime(monkeypatch, lambda real, source, options, _: Session(real, source, options))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        session = DeviceSession(half, LONGEST, device="cpu")
    ones = np.ones((1, 5), np.int64)
    for _ in range(2):
        session.run(None, {"input_ids": ones, "attention_mask": ones})
    assert graphs == ["1", "2", "3", "3", "1", "1"]  # four warm-ups; two of them are cut to 64
