"""Backups of small stores, and what is compared of a store and its copy."""

import gzip
from pathlib import Path

import recollex
from recollex_engine.backup import backup
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


def sweep_at_once(monkeypatch):
    """Let a backup remove what no manifest needs, however new it is."""
    real = backup._sweep
    monkeypatch.setattr(backup, "_sweep", lambda target, needed, _: real(target, needed, -1.0))
