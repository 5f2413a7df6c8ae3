"""Which methods does an agent have? One typed table, from which every proxy of an agent is made.

A method is written in `recollex.api.agent`, or beside it for `Agent.facts`, `Agent.events` and
`Agent.sessions`. Its row here makes it a method of the asynchronous agents, of both clients of a
server, and of the protocol, with the same signature and documentation.
"""

from recollex.api.agent import Agent
from recollex.api.events import Events
from recollex.api.facts import Facts
from recollex.api.proxies import Method, Table, rows
from recollex.api.sessions import Sessions


class AgentMethods(Table):
    """The methods of `recollex.Agent`."""

    retain = Method(Agent.retain, "write", grouped=True)
    retain_dialogue = Method(Agent.retain_dialogue, "write")
    recall = Method(Agent.recall)
    recall_many = Method(Agent.recall_many, chunks=True)
    get = Method(Agent.get, brief=True)
    list = Method(Agent.list, chunks=True)
    history = Method(Agent.history, chunks=True)
    log = Method(Agent.log, chunks=True)
    diff = Method(Agent.diff)
    stats = Method(Agent.stats, owner=True)
    head = Method(Agent.head, owner=True)
    verify = Method(Agent.verify, cut=False, owner=True)
    checkpoint = Method(Agent.checkpoint, "write")
    forget = Method(Agent.forget, "write", grouped=True)
    erase = Method(Agent.erase, "write")
    archive = Method(Agent.archive, "write", grouped=True)
    retention = Method(Agent.retention)
    set_retention = Method(Agent.set_retention, "write")
    expire = Method(Agent.expire, "write")
    correct = Method(Agent.correct, "write", grouped=True)
    apply = Method(Agent.apply, "write", grouped=True)


class FactMethods(Table):
    """The methods of `Agent.facts`."""

    _group = "facts"
    get = Method(Facts.get, brief=True)
    history = Method(Facts.history, chunks=True)
    find = Method(Facts.find, chunks=True)
    snapshot = Method(Facts.snapshot, chunks=True)
    conflicts = Method(Facts.conflicts, chunks=True, pairs=True)
    entity = Method(Facts.entity, brief=True)
    entities = Method(Facts.entities, chunks=True)
    add = Method(Facts.add, "write", grouped=True)
    correct = Method(Facts.correct, "write", grouped=True)
    archive = Method(Facts.archive, "write", grouped=True)
    add_entity = Method(Facts.add_entity, "write", grouped=True)
    merge = Method(Facts.merge, "write", grouped=True)


class EventMethods(Table):
    """The methods of `Agent.events`."""

    _group = "events"
    get = Method(Events.get)
    find = Method(Events.find, chunks=True)
    get_episode = Method(Events.get_episode)
    episodes = Method(Events.episodes, chunks=True)
    add = Method(Events.add, "write", grouped=True)
    link = Method(Events.link, "write", grouped=True)
    add_episode = Method(Events.add_episode, "write", grouped=True)


class SessionMethods(Table):
    """The methods of `Agent.sessions`."""

    _group = "sessions"
    short_term = Method(Sessions.short_term, cut=False, chunks=True, owner=True)
    working = Method(Sessions.working, cut=False, chunks=True, owner=True)
    end = Method(Sessions.end, "write")
    recall = Method(Sessions.recall, "write")
    backfill = Method(Sessions.backfill, "write")
    forget_expired = Method(Sessions.forget_expired, "write")


AGENT = rows(AgentMethods)
FACTS = rows(FactMethods)
EVENTS = rows(EventMethods)
SESSIONS = rows(SessionMethods)
