"""A half-precision graph on a GPU: one session for all threads, fixed shapes, bound buffers.

A run is padded to a bucket, a fixed (batch, length), whose buffers stay on the device. So nothing
is allocated, and a CUDA graph, captured at a bucket's first run, replays all kernels with one call.
"""

import contextlib
import ctypes
import io
import os
import threading
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine import fork
from recollex_engine.errors import ModelError
from recollex_engine.models.session import Session, library, open_session


# Running a float graph by OpenVINO in bf16, on a CPU that supports bf16 (AMX, AVX-512).
@dataclass(frozen=True, slots=True)
class _Input:
    name: str


class OpenVinoSession:
    """A compiled graph: a run computes on one thread; as many run at once as there are cores.

    Threads: any number may call at once; each thread has its own request.
    """

    def __init__(self, model: Path, precision: str = "bf16") -> None:
        try:
            openvino = library("openvino")
        except ImportError as error:
            raise ModelError(
                f"bf16 runs on OpenVINO, which cannot be imported ({error}): type\n"
                "  pip install 'recollex[openvino]'"
            ) from error
        core = openvino.Core()
        able = core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        if precision.upper() not in able:
            raise ModelError(
                f"this CPU does not multiply {precision}, only {', '.join(sorted(able))}: "
                "use precision='int8'"
            )
        cores = os.cpu_count() or 1
        try:
            self._model = core.compile_model(
                core.read_model(os.fspath(model)),
                "CPU",
                {
                    "INFERENCE_PRECISION_HINT": precision,
                    "INFERENCE_NUM_THREADS": cores,
                    "NUM_STREAMS": cores,  # so each stream has one thread
                    "ENABLE_CPU_PINNING": False,
                },
            )
        except RuntimeError as error:
            raise ModelError(f"OpenVINO cannot load {model}: {error}") from error
        self._inputs = [_Input(port.get_any_name()) for port in self._model.inputs]
        self._own = threading.local()

    def get_inputs(self) -> list[_Input]:
        """Return the graph's inputs, which have a ``name``."""
        return self._inputs

    def run(self, outputs: None, inputs: dict[str, npt.NDArray[np.int64]], /) -> list[Any]:
        """Return the graph's outputs."""
        request = getattr(self._own, "request", None)
        if request is None:
            request = self._own.request = self._model.create_infer_request()
        found = request.infer(inputs, share_inputs=True)
        return [np.array(found[port]) for port in self._model.outputs]


CUDA = "CUDAExecutionProvider"
INSTALL = (
    "  pip uninstall -y onnxruntime onnxruntime-gpu && pip install 'onnxruntime-gpu[cuda,cudnn]'"
)
"""What to type for a GPU. The packages have the same files, so the last one installed is used; an
extra of ours would install both, in an order of pip's choice."""
BATCHES = (1, 8, 16, 32, 64, 128)
LENGTHS = (16, 32, 48, 64, 96, 128, 192, 256, 384, 512)
WARM = ((1, 16), (1, 32), (128, 64), (128, 128))
"""Buckets that are captured when a session opens: for a question, and a recall's candidates."""

Ints = npt.NDArray[np.int64]


def bucket(size: int, sizes: tuple[int, ...]) -> int:
    """Return the least of ``sizes`` that is at least ``size``; ``size`` if there is none.

    >>> bucket(33, (16, 32, 48)), bucket(60, (16, 32, 48))
    (48, 60)
    """
    return next((each for each in sizes if each >= size), size)


@dataclass(frozen=True, slots=True)
class _BoundBuffers:
    """The buffers of one bucket on the device, and their binding to the graph."""

    binding: Any
    options: Any
    values: dict[str, Any]
    outputs: list[Any]


