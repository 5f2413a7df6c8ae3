"""Finds what is wrong with a store, and mends what its log can mend."""

import os
from pathlib import Path

from recollex.api.progress import progress_bar
from recollex.api.store import read_embedder
from recollex_engine.agents.doctor import Diagnosis, examine_agent, examine_store
from recollex_engine.agents.folder_names import agents_in
from recollex_engine.domain.settings import Settings
from recollex_engine.errors import InputError, ModelError
from recollex_engine.models.embedder import Embedder


def doctor(
    path: str | os.PathLike[str],
    agent_id: str | None = None,
    *,
    repair: bool = True,
    salvage: str | os.PathLike[str] | None = None,
    embedder: str | os.PathLike[str] | Embedder | None = None,
) -> list[Diagnosis]:
    """Return what is wrong with the store at ``path``, and mend what follows from its log.

    The first diagnosis is of the store itself, then one for each agent, or for ``agent_id``.
    Columns, indexes, a torn tail, an erasure that was begun and the vectors of a model are built
    again. A damaged log is not changed: the diagnosis says up to where it is whole.

    repair: False only looks. salvage: the folder of a store, to which what a damaged log says
    before the damage is copied. embedder: the model that embeds texts whose vectors are damaged,
    by default the one that the agent names; loaded only then.

    An agent that a writer has open is looked at, and what is wrong with it is left.

    >>> import recollex, tempfile
    >>> from pathlib import Path
    >>> folder = tempfile.mkdtemp()
    >>> with recollex.open(folder) as store:
    ...     ids = store.agent("alice").retain("Bob likes tea.")
    ...     store.agent("alice").checkpoint()
    >>> Path(folder, "agents/alice/MANIFEST").write_text("{")
    1
    >>> [(each.agent, len(each.found), each.ok) for each in recollex.doctor(folder)]
    [(None, 0, True), ('alice', 1, True)]
    """
    place = Path(path)
    target = None if salvage is None else Path(salvage)
    if target is not None and target.absolute() == place.absolute():
        raise InputError(f"salvage must be another folder than the store itself, {path}")
    diagnoses = [examine_store(place, repair=repair)]
    names = agents_in(place) if agent_id is None else [agent_id]
    for name in names:
        if name not in agents_in(place):
            raise InputError(f"there is no agent {name!r} in {path}")
        with progress_bar(None, f"examining {name}", "passages") as progress:
            diagnoses.append(
                examine_agent(
                    place,
                    name,
                    lambda settings: _load(settings, embedder),
                    repair=repair,
                    salvage=target,
                    progress=progress,
                )
            )
    return diagnoses


def _load(settings: Settings, given: object) -> Embedder:
    if given is None and settings.model.startswith("given-"):
        raise ModelError(
            "the caller gave the vectors, and the log does not hold them: put "
            f"{settings.vectors_file} back, for instance from a backup"
        )
    name = settings.model.split("@")[0]
    return read_embedder(name if given is None else given)()
