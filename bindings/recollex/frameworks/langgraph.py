"""LangGraph's long-term memory: a `BaseStore` whose items are memories of an agent.

Needs ``pip install 'recollex[langgraph]'``.

Which conditions on memories does a filter of LangGraph's `BaseStore` mean?
A filter maps fields of a value to values, or to dicts of `$eq`, `$ne`, `$gt`, `$gte`, `$lt` and
`$lte`. What `where` can say is asked of the agent. The rest, dicts and lists that hold dicts, which
LangGraph compares part by part, is asked of each value.
"""

import asyncio
import json
import operator
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from recollex.frameworks.adapter_calls import Rest, nearest
from recollex_engine.errors import InputError, UnknownIdError

_ORDER = {"$gt": "gt", "$gte": "ge", "$lt": "lt", "$lte": "le"}
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
_OPERATORS = ("$eq", "$ne", *_ORDER)


def read_filter(asked: Mapping[str, Any] | None) -> tuple[dict[str, Any] | None, Rest | None]:
    """Return the conditions of ``where``, and the rest; each is None if there is nothing.

    A field that no value ever had is no error: it is as if it were None.

    >>> read_filter({"kind": "mail", "n": {"$gt": 2}})[0]
    {'kind': {'eq': 'mail', 'exists': True}, 'n': {'gt': 2, 'exists': True}}
    """
    where: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for name, wanted in (asked or {}).items():
        conditions = _conditions(wanted)
        if conditions is None:
            rest[name] = wanted
        elif conditions:
            where[name] = conditions

    def holds(value: Mapping[str, Any]) -> bool:
        return all(_matches(value.get(name), wanted) for name, wanted in rest.items())

    return where or None, holds if rest else None


def _operators(wanted: Any) -> Mapping[str, Any] | None:
    """Return the operators of a condition; None for a value that is compared part by part."""
    if isinstance(wanted, dict) and any(str(each).startswith("$") for each in wanted):
        for each in wanted:
            if each not in _OPERATORS:
                raise InputError(f"filter has no operator {each!r}: {', '.join(_OPERATORS)}")
        return wanted
    return None


def _conditions(wanted: Any) -> dict[str, Any] | None:
    """Return what of ``where`` is one condition of a filter; None if nothing is."""
    operators = _operators(wanted)
    if operators is None:
        if isinstance(wanted, dict) or (
            isinstance(wanted, list | tuple)
            and any(isinstance(each, dict | list | tuple) for each in wanted)
        ):
            return None
        operators = {"$eq": wanted}
    if len(operators) > 1 and (
        "$ne" in operators or any(operators[each] is None for each in operators)
    ):
        return None  # `where` takes one `not` a name
    found: dict[str, Any] = {}
    for each, operand in operators.items():
        if each in _ORDER:
            found |= {_ORDER[each]: operand, "exists": True}
        elif operand is None:  # LangGraph takes a field that is missing for None
            has_other = {"exists": True, "not": {"eq": None}}
            found |= {"not": has_other} if each == "$eq" else has_other
        elif each == "$eq":
            found |= {"eq": operand, "exists": True}
        else:
            found |= {"not": {"eq": operand, "exists": True}}
    return found


def _matches(value: Any, wanted: Any) -> bool:
    """Compare as LangGraph's own stores do, in Python."""
    operators = _operators(wanted)
    if operators is not None:
        return all(_holds(value, each, operand) for each, operand in operators.items())
    if isinstance(wanted, dict):
        return isinstance(value, dict) and all(
            _matches(value.get(name), each) for name, each in wanted.items()
        )
    if isinstance(wanted, list | tuple):
        return (
            isinstance(value, list)
            and len(value) == len(wanted)
            and all(map(_matches, value, wanted))
        )
    return bool(value == wanted)


def _holds(value: Any, asked: str, operand: Any) -> bool:
    if asked in ("$eq", "$ne"):
        return bool(value == operand) is (asked == "$eq")
    kinds = [str if isinstance(each, str) else float for each in (value, operand)]
    if value is None or kinds[0] is not kinds[1]:
        return False
    return _COMPARE[asked](value, operand)


try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        PutOp,
        SearchItem,
        SearchOp,
        TTLConfig,
        get_text_at_path,
    )
except ImportError as error:
    raise ImportError(
        "recollex.frameworks.langgraph needs langgraph: pip install 'recollex[langgraph]'"
    ) from error

OWN = "__item__"
"""The name in a memory's metadata of what belongs to the item, and not to its value."""
UNINDEXED = "unindexed"
"""The tag of items that no query finds by what they say."""
FOREVER = datetime.max.replace(tzinfo=UTC)

