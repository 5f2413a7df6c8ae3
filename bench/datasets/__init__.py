"""The data sets, one loader for each, which read the folder of the original files.

That folder has one folder for each set: locomo, realmem, lifebench, timeqa, multihop (MuSiQue and
2Wiki), scifact, longmemeval; and ``cases``, with a file for each of sixteen more. Development is
LoCoMo's conversations 1 to 5, the first two personas of RealMem and the first user of LifeBench in
alphabetical order, SciFact's training claims, and the first half of the banks, or of the questions
of a single bank, of the others; "report" is the rest. Every second bank of our own set, everyday,
is for reporting.
"""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from bench.datasets import (
    cases,
    everyday,
    lifebench,
    locomo,
    longmemeval,
    multihop,
    realmem,
    scifact,
    timeqa,
)
from bench.datasets.bank import Bank

LOADERS: dict[str, Callable[[Path], list[Bank]]] = {
    "locomo": locomo.load,
    "realmem": realmem.load,
    "lifebench": lifebench.load,
    "timeqa": timeqa.load,
    "musique": multihop.load_musique,
    "2wiki": multihop.load_2wiki,
    "scifact": scifact.load,
}
"""Loaders of the sets that every table runs; LongMemEval is large and has its own script."""

CASES: dict[str, Callable[[Path], list[Bank]]] = {
    name: partial(cases.load, name=name) for name in cases.NAMES
}
"""Loaders of the sets of ``cases``, which `bench.tables.generalization` runs as well."""


def load(data: Path, names: Iterable[str] | None = None) -> list[Bank]:
    """Return the banks of the named sets (all, if None), in the order of `LOADERS`.

    Raises `FileNotFoundError` for a set whose files are not in ``data``, `KeyError` for a name that
    is not a set's.
    """
    loaders = LOADERS | CASES | {"longmemeval": longmemeval.load, "everyday": everyday.load}
    return [bank for name in (LOADERS if names is None else names) for bank in loaders[name](data)]
