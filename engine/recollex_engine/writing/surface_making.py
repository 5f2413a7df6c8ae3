"""Where does a surface get its words and its vector? From the analyzer and the embedding model.

Surfaces of operations that record something new are made before the writer's lock is taken. Of an
operation that changes a recorded version the text depends on that version, so the surface is made
under the lock, unless the same text was made before.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from recollex_engine.domain import operations as say
from recollex_engine.domain.fact_schema import SURFACE_KINDS
from recollex_engine.domain.intervals import check_interval
from recollex_engine.domain.literals import to_record
from recollex_engine.domain.surfaces import (
    EVENTS,
    FACTS,
    PHRASES,
    SURFACE,
    surface_of,
)
from recollex_engine.log.format import encode_bytes
from recollex_engine.models.embedder import Embedder, EmbeddingProgress, embed_all, makes_vectors
from recollex_engine.state.columns import Columns
from recollex_engine.text.analyzer import Analyzer
from recollex_engine.writing.draft import Draft
from recollex_engine.writing.fact_staging import content_of, edges_of
from recollex_engine.writing.phrase_making import has_name, lacks_phrase, phrase_surfaces

MISSING = 256
"""The most missing surfaces that one transaction adds."""


class SurfaceMaker:
    """Makes surfaces, each text once. Without a model (`GivenVectors`) they have words alone.

    Threads: one at a time.
    """

    def __init__(self, embedder: Embedder, analyzer: Analyzer, threads: int) -> None:
        self._embedder = embedder
        self._analyzer = analyzer
        self._threads = threads
        self._made: dict[str, dict[str, Any]] = {}

    def make(self, texts: Iterable[str], progress: EmbeddingProgress | None = None) -> None:
        """Make the surfaces of texts, in one batch. Raises the errors of the model."""
        new = [text for text in dict.fromkeys(texts) if text not in self._made]
        if not new:
            return
        made = [self.plain((text,)) for text in new]
        if makes_vectors(self._embedder):
            vectors = embed_all(self._embedder, new, self._threads, progress).astype("<f2")
            for surface, vector in zip(made, vectors, strict=True):
                surface["vector"] = encode_bytes(vector.tobytes()).decode()
        self._made.update(zip(new, made, strict=True))

    def of(self, text: str) -> dict[str, Any]:
        """Return a surface as a record of the log holds it; its text was given to `make`."""
        return self._made[text]

    def plain(self, parts: Sequence[str]) -> dict[str, Any]:
        """Return a surface of words alone, those of the parts of a text."""
        return {"words": self._analyzer.words(parts)}

    def complete(self, draft: Draft, missing: Sequence[tuple[str, int]]) -> None:
        """Put the surfaces of a draft into its payloads, and add those of ``missing`` versions.

        Does nothing for a draft without facts and events, and if no surface lacks a vector.
        """
        if draft.tells and (draft.surfaces or missing):
            older = [text_of_version(draft.columns, *version) for version in missing]
            told = [surface_of(kind, payload) for payload, kind in draft.surfaces]
            self.make([*told, *older])
            for (payload, _), text in zip(draft.surfaces, told, strict=True):
                payload[SURFACE] = self.of(text)
            self._add_phrases(draft)
            self.add_missing(draft, [each for each in missing if each[1] not in draft.phrases])

    def _add_phrases(self, draft: Draft) -> None:
        """Put surfaces with vectors into the payloads of the facts that name phrases first."""
        names = {entity: name for entity, (name, _, embed) in draft.phrases.items() if embed}
        self.make(names.values())
        surfaces = {entity: (name, self.of(name)) for entity, name in names.items()}
        for phrase in phrase_surfaces(draft.columns, surfaces):
            payload = draft.phrases[phrase["version"]][1]
            payload.setdefault(PHRASES, []).append(phrase)

    def add_missing(self, draft: Draft, missing: Sequence[tuple[str, int]]) -> None:
        """Add the surfaces of recorded versions, given as (table, version), to a draft."""
        columns = draft.columns
        named: dict[int, tuple[str, dict[str, Any]]] = {}
        for kind, version in missing:
            text = text_of_version(columns, kind, version)
            self.make([text])
            if kind == "entity":
                named[version] = text, self.of(text)
                continue
            draft.operations.append((SURFACE, {"of": kind, "version": version, **self.of(text)}))
        for phrase in phrase_surfaces(columns, named):
            draft.operations.append((SURFACE, {"of": "entity", **phrase}))


def expected_texts(columns: Columns | None, operations: Sequence[say.Operation]) -> list[str]:
    """Return the texts of the surfaces with vectors that operations with new ids will need.

    ``columns``: None for an agent that holds nothing yet.
    """
    found: list[str] = []
    for operation in operations:
        if isinstance(operation, say.UpsertEdge):
            if not operation.embed:
                continue
            found += _new_phrases(columns, operation)
            kind = FACTS[0]
            table = SURFACE_KINDS[0]
        elif isinstance(operation, say.UpsertEvent | say.UpsertEpisode):
            kind = EVENTS[isinstance(operation, say.UpsertEpisode)]
            table = SURFACE_KINDS[1]
        else:
            continue
        if columns is None or columns.dictionary[f"{table}_ids"].get(operation.id) is None:
            found.append(surface_of(kind, _content(operation)))
    return found


def _new_phrases(columns: Columns | None, operation: say.UpsertEdge) -> Iterator[str]:
    """Yield the names of a fact's entities that have no surface yet."""
    for name in (operation.subject, operation.object):
        if isinstance(name, str):
            entity = None if columns is None else columns.entity(name, columns.op)
            if columns is None or entity is None or lacks_phrase(columns, entity):
                yield name


