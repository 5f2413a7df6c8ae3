"""The subcommands that write: retain, ingest."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TextIO

from tqdm import tqdm

from recollex.api.iso_times import find_zone
from recollex.api.jsonl import Line, read
from recollex.api.line_batches import batches, store_batch
from recollex.api.plurals import counted
from recollex.cli import locomo
from recollex.cli.existing_store import open_store
from recollex.cli.parser import Arguments
from recollex.cli.terminal import say
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
        ids = store.agent(arguments.agent).retain_many(texts, **given)
    print("\n".join(ids))
    return 0


def ingest(arguments: Arguments) -> int:
    """Store a file in batches; a refused batch leaves the earlier ones stored."""
    if arguments.format == "locomo":
        return _ingest_locomo(arguments)
    where = find_zone(arguments.zone)
    given = {"source": arguments.source, "trust": arguments.trust}
    stamped = {name: value for name, value in given.items() if value is not None}
    if stamped and arguments.stamped:
        raise InputError("--stamped keeps the source of each line: leave --source and --trust out")
    stored = 0
    with _lines(arguments.file) as lines:
        document = arguments.document or (
            None if arguments.file == "-" else Path(arguments.file).stem
        )
        source = read(
            _progress(lines, "lines"), where, document, arguments.recorded, arguments.stamped
        )
        first = next(source, None)  # an error in the first line creates no store
        if first is None:
            say(f"{arguments.file} has no lines: nothing stored")
            return 1
        with open_store(arguments) as store:
            agent = store.agent(arguments.agent or "default")
            try:
                for batch in batches(_chained(first, source), arguments.batch):
                    stored += store_batch(agent, batch, stamped)
            except InputError as error:
                before = f"; stored before it: {counted(stored, 'memory')}" if stored else ""
                raise InputError(f"{arguments.file}: {error}{before}") from error
    print(f"{counted(stored, 'memory')} stored for {arguments.agent or 'default'}")
    return 0


def _ingest_locomo(arguments: Arguments) -> int:
    """Store each conversation for an agent of its name, or all for one agent with distinct ids."""
    if arguments.file == "-":
        raise InputError("--format locomo reads a file or its folder, not standard input")
    conversations = locomo.load(arguments.file)
    total = sum(len(conversation.turns) for conversation in conversations)
    with (
        open_store(arguments) as store,
        tqdm(total=total, unit="turns", disable=not sys.stderr.isatty()) as progress,
    ):
        for conversation in conversations:
            name = arguments.agent or conversation.id
            prefix = f"{conversation.id}/" if arguments.agent else ""
            turns = [turn | {"id": prefix + turn["id"]} for turn in conversation.turns]
            agent = store.agent(name)
            for start in range(0, len(turns), arguments.batch):
                batch = turns[start : start + arguments.batch]
                agent.retain_dialogue(
                    batch,
                    document_id=conversation.id,
                    source=arguments.source,
                    trust=arguments.trust,
                )
                progress.update(len(batch))
            read = f"{counted(len(turns), 'turn'):>12} of {conversation.id} for {name}"
            progress.write(read, sys.stdout)
    print(f"{counted(total, 'memory')} stored")
    return 0


def _chained(first: Line, rest: Iterator[Line]) -> Iterator[Line]:
    yield first
    yield from rest


def _lines(file: str) -> Any:
    return nullcontext(sys.stdin) if file == "-" else Path(file).open(encoding="utf-8")


def _progress(lines: TextIO, unit: str) -> Iterable[str]:
    shown: Iterable[str] = tqdm(lines, unit=unit, disable=not sys.stderr.isatty())
    return shown
