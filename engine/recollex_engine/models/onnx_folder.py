"""A folder with a ready ONNX graph of a cross-encoder, which is run without conversion.

::

    model.onnx         or onnx/model.onnx, as on model hubs; input_ids int64[batch, length] and
                       perhaps attention_mask and token_type_ids -> one number a pair
    tokenizer.json
    config.json        optional: max_position_embeddings
"""

from pathlib import Path

from recollex_engine.errors import ModelError
from recollex_engine.models.convert import Converted
from recollex_engine.models.description import ModelDescription, read_json
from recollex_engine.models.weights import WEIGHTS_FILE, sha256_of

_LONGEST = 512
_GRAPHS = ("model.onnx", "onnx/model.onnx")


def read_onnx_folder(folder: Path) -> Converted | None:
    """Return the model whose graph is in ``folder``; None if there are weights, or no graph.

    The model reads at most 512 tokens, and at most its number of positions minus two, because some
    families reserve two.

    Raises:
        ModelError: the folder has a graph but no tokenizer, or config.json cannot be read.

    """
    if (folder / WEIGHTS_FILE).exists():
        return None
    graph = next((folder / name for name in _GRAPHS if (folder / name).is_file()), None)
    if graph is None:
        return None
    if not (folder / "tokenizer.json").is_file():
        raise ModelError(f"{folder} has a graph, {graph.name}, and no tokenizer.json beside it")
    positions = _LONGEST
    if (folder / "config.json").is_file():
        said = read_json(folder / "config.json").get("max_position_embeddings")
        positions = said - 2 if isinstance(said, int) and said > 2 else positions
    name = folder.resolve().name
    description = ModelDescription(
        name=name,
        repository=name,
        dimension=0,
        pooling="score",
        normalise=False,
        max_length=min(positions, _LONGEST),
    )
    fingerprint = f"{name}@{sha256_of(graph)[:12]}-onnx"
    return Converted(folder, description, fingerprint, graph)
