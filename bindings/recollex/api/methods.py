"""Which methods does an agent have? One typed table, from which every proxy of an agent is made.

A method is written in `recollex.api.agent`, or beside it for `Agent.facts`, `Agent.events` and
`Agent.sessions`. Its row here makes it a method of the asynchronous agents, of both clients of a
server, and of the protocol, with the same signature and documentation.
"""

from typing import Final

from recollex.api.agent import Agent
from recollex.api.events import Events
from recollex.api.facts import Facts
from recollex.api.proxies import Method, Table, rows
from recollex.api.sessions import Sessions


class AgentMethods(Table):
    """The methods of `recollex.Agent`."""

    retain: Final = Method(Agent.retain, "write", grouped=True)
    retain_many: Final = Method(Agent.retain_many, "write", grouped=True)
    retain_dialogue: Final = Method(Agent.retain_dialogue, "write")
    recall: Final = Method(Agent.recall)
    recall_many: Final = Method(Agent.recall_many, chunks=True)
    get: Final = Method(Agent.get, brief=True)
    list: Final = Method(Agent.list, chunks=True)
    count: Final = Method(Agent.count)
    history: Final = Method(Agent.history, chunks=True)
    log: Final = Method(Agent.log, chunks=True)
    diff: Final = Method(Agent.diff)
    stats: Final = Method(Agent.stats, owner=True)
    head: Final = Method(Agent.head, owner=True)
    verify: Final = Method(Agent.verify, cut=False, owner=True)
    checkpoint: Final = Method(Agent.checkpoint, "write")
    forget: Final = Method(Agent.forget, "write", grouped=True)
    erase: Final = Method(Agent.erase, "write")
    archive: Final = Method(Agent.archive, "write", grouped=True)
    retention: Final = Method(Agent.retention)
    set_retention: Final = Method(Agent.set_retention, "write")
    expire: Final = Method(Agent.expire, "write")
    correct: Final = Method(Agent.correct, "write", grouped=True)
    amend: Final = Method(Agent.amend, "write", grouped=True)
    apply: Final = Method(Agent.apply, "write", grouped=True)


class FactMethods(Table):
    """The methods of `Agent.facts`."""

    _group = "facts"
    get: Final = Method(Facts.get, brief=True)
    history: Final = Method(Facts.history, chunks=True)
    find: Final = Method(Facts.find, chunks=True)
    snapshot: Final = Method(Facts.snapshot, chunks=True)
    conflicts: Final = Method(Facts.conflicts, chunks=True, pairs=True)
    entity: Final = Method(Facts.entity, brief=True)
    entities: Final = Method(Facts.entities, chunks=True)
    add: Final = Method(Facts.add, "write", grouped=True)
    correct: Final = Method(Facts.correct, "write", grouped=True)
    archive: Final = Method(Facts.archive, "write", grouped=True)
    add_entity: Final = Method(Facts.add_entity, "write", grouped=True)
    merge: Final = Method(Facts.merge, "write", grouped=True)


class EventMethods(Table):
    """The methods of `Agent.events`."""

    _group = "events"
    get: Final = Method(Events.get)
    find: Final = Method(Events.find, chunks=True)
    get_episode: Final = Method(Events.get_episode)
    episodes: Final = Method(Events.episodes, chunks=True)
    add: Final = Method(Events.add, "write", grouped=True)
    link: Final = Method(Events.link, "write", grouped=True)
    add_episode: Final = Method(Events.add_episode, "write", grouped=True)


class SessionMethods(Table):
    """The methods of `Agent.sessions`."""

    _group = "sessions"
    short_term: Final = Method(Sessions.short_term, cut=False, chunks=True, owner=True)
    working: Final = Method(Sessions.working, cut=False, chunks=True, owner=True)
    end: Final = Method(Sessions.end, "write")
    recall: Final = Method(Sessions.recall, "write")
    backfill: Final = Method(Sessions.backfill, "write")
    forget_expired: Final = Method(Sessions.forget_expired, "write")


AGENT = rows(AgentMethods)
FACTS = rows(FactMethods)
EVENTS = rows(EventMethods)
SESSIONS = rows(SessionMethods)
