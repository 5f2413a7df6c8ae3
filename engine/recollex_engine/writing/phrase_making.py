"""The surfaces of phrases: the names of entities that facts name, and their synonyms (REMem 3.1).

A phrase gets its surface in the transaction of the first fact that names it, and the links to
phrases that were there and whose names are similar: `SYNONYMY` or more, at most `LIMIT`. They are
recorded, as the links of memories are, so a replay repeats them. Without a model, or if that fact
is not embedded, a phrase has words alone, and no synonyms.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.fact_schema import SURFACE_KINDS
from recollex_engine.domain.gists import SYNONYMY
from recollex_engine.domain.schema import PLACEHOLDER
from recollex_engine.facts.surface_vectors import SurfaceVectors
from recollex_engine.log.format import decode_bytes
from recollex_engine.state.column_set import NONE
from recollex_engine.state.columns import Columns
from recollex_engine.storage.column import read_only

LIMIT = 5
"""The most synonyms of a phrase among earlier ones."""
_TOGETHER = 512
"""New phrases that are compared with each other at once."""

Synonyms = list[tuple[int, float]]


def lacks_phrase(columns: Columns, entity: int) -> bool:
    """Return whether an entity never had a surface, and has a name."""
    return columns.facts.head("phrase_entity", entity) == NONE and has_name(columns, entity)


def has_name(columns: Columns, entity: int) -> bool:
    """Return whether an entity is new, or has a name that was not erased."""
    return entity >= columns.entities or not columns.entity_name(entity).startswith(PLACEHOLDER)


def phrase_surfaces(
    columns: Columns, named: Mapping[int, tuple[str, Mapping[str, Any]]]
) -> list[dict[str, Any]]:
    """Return the surfaces of phrases, as records of the log hold them, with their synonyms.

    named: entity -> its name and surface. Those that had a surface before, of another model, keep
    the synonyms that they have.
    """
    phrases: list[dict[str, Any]] = [
        {"version": entity, "name": name, **surface} for entity, (name, surface) in named.items()
    ]
    new = [each for each in phrases if "vector" in each and lacks_phrase(columns, each["version"])]
    if new:
        written = b"".join(decode_bytes(each["vector"].encode()) for each in new)
        vectors = np.frombuffer(written, "<f2").reshape(len(new), -1).astype(np.float32)
        entities = [each["version"] for each in new]
        for phrase, found in zip(new, _synonyms(columns, vectors, entities), strict=True):
            if found:
                phrase["synonyms"] = [(other, round(weight, 4)) for other, weight in found]
    return phrases


def _synonyms(
    columns: Columns, new: npt.NDArray[np.float32], entities: Sequence[int]
) -> list[Synonyms]:
    """Return the best earlier phrases of each new one, of those recorded and those before it."""
    found = _recorded(columns, read_only(new))
    for first in range(0, len(new), _TOGETHER):
        part = new[first : first + _TOGETHER]
        near = part @ new[: first + len(part)].T
        for place, other in np.argwhere(near >= SYNONYMY).tolist():
            if other < first + place:
                found[first + place][entities[other]] = float(near[place, other])
    return [
        sorted(
            ((other, weight) for other, weight in each.items() if other != own),
            key=lambda link: (-link[1], link[0]),
        )[:LIMIT]
        for own, each in zip(entities, found, strict=True)
    ]


def _recorded(columns: Columns, new: npt.NDArray[np.float32]) -> list[dict[int, float]]:
    """Return the recorded phrases that are nearest to each vector, with their similarities."""
    surfaces = columns.surfaces
    held = surfaces.rows
    version = surfaces.array("version")
    allowed = surfaces.phrases(held)
    kind = SURFACE_KINDS.index("entity")
    vectors = SurfaceVectors(surfaces, held, columns.dimension, allowed, kind, every=True)
    lists = [vectors.nearest(query, SYNONYMY, LIMIT + 1) for query in new]
    return [
        dict(zip(version[near.memories].tolist(), near.scores.tolist(), strict=True))
        for near in lists
    ]