Namespace = tuple[str, ...]


class RecollexStore(BaseStore):
    """Items, each a dict under a namespace and a key, in the memory of one agent.

    agent: of `recollex.open` or `recollex.connect`. fields: the paths in a value that a query
    searches, such as ["text", "notes[*].body"]; None for the whole value, a line a field. ttl: as
    of LangGraph, in minutes: ``default_ttl``, ``refresh_on_read``, ``sweep_interval_minutes``.
    clock: returns the present, for tests.

    A query is answered by `Agent.recall`, so by meaning, words, names and times; then items that
    it did not find follow, without a score, as far as ``limit`` reaches. Without a query the items
    come in the order in which they were put, the newest first. Items whose time to live is over
    are never returned; `sweep_ttl` forgets them. A batch reads first and then writes its last put
    of each key, as one transaction if it deletes nothing.

    A value is JSON of up to 100,000 bytes and 256 fields, and has no field "__item__". `$gt` and
    its like compare numbers with numbers and texts with texts. Every earlier version of an item is
    in ``agent.history``, and ``agent.at`` has the store as it was.

    Threads: any number. The asynchronous methods run in a thread.

    >>> import recollex, tempfile
    >>> store = RecollexStore(recollex.open(tempfile.mkdtemp()).agent("app"))
    >>> store.put(("users", "ann"), "food", {"text": "Ann eats no meat.", "stars": 5})
    >>> store.put(("users", "bob"), "sport", {"text": "Bob rows.", "stars": 3})
    >>> store.get(("users", "ann"), "food").value["stars"]
    5
    >>> [item.key for item in store.search(("users",), query="What may I cook?", limit=1)]
    ['food']
    >>> [item.key for item in store.search((), filter={"stars": {"$lt": 4}})]
    ['sport']
    >>> store.list_namespaces(prefix=("users",))
    [('users', 'ann'), ('users', 'bob')]
    """

    supports_ttl = True

    def __init__(
        self,
        agent: Any,
        *,
        fields: Sequence[str] | None = None,
        ttl: TTLConfig | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.agent: Any = agent
        self.fields: tuple[str, ...] | None = None if fields is None else tuple(fields)
        self.ttl_config: TTLConfig | None = ttl
        self.clock = clock
        self._writing = threading.RLock()
        self._swept: datetime = clock()

    def batch(self, ops: Iterable[Any]) -> list[Any]:
        """Carry out operations: first those that read, then the last put of each key."""
        results: list[Any] = []
        puts: dict[tuple[Namespace, str], PutOp] = {}
        for op in ops:
            result: Any = None
            if isinstance(op, GetOp):
                result = self._get(op)
            elif isinstance(op, SearchOp):
                result = self._search(op)
            elif isinstance(op, ListNamespacesOp):
                result = self._namespaces(op)
            elif isinstance(op, PutOp):
                puts[op.namespace, op.key] = op
            else:
                raise InputError(f"a batch takes operations of langgraph, got {type(op).__name__}")
            results.append(result)
        if puts:
            with self._writing:
                self._put(list(puts.values()))
                self._sweep_if_due()
        return results

    async def abatch(self, ops: Iterable[Any]) -> list[Any]:
        """Do so in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def sweep_ttl(self) -> int:
        """Forget the items whose time to live is over; return how many.

        It is also done after a put, every ``sweep_interval_minutes``, if that is set.
        """
        with self._writing:
            self._swept = self.clock()
            forgotten: int = self.agent.forget(
                tags=[_tag(())], ends_by=self._swept, by="langgraph", why="time to live"
            )
            return forgotten

    def _sweep_if_due(self) -> None:
        minutes = (self.ttl_config or {}).get("sweep_interval_minutes")
        if minutes is not None and self.clock() >= self._swept + timedelta(minutes=minutes):
            self.sweep_ttl()

    def _get(self, op: GetOp) -> Item | None:
        held = self._held(op.namespace, op.key)
        if held is None:
            return None
        if op.refresh_ttl:
            self._refresh([held])
        return Item(**_fields(held))

    def _held(self, namespace: Namespace, key: str) -> Any:
        """Return the memory of an item that is alive; None without one."""
        held = self.agent.get(_id(namespace, key), None)
        if held is None or held.closed or (held.valid_until or FOREVER) <= self.clock():
            return None
        return held

    def _refresh(self, held: Sequence[Any]) -> None:
        """Let the items that have a time to live, live as long again from now on."""
        with self._writing:
            for memory in held:
                minutes = memory.metadata.get(OWN, {}).get("ttl")
                if minutes is not None and (end := self._end(minutes)) != memory.valid_until:
                    with suppress(UnknownIdError):  # deleted since it was read
                        self.agent.amend(memory.id, valid_until=end)

    def _end(self, minutes: float | None) -> datetime | None:
        return None if minutes is None else self.clock() + timedelta(minutes=minutes)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        where, rest = read_filter(op.filter)
        wanted: dict[str, Any] = {"tags": [_tag(op.namespace_prefix)], "ends_after": self.clock()}
        if where is not None:
            wanted["where"] = where
        found = nearest(
            self.agent,
            op.query,
            op.offset + op.limit,
            ranked={"no_tags": [UNINDEXED]},
            rest=rest,
            **wanted,
        )
        page = found[op.offset :]
        if op.refresh_ttl:
            self._refresh([memory for memory, _ in page])
        return [SearchItem(**_fields(memory), score=score) for memory, score in page]

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        known = [_start(each) for each in conditions if each.match_type == "prefix"]
        counts = self.agent.value_counts(
            "document_id", tags=[_tag(max(known, key=len, default=()))], ends_after=self.clock()
        )
        names = [tuple(json.loads(each)) for each in counts]
        met = {
            name[: op.max_depth]
            for name in names
            if all(_is_met(each, name) for each in conditions)
        }
        return sorted(met)[op.offset : op.offset + op.limit]

    def _put(self, ops: Sequence[PutOp]) -> None:
        gone = [_id(op.namespace, op.key) for op in ops if op.value is None]
        gone = [id for id in gone if self.agent.get(id, None) is not None]
        if gone:
            self.agent.forget(gone)
        memories = [self._memory(op, op.value) for op in ops if op.value is not None]
        if memories:
            names = memories[0].keys()
            self.agent.retain_many(**{name: [each[name] for each in memories] for name in names})

    def _memory(self, op: PutOp, value: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of `retain_many` for one item."""
        if OWN in value:
            raise InputError(f"a value may not have a field {OWN!r}: it is the store's own")
        now = self.clock()
        held = self._held(op.namespace, op.key)
        own: dict[str, Any] = {}
        if held is not None:
            own["created_at"] = _created(held).isoformat()
        if op.ttl is not None:
            own["ttl"] = op.ttl
        text = self._text(op, value)
        tags = [_tag(op.namespace[:n]) for n in range(len(op.namespace) + 1)]
        return {
            "texts": text or op.key.strip() or "item",
            "id": _id(op.namespace, op.key),
            "event_at": now,
            "document_id": json.dumps(op.namespace),
            "tags": tags if text else [*tags, UNINDEXED],
            "metadata": dict(value) | ({OWN: own} if own else {}),
            "valid_until": self._end(op.ttl),
        }

    def _text(self, op: PutOp, value: Mapping[str, Any]) -> str:
        """Return what a query searches of an item; "" if nothing."""
        if op.index is False:
            return ""
        paths = self.fields if op.index is None else op.index
        if paths is None or list(paths) == ["$"]:
            lines = [f"{name}: {_written(each)}" for name, each in value.items()]
        else:
            lines = [text for path in paths for text in get_text_at_path(value, path)]
        return "\n".join(lines).strip()


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _id(namespace: Namespace, key: str) -> str:
    return json.dumps([*namespace, key])


def _tag(prefix: Namespace) -> str:
    return json.dumps(list(prefix))


def _created(memory: Any) -> datetime:
    created = memory.metadata.get(OWN, {}).get("created_at")
    return memory.event_at if created is None else datetime.fromisoformat(created)


def _fields(memory: Any) -> dict[str, Any]:
    """Return the arguments of an `Item`."""
    return {
        "value": {name: each for name, each in memory.metadata.items() if name != OWN},
        "key": json.loads(memory.id)[-1],
        "namespace": tuple(json.loads(memory.document_id)),
        "created_at": _created(memory),
        "updated_at": memory.event_at,
    }


def _start(condition: MatchCondition) -> Namespace:
    """Return the part of a prefix before its first wildcard."""
    path = tuple(condition.path)
    return path[: path.index("*")] if "*" in path else path


def _is_met(condition: MatchCondition, name: Namespace) -> bool:
    path = tuple(condition.path)
    part = name[: len(path)] if condition.match_type == "prefix" else name[-len(path) :]
    return len(part) == len(path) and all(
        wanted in ("*", each) for wanted, each in zip(path, part, strict=True)
    )
