"""The subcommand that writes what is typed: retain."""

import sys
from typing import Any

from recollex.cli.existing_store import agent_to_write, open_store
from recollex.cli.parser import Arguments
from recollex.cli.terminal import show
from recollex.cli.time_options import time_option
from recollex_engine.errors import InputError


def retain(arguments: Arguments) -> int:
    """Store each text as one memory and print its id."""
    if arguments.id and len(arguments.text) > 1:
        raise InputError(f"--id names one memory, got {len(arguments.text)} texts")
    texts = [sys.stdin.read() if text == "-" else text for text in arguments.text]
    options: dict[str, Any] = {
        "event_at": time_option(arguments, "at"),
        "valid_until": time_option(arguments, "valid_until"),
        "network": arguments.network,
        "context": arguments.context,
        "document_id": arguments.document,
        "entities": arguments.entity,
        "tags": arguments.tag,
        "id": arguments.id,
        "source": arguments.source,
        "trust": arguments.trust,
    }
    given = {name: value for name, value in options.items() if value is not None}
    with open_store(arguments) as store:
        ids = agent_to_write(store, arguments).retain_many(texts, **given)
    show(arguments, "\n".join(ids), ids=ids)
    return 0
