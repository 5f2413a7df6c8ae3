"""Does a list's own distribution in time improve it? SATF's Tables 1 to 3 and Figure 2.

Claim: SATF as printed does not carry over from LongMemEval: after dense retrieval it changes
NDCG@10 by -.007 to +.010 of a set, and harms questions that need several sessions of LoCoMo. It
lifts days of LifeBench, after RRF by .04. After the default, which has a moment of its own, a
careful setting (scores for ranks, alpha .05) harms no type of question of any set, both halves
together, and lifts questions about time of RealMem by .022 and LifeBench by .006. The hard filter
is far above SATF where questions name times (LifeBench, dense: +.18 to +.28) and far below where
they do not mean them (RealMem: -.03 to -.07).

Command: python -m bench.tables.satf_tables --data FOLDER [--json FILE] [--limit N]

Check: sessions (LoCoMo, RealMem) and days (LifeBench) are counted by their best memory. All@k is
SATF's "R@k": whether all of the evidence is found. SATF is applied to four lists: dense retrieval
(the paper's), BM25, TEMPR's RRF and the default. The rival is a hard filter by the range that the
question names, read by a grammar instead of GPT-4o; a question without a range is not filtered.
"no harm" is non-inferiority at .01 NDCG@10 (the one-sided 95 % bound of a paired bootstrap); a type
with few questions cannot show it. The paper gives gamma and the window fraction of Figure 2 without
a definition; ours are in `SelfAnchoring`.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np

import recollex
from bench.datasets import load
from bench.datasets.bank import Query
from bench.lib.kept_vectors import KeptVectors
from bench.tables.lib.evaluation import Asking, Options
from bench.tables.lib.metrics import Difference, paired
from bench.tables.lib.report import Cell, Section, Table, arguments, keep
from bench.tables.lib.trials import SPLITS, Trial, by_set, claim_of, together, trials
from recollex import presets
from recollex_engine.clock import to_micros

SETS = ("locomo", "realmem", "lifebench")
MEASURES = ("R@5", "R@10", "All@5", "All@10", "NDCG@5", "NDCG@10")
MARGIN = 0.01
TEMPORAL = {
    "locomo": "temporal",
    "realmem": "Temporal-reasoning",
    "lifebench": "Temporal and Knowledge Updating",
}
"""Set -> its type of question about time."""

PAPER = presets.SelfAnchoring()
CAREFUL = presets.SelfAnchoring(base="scores", strength=0.05)
"""Scores instead of ranks, and a small boost: chosen on development data."""

STAGES = {"SATF": PAPER, "SATF, gated": replace(PAPER, gate=0.5), "SATF, careful": CAREFUL}

LISTS: Mapping[str, presets.Preset] = {
    "dense": replace(presets.satf, self_anchoring=None),
    "BM25": replace(presets.tempr, arms=("keyword",)),
    "RRF": presets.tempr,
    "default": presets.default,
}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def filtered(preset: presets.Preset) -> Asking:
    """Return an asking that filters by the range of time that a question names, if any."""

    def options(query: Query) -> Options:
        found = preset.time_parser.find(query.text, to_micros(query.asked_at, "asked_at"))
        if found is None:
            return {"preset": preset}
        since, until = (EPOCH + timedelta(microseconds=at) for at in (found.start, found.end))
        return {"preset": preset, "since": since, "until": until}

    return options


def with_stages() -> dict[str, Asking]:
    """Return each list alone, with the hard filter, and with SATF as printed and as set here."""
    found: dict[str, Asking] = {}
    for name, preset in LISTS.items():
        found[name] = {"preset": preset}
        found[f"{name} + hard time range"] = filtered(preset)
        for stage, setting in STAGES.items():
            found[f"{name} + {stage}"] = {"preset": replace(preset, self_anchoring=setting)}
    still = replace(presets.default, fusion=presets.Contextual(moment=0.0))
    found["default without its moment"] = {"preset": still}
    found["default, SATF in its moment's stead"] = {"preset": replace(still, self_anchoring=PAPER)}
    return found


def varied() -> dict[str, Asking]:
    """Return SATF over dense retrieval with one of its constants changed, one row for each."""
    found: dict[str, presets.SelfAnchoring] = {"as printed": PAPER}
    for gate in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7):
        found[f"gate {gate}"] = replace(PAPER, gate=gate)
    for part in (0.01, 0.02, 0.05, 0.1, 0.2, 0.4):
        found[f"window fraction {part}"] = replace(PAPER, window_fraction=part)
    for strength in (0.5, 1.0, 2.0, 5.0, 20.0, 50.0):
        found[f"alpha {strength:g}"] = replace(PAPER, strength=strength)
    for days in (0.5, 1.0, 3.0, 7.0, 30.0, 60.0):
        found[f"sigma {days:g} days"] = replace(PAPER, width_days=days)
    dense = LISTS["dense"]
    asked: dict[str, Asking] = {"dense alone": {"preset": dense}}
    for name, setting in found.items():
        asked[name] = {"preset": replace(dense, self_anchoring=setting)}
    return asked


def main() -> None:
    given = arguments(__doc__.splitlines()[0]).parse_args()
    embedder = KeptVectors()
    sections: list[Section] = []
    asked = with_stages() | varied()
    for dataset, banks in by_set(load(given.data, SETS)).items():
        parts: dict[str, list[Trial]] = {name: [] for name in asked}
        for bank in banks:
            found = trials(
                [bank],
                asked,
                embedder,
                MEASURES,
                unit="document",
                read=activated,
                limit=given.limit,
            )
            for name, trial in found.items():
                parts[name].append(trial)
        whole = {name: together(of) for name, of in parts.items()}
        for split in SPLITS:
            found = {name: trial.where(split) for name, trial in whole.items()}
            sections += tables(dataset, f"{dataset}, {split}", found)
        sections.append(Section(f"Tables 2 and 3, by type: {dataset}, both halves", by_type(whole)))
    remark = '"SATF, gated" acts where the concentration reaches .5; "SATF, careful" is base '
    remark += f'"scores", alpha {CAREFUL.strength:g}'
    keep(Table("satf_tables", claim_of(__doc__), sections, [remark]), given.json)


def activated(recall: recollex.Recall) -> bool:
    """Return whether SATF's gate opened; False if there is no SATF."""
    return bool(recall.trace.activated)


