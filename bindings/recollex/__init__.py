"""recollex: a memory engine for AI agents.

>>> import recollex, tempfile
>>> from datetime import UTC, datetime
>>> store = recollex.open(tempfile.mkdtemp())
>>> alice = store.agent("alice")
>>> ids = alice.retain("Alice joined Google in Mountain View.",
...                    event_at=datetime(2023, 11, 6, tzinfo=UTC))
>>> alice.recall("Where does Alice work?")[0].text
'Alice joined Google in Mountain View.'
>>> store.close()
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from recollex.api.version import VERSION

if TYPE_CHECKING:
    from recollex import errors
    from recollex.api.agent import Agent
    from recollex.api.backups import Backup, backups, restore, verify_backup
    from recollex.api.conversation import Conversation
    from recollex.api.doctoring import doctor
    from recollex.api.erased_copies import erase_in_copy
    from recollex.api.language_models import llm
    from recollex.api.log_replay import replay
    from recollex.api.reembedding import reembed
    from recollex.api.store import Store, open
    from recollex.api.transaction import Transaction
    from recollex.files.imports.ingest import Ingestion, ingest
    from recollex.files.memory_files import export_memories, import_memories
    from recollex.remote.client.store import connect
    from recollex_engine.agents.difference import Difference
    from recollex_engine.agents.doctor import Diagnosis
    from recollex_engine.agents.log_head import LogHead
    from recollex_engine.agents.logbook import LogEntry
    from recollex_engine.agents.stats import Stats
    from recollex_engine.agents.summary import AgentSummary
    from recollex_engine.agents.verification import Verification
    from recollex_engine.backup.backup import BackupRun
    from recollex_engine.backup.restoring import Restoration
    from recollex_engine.backup.verification import BackupVerification
    from recollex_engine.cancellation import Cancellation
    from recollex_engine.domain.erasure import Erasure
    from recollex_engine.domain.literals import Mention, Source, Text
    from recollex_engine.domain.packing_options import Packing
    from recollex_engine.domain.retention import Expiry, Retention
    from recollex_engine.facts.entities import Entity
    from recollex_engine.facts.episodes import Episode
    from recollex_engine.facts.events import Event
    from recollex_engine.facts.facts import Conflict, Fact, FactList
    from recollex_engine.facts.hits import Hit
    from recollex_engine.facts.provenance import DocumentNode, MentionNode
    from recollex_engine.models.encoder import Encoder, load_encoder
    from recollex_engine.models.given_vectors import GivenVectors
    from recollex_engine.recall.joint_recall import JointRecall
    from recollex_engine.recall.memory import Memory
    from recollex_engine.recall.predecessor import Predecessor
    from recollex_engine.recall.recall import Recall
    from recollex_engine.recall.subgraph import Subgraph
    from recollex_engine.state.accesses import Accesses
    from recollex_engine.state.closure import Closure
    from recollex_engine.trace import Trace
    from recollex_mind.entity_resolution import EntityMatch
    from recollex_mind.episodic.contexts import Contexts
    from recollex_mind.episodic.investigation import Investigation
    from recollex_mind.jobs import Extraction, Job
    from recollex_mind.llm.language_model import LanguageModel
    from recollex_mind.opinions import Opinion
    from recollex_mind.profile import Profile
    from recollex_mind.talks.consolidation import Consolidation
    from recollex_mind.talks.write_policy import WritePolicy
    from recollex_mind.thought import Thought

__version__ = VERSION

__all__ = [
    "Accesses",
    "Agent",
    "AgentSummary",
    "Backup",
    "BackupRun",
    "BackupVerification",
    "Cancellation",
    "Closure",
    "Conflict",
    "Consolidation",
    "Contexts",
    "Conversation",
    "Diagnosis",
    "Difference",
    "DocumentNode",
    "Encoder",
    "Entity",
    "EntityMatch",
    "Episode",
    "Erasure",
    "Event",
    "Expiry",
    "Extraction",
    "Fact",
    "FactList",
    "GivenVectors",
    "Hit",
    "Ingestion",
    "Investigation",
    "Job",
    "JointRecall",
    "LanguageModel",
    "LogEntry",
    "LogHead",
    "Memory",
    "Mention",
    "MentionNode",
    "Opinion",
    "Packing",
    "Predecessor",
    "Profile",
    "Recall",
    "Restoration",
    "Retention",
    "Source",
    "Stats",
    "Store",
    "Subgraph",
    "Text",
    "Thought",
    "Trace",
    "Transaction",
    "Verification",
    "WritePolicy",
    "backups",
    "connect",
    "doctor",
    "erase_in_copy",
    "errors",
    "export_memories",
    "import_memories",
    "ingest",
    "llm",
    "load_encoder",
    "open",
    "presets",
    "reembed",
    "replay",
    "restore",
    "verify_backup",
]

_HOMES = {
    "Agent": "recollex.api.agent",
    "Backup": "recollex.api.backups",
    "BackupRun": "recollex_engine.backup.backup",
    "BackupVerification": "recollex_engine.backup.verification",
    "Cancellation": "recollex_engine.cancellation",
    "Thought": "recollex_mind.thought",
    "Closure": "recollex_engine.state.closure",
    "Conflict": "recollex_engine.facts.facts",
    "Conversation": "recollex.api.conversation",
    "Consolidation": "recollex_mind.talks.consolidation",
    "Contexts": "recollex_mind.episodic.contexts",
    "Diagnosis": "recollex_engine.agents.doctor",
    "Difference": "recollex_engine.agents.difference",
    "DocumentNode": "recollex_engine.facts.provenance",
    "Encoder": "recollex_engine.models.encoder",
    "Entity": "recollex_engine.facts.entities",
    "EntityMatch": "recollex_mind.entity_resolution",
    "Episode": "recollex_engine.facts.episodes",
    "Erasure": "recollex_engine.domain.erasure",
    "Expiry": "recollex_engine.domain.retention",
    "Retention": "recollex_engine.domain.retention",
    "Event": "recollex_engine.facts.events",
    "Extraction": "recollex_mind.jobs",
    "Fact": "recollex_engine.facts.facts",
    "FactList": "recollex_engine.facts.facts",
    "Hit": "recollex_engine.facts.hits",
    "GivenVectors": "recollex_engine.models.given_vectors",
    "Ingestion": "recollex.files.imports.ingest",
    "Investigation": "recollex_mind.episodic.investigation",
    "LanguageModel": "recollex_mind.llm.language_model",
    "LogEntry": "recollex_engine.agents.logbook",
    "LogHead": "recollex_engine.agents.log_head",
    "Memory": "recollex_engine.recall.memory",
    "Mention": "recollex_engine.domain.literals",
    "MentionNode": "recollex_engine.facts.provenance",
    "Opinion": "recollex_mind.opinions",
    "Profile": "recollex_mind.profile",
    "Packing": "recollex_engine.domain.packing_options",
    "Predecessor": "recollex_engine.recall.predecessor",
    "Recall": "recollex_engine.recall.recall",
    "Job": "recollex_mind.jobs",
    "JointRecall": "recollex_engine.recall.joint_recall",
    "Restoration": "recollex_engine.backup.restoring",
    "Source": "recollex_engine.domain.literals",
    "Stats": "recollex_engine.agents.stats",
    "Accesses": "recollex_engine.state.accesses",
    "AgentSummary": "recollex_engine.agents.summary",
    "Store": "recollex.api.store",
    "Subgraph": "recollex_engine.recall.subgraph",
    "Text": "recollex_engine.domain.literals",
    "Trace": "recollex_engine.trace",
    "Transaction": "recollex.api.transaction",
    "Verification": "recollex_engine.agents.verification",
    "WritePolicy": "recollex_mind.talks.write_policy",
    "backups": "recollex.api.backups",
    "connect": "recollex.remote.client.store",
    "doctor": "recollex.api.doctoring",
    "erase_in_copy": "recollex.api.erased_copies",
    "export_memories": "recollex.files.memory_files",
    "import_memories": "recollex.files.memory_files",
    "ingest": "recollex.files.imports.ingest",
    "llm": "recollex.api.language_models",
    "load_encoder": "recollex_engine.models.encoder",
    "open": "recollex.api.store",
    "reembed": "recollex.api.reembedding",
    "replay": "recollex.api.log_replay",
    "restore": "recollex.api.backups",
    "verify_backup": "recollex.api.backups",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used; `import recollex` loads no kernel, no model."""
    if name in ("errors", "presets"):
        return import_module(f"recollex.{name}")
    if name in _HOMES:
        if name in ("open", "connect"):
            import_module("recollex.remote.wire.pickling")
        return getattr(import_module(_HOMES[name]), name)
    is_error = name.endswith("Error") and hasattr(import_module("recollex.errors"), name)
    hint = f": it is recollex.errors.{name}" if is_error else ""
    module = sys.modules[__name__]
    raise AttributeError(
        f"module 'recollex' has no attribute {name!r}{hint}", name=name, obj=module
    )


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
