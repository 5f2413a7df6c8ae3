"""Which methods does an agent have? One typed table, from which every proxy of an agent is made.

A method is written in `recollex.api.agent`, or beside it for a group such as `Agent.facts`. Its row
here makes it a method of the asynchronous agents, of both clients of a server, and of the protocol,
with the same signature and documentation.
"""

from typing import Final

from recollex.api.agent import Agent
from recollex.api.events import Events
from recollex.api.facts import Facts
from recollex.api.jobs import Jobs
from recollex.api.opinions import AgentProfile, Opinions
from recollex.api.proxies import Method, Table, rows
from recollex.api.sessions import Sessions
from recollex.api.tools import Tools


class AgentMethods(Table):
    """The methods of `recollex.Agent`."""

    retain: Final = Method(Agent.retain, "write", grouped=True)
    retain_many: Final = Method(Agent.retain_many, "write", grouped=True)
    retain_dialogue: Final = Method(Agent.retain_dialogue, "write")
    recall: Final = Method(Agent.recall)
    recall_many: Final = Method(Agent.recall_many, chunks=True)
    get: Final = Method(Agent.get)
    list: Final = Method(Agent.list, chunks=True)
    count: Final = Method(Agent.count)
    value_counts: Final = Method(Agent.value_counts)
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
    used: Final = Method(Agent.used, "write")
    accesses: Final = Method(Agent.accesses, owner=True)
    correct: Final = Method(Agent.correct, "write", grouped=True)
    amend: Final = Method(Agent.amend, "write", grouped=True)
    apply: Final = Method(Agent.apply, "write", grouped=True)
    think: Final = Method(Agent.think, "write", cut=True, waits=True)
    extract: Final = Method(Agent.extract, "write", waits=True)
    undo_comparison: Final = Method(Agent.undo_comparison, "write")
    investigate: Final = Method(Agent.investigate, waits=True)
    get_agent_profile: Final = Method(Agent.get_agent_profile)
    merge_agent_background: Final = Method(Agent.merge_agent_background, "write", waits=True)


class FactMethods(Table):
    """The methods of `Agent.facts`."""

    _group = "facts"
    get: Final = Method(Facts.get)
    history: Final = Method(Facts.history, chunks=True)
    find: Final = Method(Facts.find, chunks=True)
    count: Final = Method(Facts.count)
    value_counts: Final = Method(Facts.value_counts)
    search: Final = Method(Facts.search, chunks=True)
    search_entities: Final = Method(Facts.search_entities, chunks=True)
    synonyms: Final = Method(Facts.synonyms, chunks=True, pairs=True)
    snapshot: Final = Method(Facts.snapshot, chunks=True)
    conflicts: Final = Method(Facts.conflicts, chunks=True, pairs=True)
    entity: Final = Method(Facts.entity)
    entities: Final = Method(Facts.entities, chunks=True)
    documents: Final = Method(Facts.documents, chunks=True)
    mentions: Final = Method(Facts.mentions, chunks=True)
    add: Final = Method(Facts.add, "write", grouped=True)
    correct: Final = Method(Facts.correct, "write", grouped=True)
    archive: Final = Method(Facts.archive, "write", grouped=True)
    add_entity: Final = Method(Facts.add_entity, "write", grouped=True)
    merge: Final = Method(Facts.merge, "write", grouped=True)
    split: Final = Method(Facts.split, "write", grouped=True)
    resolve_entities: Final = Method(Facts.resolve_entities, "write", chunks=True, waits=True)
    undo: Final = Method(Facts.undo, "write", grouped=True)


class EventMethods(Table):
    """The methods of `Agent.events`."""

    _group = "events"
    get: Final = Method(Events.get)
    history: Final = Method(Events.history, chunks=True)
    find: Final = Method(Events.find, chunks=True)
    search: Final = Method(Events.search, chunks=True)
    search_episodes: Final = Method(Events.search_episodes, chunks=True)
    get_episode: Final = Method(Events.get_episode)
    episodes: Final = Method(Events.episodes, chunks=True)
    add: Final = Method(Events.add, "write", grouped=True)
    link: Final = Method(Events.link, "write", grouped=True)
    add_episode: Final = Method(Events.add_episode, "write", grouped=True)
    consolidate: Final = Method(Events.consolidate, "write", waits=True)


class SessionMethods(Table):
    """The methods of `Agent.sessions`."""

    _group = "sessions"
    short_term: Final = Method(Sessions.short_term, cut=False, chunks=True, owner=True)
    working: Final = Method(Sessions.working, cut=False, chunks=True, owner=True)
    end: Final = Method(Sessions.end, "write")
    recall: Final = Method(Sessions.recall, "write")
    backfill: Final = Method(Sessions.backfill, "write")
    forget_expired: Final = Method(Sessions.forget_expired, "write")


class ProfileMethods(Table):
    """The methods of `Agent.profile`."""

    _group = "profile"
    get: Final = Method(AgentProfile.get)
    set: Final = Method(AgentProfile.set, "write", grouped=True)
    merge_background: Final = Method(AgentProfile.merge_background, "write", waits=True)


class OpinionMethods(Table):
    """The methods of `Agent.opinions`."""

    _group = "opinions"
    get: Final = Method(Opinions.get)
    chain: Final = Method(Opinions.chain, chunks=True)
    find: Final = Method(Opinions.find, chunks=True)
    form: Final = Method(Opinions.form, "write")
    weigh: Final = Method(Opinions.weigh, "write")
    wait: Final = Method(Opinions.wait, cut=False, waits=True)


class JobMethods(Table):
    """The methods of `Agent.jobs`."""

    _group = "jobs"
    find: Final = Method(Jobs.find, chunks=True, owner=True)
    wait: Final = Method(Jobs.wait, cut=False, waits=True)


class ToolMethods(Table):
    """The methods of `Agent.tools`."""

    _group = "tools"
    semantic_retrieve: Final = Method(Tools.semantic_retrieve)
    lexical_retrieve: Final = Method(Tools.lexical_retrieve)
    find_gist_contexts: Final = Method(Tools.find_gist_contexts)
    find_entity_contexts: Final = Method(Tools.find_entity_contexts)
    output_answer: Final = Method(Tools.output_answer, cut=False)
    call: Final = Method(Tools.call)
    schemas: Final = Method(Tools.schemas, cut=False)


AGENT = rows(AgentMethods)
FACTS = rows(FactMethods)
EVENTS = rows(EventMethods)
SESSIONS = rows(SessionMethods)
PROFILE = rows(ProfileMethods)
OPINIONS = rows(OpinionMethods)
JOBS = rows(JobMethods)
TOOLS = rows(ToolMethods)