def _content(operation: say.UpsertEdge | say.UpsertEvent | say.UpsertEpisode) -> dict[str, Any]:
    """Return what `surface_of` reads of the record that an operation will make."""
    if isinstance(operation, say.UpsertEdge):
        record = to_record(operation.object)
        return {
            "subject": [operation.subject],
            "predicate": operation.predicate,
            "object": {"entity": [record["entity"]]} if "entity" in record else record,
            "valid": check_interval(operation.start, operation.end, "valid"),
        }
    span = check_interval(operation.start, operation.end, "time_span")
    if isinstance(operation, say.UpsertEpisode):
        return {"summary": operation.title, "edges": (), "span": span}
    edges = [("has_participant", [name], role) for name, role in operation.participants]
    return {"summary": operation.summary, "edges": edges, "span": span}


def text_of_version(columns: Columns, kind: str, version: int) -> str:
    """Return the text of the surface of a recorded version, or the name of an entity."""
    if kind == "entity":
        return columns.entity_name(version)
    if kind == "fact":
        return surface_of(FACTS[0], content_of(columns, version))
    array = columns.array
    edges = [
        (relation, [columns.entity_name(target), target], role)
        for relation, target, role in edges_of(columns, int(array("event_id")[version]), version)
        if relation == "has_participant"
    ]
    content = {
        "summary": columns.label(int(array("event_summary")[version])),
        "edges": edges,
        "span": (int(array("span_start")[version]), int(array("span_end")[version])),
    }
    return surface_of(EVENTS[0], content)


def lacking(columns: Columns, most: int | None = MISSING) -> list[tuple[str, int]]:
    """Return the newest ``most`` versions that have no surface; None for all.

    A move to another model drops all surfaces, and an erasure those of names that other facts have
    too. Until the next of these there are no others.
    """
    surfaces = columns.surfaces
    if surfaces.are_whole:
        return []
    found = [
        (kind, number)
        for kind, number in surfaces.missing(columns.dictionary["labels"])
        if kind != "entity" or has_name(columns, number)
    ]
    surfaces.are_whole = not found
    return found if most is None else found[-most:]
