"""How do results pickle and copy? As what a client would receive of them.

A `Recall`, `Fact`, `FactList` or `Event` reads its store when a field is used, and a store cannot
be pickled. So a pickle holds all that the result could read, and needs no store where it is read.
Memories are dataclasses, and pickle by themselves. Importing this module is enough.
"""

import copyreg
from collections.abc import Callable
from typing import Any

from recollex.remote.wire import codec
from recollex.remote.wire.received import (
    RECORDS,
    ReceivedEvent,
    ReceivedFact,
    ReceivedFacts,
    ReceivedRecall,
)
from recollex_engine.facts.events import Event
from recollex_engine.facts.facts import Fact, FactList
from recollex_engine.recall.recall import Recall

Reduced = tuple[Callable[..., Any], tuple[Any, ...]]


def _reduced_recall(recall: Recall) -> Reduced:
    read = {name: getattr(recall, name) for name in ("trace", "signs", "subgraph")}
    return ReceivedRecall, (RECORDS["Recall"].fields_of(recall) | read,)


def _reduced(value: Fact | FactList | Event) -> Reduced:
    return codec.decode, (codec.encode(value),)


for _kind in (Recall, ReceivedRecall):
    copyreg.pickle(_kind, _reduced_recall)
_pickle: Any = copyreg.pickle  # its type wants one class
for _other in (Fact, ReceivedFact, FactList, ReceivedFacts, Event, ReceivedEvent):
    _pickle(_other, _reduced)