class DeviceSession:
    """A graph on a device, for texts of at most ``longest`` tokens.

    ``provider`` "CPUExecutionProvider" with ``device`` "cpu" uses the same code without a GPU.
    ``warm``: whether the buckets of `WARM` are captured at once.

    Threads: any number may call; runs happen one after another, as on the device.
    """

    def __init__(
        self,
        model: Path,
        longest: int,
        provider: str = CUDA,
        device: str = "cuda",
        warm: bool = True,
    ) -> None:
        onnxruntime = self._runtime = library("onnxruntime")
        self._device = device
        self._graphs = provider == CUDA
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        settings = {"enable_cuda_graph": "1"} if self._graphs else {}
        missing = _load_libraries(onnxruntime) if self._graphs else ""
        try:
            self._session = onnxruntime.InferenceSession(
                os.fspath(model), options, providers=[(provider, settings)]
            )
        except Exception as error:  # onnxruntime's errors share no base but Exception
            raise ModelError(f"{provider} cannot load {model}: {error}") from error
        if self._session.get_providers()[0] != provider:
            raise ModelError(
                f"{provider} did not start: its libraries are missing, or too new for the driver"
                f"{missing}\nThis brings the libraries:\n{INSTALL}"
            )
        self._lengths = (*(each for each in LENGTHS if each < longest), longest)
        self._bound: dict[tuple[int, int], _BoundBuffers] = {}
        self._running = fork.lock()
        if warm:
            names = [part.name for part in self.get_inputs()]
            for batch, length in WARM:
                ones = np.ones((batch, min(length, longest)), np.int64)
                self.run(None, dict.fromkeys(names, ones))

    def get_inputs(self) -> list[Any]:
        """Return the graph's inputs, which have a ``name``."""
        inputs: list[Any] = self._session.get_inputs()
        return inputs

    def run(self, outputs: None, inputs: dict[str, Ints], /) -> list[Any]:
        """Return the graph's outputs, float32, without the padding."""
        batch, length = next(iter(inputs.values())).shape
        shape = bucket(batch, BATCHES), bucket(length, self._lengths)
        padded = {name: _padded(name, value, shape) for name, value in inputs.items()}
        with self._running:
            bound = self._bound.get(shape)
            if bound is None:
                bound = self._bound[shape] = self._bind(padded, shape)
            for name, value in padded.items():
                bound.values[name].update_inplace(value)
            self._session.run_with_iobinding(bound.binding, bound.options)
            return [value.numpy()[:batch].copy() for value in bound.outputs]

    def _bind(self, padded: dict[str, Ints], shape: tuple[int, int]) -> _BoundBuffers:
        value_of = self._runtime.OrtValue
        binding = self._session.io_binding()
        values = {
            name: value_of.ortvalue_from_numpy(value, self._device, 0)
            for name, value in padded.items()
        }
        for name, value in values.items():
            binding.bind_ortvalue_input(name, value)
        outputs = []
        for part in self._session.get_outputs():
            whole = [shape[0], *part.shape[1:]]
            output = value_of.ortvalue_from_shape_and_type(whole, np.float32, self._device, 0)
            binding.bind_ortvalue_output(part.name, output)
            outputs.append(output)
        options = self._runtime.RunOptions()
        if self._graphs:
            options.add_run_config_entry("gpu_graph_id", str(len(self._bound) + 1))
        return _BoundBuffers(binding, options, values, outputs)


def is_gpu_here() -> bool:
    """Return whether onnxruntime has been built for CUDA, and its driver sees a GPU."""
    onnxruntime = library("onnxruntime")
    if CUDA not in onnxruntime.get_available_providers():
        return False
    try:
        driver = ctypes.CDLL("nvcuda.dll" if os.name == "nt" else "libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    failed = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    return not failed and count.value > 0


def open_device(model: Path, longest: int) -> Session:
    """Return the graph on the GPU, or on the CPU after a warning that names the cause.

    On the CPU the same graph runs: results differ only by rounding, and take longer.
    """
    onnxruntime = library("onnxruntime")
    able = onnxruntime.get_available_providers()
    try:
        if CUDA not in able:
            raise ModelError(
                f"this onnxruntime has no {CUDA}, only {', '.join(able)}: type\n{INSTALL}"
            )
        if not is_gpu_here():
            raise ModelError("there is no GPU, or no driver for it")
        return DeviceSession(model, longest)
    except ModelError as error:
        warnings.warn(
            f"fp16 runs on the CPU, slower than int8 would: {error}", RuntimeWarning, stacklevel=2
        )
    session: Session = open_session(model)
    return session


def _load_libraries(runtime: Any) -> str:
    """Load CUDA's libraries from their Python packages; return what could not be loaded.

    Without this only libraries that the system's linker knows are found. onnxruntime has it since
    1.21.
    """
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        getattr(runtime, "preload_dlls", lambda: None)()
    return "".join(f"\n  {line}" for line in said.getvalue().splitlines())


def _padded(name: str, value: Ints, shape: tuple[int, int]) -> Ints:
    """Return ``value`` padded to the bucket's shape; no row is masked completely."""
    padded = np.zeros(shape, np.int64)
    if name == "attention_mask":
        padded[len(value) :, 0] = 1
    padded[: value.shape[0], : value.shape[1]] = value
    return padded
