"""Running a float graph by OpenVINO in bf16, on a CPU that supports bf16 (AMX, AVX-512)."""

import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.errors import ModelError
from recollex_engine.models.libraries import library


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
