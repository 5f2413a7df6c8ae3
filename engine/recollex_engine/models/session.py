"""Opening onnxruntime sessions and tokenizers; both libraries are imported on first use."""

import os
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from recollex_engine.errors import ModelError
from recollex_engine.models.libraries import library


class Session(Protocol):
    """Runs a graph. Threads: any number may call at once."""

    def run(self, outputs: None, inputs: dict[str, npt.NDArray[np.int64]], /) -> list[Any]:
        """Return the graph's outputs, arrays whose first axis is the batch."""

    def get_inputs(self) -> list[Any]:
        """Return the graph's inputs, which have a ``name``."""


def open_session(model: Path | bytes) -> Any:
    """Return an onnxruntime session that computes only on its caller's thread.

    One thread a run: many runs share a machine without waiting for each other, and sums are always
    in the same order.

    Raises:
        ModelError: onnxruntime refuses the graph.

    """
    onnxruntime = library("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.use_deterministic_compute = True
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    source = os.fspath(model) if isinstance(model, Path) else model
    try:
        return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors share no base but Exception
        raise ModelError(f"onnxruntime cannot load the model: {error}") from error


def open_tokenizer(model: Path | str, path: Path | None = None) -> Any:
    """Return the tokenizer in file ``model``, or in its text ``model`` that was read from ``path``.

    Raises:
        ModelError: tokenizers cannot read it.

    """
    import tokenizers

    try:
        if isinstance(model, Path):
            return tokenizers.Tokenizer.from_file(os.fspath(model))
        return tokenizers.Tokenizer.from_str(model)
    except Exception as error:  # tokenizers raises Exception itself
        path = model if isinstance(model, Path) else path
        raise ModelError(
            f"{path or 'tokenizer.json'}: tokenizers cannot read it: {error}; fetch it again: "
            "hf download OWNER/NAME tokenizer.json --local-dir FOLDER"
        ) from error