def tables(dataset: str, label: str, found: Mapping[str, Trial]) -> list[Section]:
    """Return Tables 1 to 3 and Figure 2 of one half of a set."""
    kind = TEMPORAL[dataset]
    temporal = {name: found[name].where(category=kind) for name in with_stages()}
    every = {name: found[name] for name in with_stages()}
    sections = [
        Section(f"Table 1, {kind}: {label}", main_results(temporal), plot="NDCG@10"),
        Section(f"Table 1, all questions: {label}", main_results(every), plot="NDCG@10"),
        Section(f"Tables 2 and 3, by type: {label}", by_type(found)),
    ]
    figure: list[dict[str, Cell]] = [
        {"dense +": name}
        | found[name].intervals(("All@10", "NDCG@10"))
        | {f"NDCG@10, {kind}": found[name].where(category=kind).mean("NDCG@10")}
        | {"activated": share(found[name])}
        for name in varied()
    ]
    return [*sections, Section(f"Figure 2: {label}", figure, plot="NDCG@10")]


def share(trial: Trial) -> float:
    """Return the share of questions on which SATF acted."""
    return float(np.mean(trial.reads)) if trial.reads else 0.0


def main_results(found: Mapping[str, Trial]) -> list[dict[str, Cell]]:
    """Return the measures of each list, and what a stage adds to the list it is applied to."""
    rows: list[dict[str, Cell]] = []
    for name, trial in found.items():
        row: dict[str, Cell] = {"list": name, "questions": len(trial.scored.queries)}
        row |= trial.intervals(MEASURES)
        base = name.split(" + ")[0].split(",")[0].removesuffix(" without its moment")
        if name != base and len(trial.scored.queries):
            row["NDCG@10 added"] = added(trial, found[base], "NDCG@10")
        rows.append(row)
    return rows


def by_type(found: Mapping[str, Trial]) -> list[dict[str, Cell]]:
    """Return what SATF adds to each list for each type of question, and whether it is no harm."""
    rows: list[dict[str, Cell]] = []
    for name in LISTS:
        for stage in STAGES:
            for kind in found[name].scored.categories:
                base = found[name].where(category=kind)
                trial = found[f"{name} + {stage}"].where(category=kind)
                more = added(trial, base, "NDCG@10")
                rows.append(
                    {
                        "list": name,
                        "stage": stage,
                        "type": kind,
                        "questions": len(base.scored.queries),
                        "activated": share(trial),
                        "NDCG@10 alone": base.mean("NDCG@10"),
                        "NDCG@10 with it": trial.mean("NDCG@10"),
                        "NDCG@10 added": more,
                        "All@10 added": added(trial, base, "All@10"),
                        "no harm": harm(more),
                    }
                )
    return rows


def harm(more: Difference) -> str:
    """Return whether a difference shows a loss of at most the margin."""
    if more.not_inferior(MARGIN):
        return "shown"
    return "harm" if more.interval.high < 0 else f"not shown (bound {more.lower:+.3f})"


def added(ours: Trial, theirs: Trial, measure: str) -> Difference:
    return paired(ours.scored.values[measure], theirs.scored.values[measure])


if __name__ == "__main__":
    main()
