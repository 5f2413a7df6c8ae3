"""Which model does a subcommand open a store with? The one that its agent was written with.

A subcommand that embeds nothing loads no model: the model's name stands in for it. So every
subcommand also works where a program gives the vectors (`recollex.GivenVectors`).
"""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import recollex
from recollex.api.store import read_embedder
from recollex.cli.parser import Arguments
from recollex_engine.agents.folder_names import agents_in
from recollex_engine.agents.summary import recorded_settings
from recollex_engine.domain.settings import Settings
from recollex_engine.errors import InputError, RecollexError, embedder_name
from recollex_engine.models.backends import with_precision
from recollex_engine.models.description import DEFAULT_MODEL, known_model
from recollex_engine.models.embedder import StandIn
from recollex_engine.models.embedders import packaged_embedder

GIVEN = "given-"


class CallersVectors(recollex.GivenVectors):
    """Stands for the program that gives an agent its vectors; says what to do where one is needed.

    >>> CallersVectors(8).fingerprint
    'given-8'
    """

    def text_without_vector(self, count: int) -> str:
        """Return what to say of texts without vectors."""
        return (
            "the program that uses this agent gives its vectors, and a text came without one: "
            f'ingest lines with "embedding": [{self.dimension} numbers], retain in Python with '
            "embedding=, or move the agent to a model: recollex reembed STORE --model "
            f"{DEFAULT_MODEL}"
        )

    def question_without_vector(self) -> str:
        """Return what to say of a question without a vector."""
        return (
            "the program that uses this agent gives its vectors, and the question needs one, too: "
            "recall in Python with query_embedding=, or move the agent to a model: recollex "
            f"reembed STORE --model {DEFAULT_MODEL}. recollex list needs no vector"
        )


def embedder_for(arguments: Arguments, key: bytes | None, dimension: int | None = None) -> Any:
    """Return the embedder to open the store with: as ``--embedder`` says, else the agent's own.

    That of the store's first agent, if no agent is named or the named one has recorded nothing.
    dimension: of the vectors that are given, for an agent that has recorded nothing.
    """
    given = getattr(arguments, "embedder", None)
    if given is not None:
        return named_embedder(given)
    named = getattr(arguments, "agent", None) or "default"
    settings = _settings(arguments.store, [named] if isinstance(named, str) else [], key)
    if settings is None:
        settings = _settings(arguments.store, agents_in(Path(arguments.store)), key)
    if settings is None:
        return None if dimension is None else CallersVectors(dimension)
    if settings.model.startswith(GIVEN):
        return CallersVectors(settings.dimension)
    if not hasattr(arguments, "embedder"):  # the subcommand embeds nothing, or almost nothing
        name = embedder_name(settings.model)
        return StandIn(settings.model, settings.dimension, lambda: read_embedder(name)())
    return _name_of(settings)


def recorded_embedder(store: str, key: bytes | None) -> str | None:
    """Return what ``--embedder`` would name for the agents of a store: the model of its first one.

    None if there is no agent, or if its model was loaded from a folder.
    """
    settings = _settings(store, agents_in(Path(store)), key)
    if settings is None:
        return None
    if settings.model.startswith(GIVEN):
        return f"given:{settings.dimension}"
    return _name_of(settings)


def _name_of(settings: Settings) -> str | None:
    """Return the name by which an agent's model is found; None for one from a folder."""
    name = embedder_name(settings.model)
    base = str(with_precision(name)[0])
    is_found = known_model(base) is not None or packaged_embedder(base) is not None or "/" in base
    return name if is_found else None


def named_embedder(given: str) -> Any:
    """Return the embedder that ``--embedder`` names: a model, or ``given:8`` for given vectors.

    >>> named_embedder("given:8").dimension
    8
    """
    kind, colon, dimension = given.partition(":")
    if kind != "given" or not colon:
        return given
    if not dimension.isdigit():
        raise InputError(f"--embedder given:N says how long vectors are, got {given!r}")
    return CallersVectors(int(dimension))


def _settings(store: str, agents: Iterable[str], key: bytes | None) -> Settings | None:
    """Return the recorded settings of the first agent that has some; None if there are none."""
    for agent in agents:
        with suppress(RecollexError, OSError):  # the opening says what is wrong
            if (settings := recorded_settings(Path(store), agent, key)) is not None:
                return settings
    return None
