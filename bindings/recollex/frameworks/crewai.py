"""CrewAI: a `StorageBackend` whose records are memories of an agent.

Needs ``pip install 'recollex[crewai]'``.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from recollex.frameworks.adapter_calls import EACH, padded
from recollex_engine.domain.question import MAX_BUDGET, MAX_LIMIT
from recollex_engine.ranking.fusion import ReciprocalRank

try:
    from crewai.memory.types import MemoryRecord, ScopeInfo
except ImportError as error:
    raise ImportError(
        "recollex.frameworks.crewai needs crewai: pip install 'recollex[crewai]'"
    ) from error

BY_VECTOR = replace(EACH, arms=("semantic",), fusion=ReciprocalRank())
"""The order of the cosine alone: CrewAI weighs it with time and importance itself."""
RECORD = "record"
"""The name in a memory's metadata of the record's own fields."""


class RecollexStorage:
    """The records of CrewAI's memory: `Memory(storage=RecollexStorage(agent))`.

    agent: of `recollex.open` or `recollex.connect`, from a store that was opened with
    `recollex.GivenVectors` of the dimension of CrewAI's embedder, or of the next multiple of 8.

    A search compares vectors alone, since CrewAI gives no text; its score is the cosine, at least
    0. A scope is found by tags, so that counts, scopes and categories are read without a record.
    Records are listed in the order in which they were saved, the newest first. A record that is
    saved again under its id replaces the former, which stays in ``agent.history``.

    >>> import recollex, tempfile
    >>> opened = recollex.open(tempfile.mkdtemp(), embedder=recollex.GivenVectors(8))
    >>> storage = RecollexStorage(opened.agent("crew"))
    >>> storage.save([MemoryRecord(content="Ann rows.", scope="/people", embedding=[1.0, 0.0])])
    >>> [(record.content, score) for record, score in storage.search([1.0, 0.0])]
    [('Ann rows.', 1.0)]
    >>> storage.list_scopes("/")
    ['/people']
    """

    def __init__(self, agent: Any) -> None:
        self.agent: Any = agent

    def save(self, records: Sequence[MemoryRecord]) -> None:
        """Retain records; those with the same id are replaced."""
        given = list({record.id: record for record in records}.values())
        with_vectors = [each for each in given if each.embedding]
        for group in (with_vectors, [each for each in given if not each.embedding]):
            if group:
                fields = [_fields(record) for record in group]
                named: dict[str, Any] = {
                    name: [each[name] for each in fields] for name in fields[0]
                }
                if group is with_vectors:
                    named["embedding"] = padded([each.embedding for each in group])
                self.agent.retain_many(**named)

    def search(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """Return the records nearest to a vector, with their cosines."""
        if limit < 1:
            return []
        found = self.agent.recall(
            ".",
            query_embedding=padded([query_embedding])[0],
            limit=limit,
            max_tokens=None,
            thinking_budget=max(100, min(limit, MAX_BUDGET)),
            preset=BY_VECTOR,
            explain=True,
            **_filter(scope_prefix, categories, metadata_filter),
        )
        scored = [(each, max(0.0, each.scores.get("semantic", 0.0))) for each in found]
        return [(_record(each), score) for each, score in scored if score >= min_score]

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Forget the records that meet all that is given; return how many. Nothing given: all."""
        wanted = _filter(scope_prefix, categories, metadata_filter)
        if record_ids is None and older_than is None:
            return int(self.agent.forget(**wanted))
        held = self.agent.list(limit=MAX_LIMIT, **wanted)
        ids = [
            each.id
            for each in held
            if (record_ids is None or each.id in record_ids)
            and (older_than is None or _utc(_record(each).created_at) < _utc(older_than))
        ]
        return int(self.agent.forget(ids)) if ids else 0

    def update(self, record: MemoryRecord) -> None:
        """Replace a record; one without a vector keeps that of its unchanged text."""
        held = self.agent.get(record.id, None)
        if record.embedding or held is None or held.text != record.content:
            self.save([record])
        else:
            fields = _fields(record)
            changes = {"tags": fields["tags"], "metadata": fields["metadata"]}
            if (list(held.tags), dict(held.metadata)) != tuple(changes.values()):
                self.agent.amend(record.id, **changes)

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """Return a record by its id; None if there is none."""
        held = self.agent.get(record_id, None)
        return None if held is None else _record(held)

    def list_records(
        self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0
    ) -> list[MemoryRecord]:
        """Return the records of a scope, those that were saved last first."""
        if limit < 1 or offset < 0:
            return []
        found = self.agent.list(newest=True, limit=offset + limit, **_filter(scope_prefix))
        return [_record(each) for each in found[offset:]]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """Return how many records, which categories and which scopes a scope has."""
        path = _path(scope)
        wanted = _filter(scope)
        ends = [self.agent.list(newest=newest, limit=1, **wanted) for newest in (False, True)]
        times = [_record(each).created_at for each in (*ends[0], *ends[1])]
        return ScopeInfo(
            path=path,
            record_count=self.count(scope),
            categories=sorted(self.list_categories(scope)),
            oldest_record=times[0] if times else None,
            newest_record=times[-1] if times else None,
            child_scopes=self.list_scopes(scope),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        """Return the scopes immediately below one."""
        start = _path(parent).rstrip("/") + "/"
        tags = self.agent.value_counts("tags", **_filter(parent))
        below = (tag[3:] for tag in tags if tag.startswith(f"in:{start}"))
        return sorted(each for each in below if each != "/" and "/" not in each[len(start) :])

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """Return how many records of a scope each category has."""
        tags = self.agent.value_counts("tags", **_filter(scope_prefix))
        return {tag[3:]: count for tag, count in tags.items() if tag.startswith("is:")}

    def count(self, scope_prefix: str | None = None) -> int:
        """Return how many records a scope has, with the scopes below it."""
        return int(self.agent.count(**_filter(scope_prefix)))

    def reset(self, scope_prefix: str | None = None) -> None:
        """Forget the records of a scope, or all."""
        self.agent.forget(by="crewai", why="reset", **_filter(scope_prefix))

    async def asave(self, records: Sequence[MemoryRecord]) -> None:
        """Do as `save` does, in a thread."""
        await asyncio.to_thread(self.save, records)

    async def asearch(
        self, query_embedding: list[float], *args: Any, **options: Any
    ) -> list[tuple[MemoryRecord, float]]:
        """Do as `search` does, in a thread."""
        return await asyncio.to_thread(self.search, query_embedding, *args, **options)

    async def adelete(self, *args: Any, **options: Any) -> int:
        """Do as `delete` does, in a thread."""
        return await asyncio.to_thread(self.delete, *args, **options)


def _utc(moment: datetime) -> datetime:
    """Return a time with its zone; one without is UTC, as CrewAI's own are."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _path(scope: str | None) -> str:
    """Return a scope with a slash before it and none after it; "/" is the root."""
    return "/" + (scope or "").strip("/")


def _filter(
    scope: str | None,
    categories: Sequence[str] | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    where = {
        f"own.{name}": {"eq": value, "exists": True} for name, value in (metadata or {}).items()
    }
    return {
        "tags": [f"in:{_path(scope)}"],
        "any_tags": [f"is:{each}" for each in categories or ()],
        "where": where or None,
    }


def _fields(record: MemoryRecord) -> dict[str, Any]:
    """Return the options of `retain_many` for a record."""
    path = _path(record.scope)
    parts = path.split("/")
    above = {"/".join(parts[:n]) or "/" for n in range(1, len(parts) + 1)}
    tags = [f"in:{each}" for each in above] + [f"is:{each}" for each in set(record.categories)]
    own = record.model_dump(mode="json", exclude={"id", "content", "metadata", "embedding"})
    return {
        "texts": record.content,
        "id": record.id,
        "event_at": _utc(record.created_at),
        "tags": sorted(tags),
        "metadata": {f"own.{name}": each for name, each in record.metadata.items()} | {RECORD: own},
    }


def _record(memory: Any) -> MemoryRecord:
    metadata = {
        name.removeprefix("own."): value
        for name, value in memory.metadata.items()
        if name.startswith("own.")
    }
    own = memory.metadata[RECORD]
    return MemoryRecord(id=memory.id, content=memory.text, metadata=metadata, **own)
