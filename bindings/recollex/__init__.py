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

import ast
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollex_engine.storage.formats import VERSION

if TYPE_CHECKING:  # the one list of public names; each is imported when it is first used
    from recollex import errors as errors
    from recollex import presets as presets
    from recollex.api.agent import Agent as Agent
    from recollex.api.backups import Backup as Backup
    from recollex.api.backups import backups as backups
    from recollex.api.backups import restore as restore
    from recollex.api.backups import verify_backup as verify_backup
    from recollex.api.conversation import Conversation as Conversation
    from recollex.api.filters import Filter as Filter
    from recollex.api.language_models import llm as llm
    from recollex.api.maintenance import doctor as doctor
    from recollex.api.maintenance import erase_in_copy as erase_in_copy
    from recollex.api.maintenance import reembed as reembed
    from recollex.api.maintenance import replay as replay
    from recollex.api.store import Store as Store
    from recollex.api.store import open as open
    from recollex.api.transaction import Transaction as Transaction
    from recollex.files.imports.ingest import Ingestion as Ingestion
    from recollex.files.imports.ingest import ingest as ingest
    from recollex.files.memory_files import export_memories as export_memories
    from recollex.files.memory_files import import_memories as import_memories
    from recollex.remote.client.store import connect as connect
    from recollex_engine.agents.doctor import Diagnosis as Diagnosis
    from recollex_engine.agents.log_head import LogHead as LogHead
    from recollex_engine.agents.logbook import Difference as Difference
    from recollex_engine.agents.logbook import LogEntry as LogEntry
    from recollex_engine.agents.stats import Stats as Stats
    from recollex_engine.agents.summary import AgentSummary as AgentSummary
    from recollex_engine.agents.verification import Verification as Verification
    from recollex_engine.background_work import Cancellation as Cancellation
    from recollex_engine.backup.backup import BackupRun as BackupRun
    from recollex_engine.backup.restoring import Restoration as Restoration
    from recollex_engine.backup.verification import BackupVerification as BackupVerification
    from recollex_engine.domain.literals import Mention as Mention
    from recollex_engine.domain.literals import Source as Source
    from recollex_engine.domain.literals import Text as Text
    from recollex_engine.domain.question import Packing as Packing
    from recollex_engine.domain.removal import Erasure as Erasure
    from recollex_engine.domain.removal import Expiry as Expiry
    from recollex_engine.domain.removal import Retention as Retention
    from recollex_engine.facts.entities import Entity as Entity
    from recollex_engine.facts.events import Episode as Episode
    from recollex_engine.facts.events import Event as Event
    from recollex_engine.facts.facts import Conflict as Conflict
    from recollex_engine.facts.facts import Fact as Fact
    from recollex_engine.facts.facts import FactList as FactList
    from recollex_engine.facts.hits import Hit as Hit
    from recollex_engine.facts.provenance import DocumentNode as DocumentNode
    from recollex_engine.facts.provenance import MentionNode as MentionNode
    from recollex_engine.models.embedder import GivenVectors as GivenVectors
    from recollex_engine.models.encoder import Encoder as Encoder
    from recollex_engine.models.encoder import load_encoder as load_encoder
    from recollex_engine.recall.closure import Closure as Closure
    from recollex_engine.recall.closure import Predecessor as Predecessor
    from recollex_engine.recall.joint_recall import JointRecall as JointRecall
    from recollex_engine.recall.memory import Memory as Memory
    from recollex_engine.recall.recall import Recall as Recall
    from recollex_engine.recall.subgraph import Subgraph as Subgraph
    from recollex_engine.state.accesses import Accesses as Accesses
    from recollex_engine.trace import Trace as Trace
    from recollex_mind.entity_resolution import EntityMatch as EntityMatch
    from recollex_mind.episodic.contexts import Contexts as Contexts
    from recollex_mind.episodic.investigation import Investigation as Investigation
    from recollex_mind.jobs import Extraction as Extraction
    from recollex_mind.jobs import Job as Job
    from recollex_mind.llm.language_model import LanguageModel as LanguageModel
    from recollex_mind.opinions import Opinion as Opinion
    from recollex_mind.profile import Profile as Profile
    from recollex_mind.talks.consolidation import Consolidation as Consolidation
    from recollex_mind.talks.write_policy import WritePolicy as WritePolicy
    from recollex_mind.thought import Thought as Thought

__version__ = VERSION


@cache
def _homes() -> dict[str, str]:
    """Return public name -> the module that has it, as the imports for type checkers say."""
    source = ast.parse(Path(__file__).read_text("utf-8"))
    (listed,) = (each for each in source.body if isinstance(each, ast.If))
    imports = [each for each in listed.body if isinstance(each, ast.ImportFrom)]
    return {alias.name: str(each.module) for each in imports for alias in each.names}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used; `import recollex` loads no kernel, no model."""
    homes = _homes()
    if name == "__all__":
        return sorted(homes)
    if name in homes:
        if name in ("open", "connect"):
            import_module("recollex.remote.wire.pickling")
        if homes[name] == __name__:
            return import_module(f"recollex.{name}")
        return getattr(import_module(homes[name]), name)
    is_error = name.endswith("Error") and hasattr(import_module("recollex.errors"), name)
    hint = f": it is recollex.errors.{name}" if is_error else ""
    module = sys.modules[__name__]
    raise AttributeError(
        f"module 'recollex' has no attribute {name!r}{hint}", name=name, obj=module
    )


def __dir__() -> list[str]:
    return [*_homes(), "__all__", "__version__"]
