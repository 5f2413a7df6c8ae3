"""Backups of small stores, and what is compared of a store and its copy."""

import gzip
from pathlib import Path

import recollex
from tests.engine.faults.small_store import answers, contents, opened


def back_up(path, target, **options):
    with recollex.open(path, read_only=True) as store:
        return store.backup(target, **options)


def files_of(path):
    """The truth of a store: plain bytes of its log, and its vectors."""
    found = {}
    for file in sorted(Path(path).rglob("*")):
        if file.suffix == ".gz":
            found[file.stem] = gzip.decompress(file.read_bytes())
        elif file.suffix in (".jsonl", ".f16"):
            found[file.name] = file.read_bytes()
    return found


def said(path, **options):
    with opened(path, read_only=True, **options) as agent:
        return contents(agent), answers(agent), agent.verify().problems
