"""Does a list's own distribution in time improve it? SATF's Tables 1 to 3 and Figure 2.

Claim: on LoCoMo, RealMem and LifeBench, SATF as printed changes NDCG@10 of dense retrieval by
-0.007 to +0.015 of a half, and harms questions that need several sessions of LoCoMo after every
list. It lifts days of LifeBench, after RRF by 0.04. After the default, which has a moment of its
own, a careful setting (scores for ranks, alpha 0.05) harms no type of question of these sets, both
halves together, and adds 0.013 to LifeBench's report half. A gate of 0.1 opens for 95 % of LoCoMo's
questions, and changes little; one of 0.5 for 6 %. The hard filter is far above SATF where questions
name times (LifeBench, dense: +0.18 to +0.28) and far below where they do not mean them (RealMem:
-0.03 to -0.05). SATF's own set, LongMemEval, was not run: its data is not here.

Command: python -m bench.tables.satf_tables --data FOLDER [--sets SET ...] [--json FILE] [--limit N]

Check: documents are counted by their best memory: sessions of LoCoMo and RealMem, days of
LifeBench; of a set with one document, memories. All@k is SATF's "R@k": whether all of the evidence
is found. The paper's rows stand first in each table; they are of LongMemEval and another model, so
only the differences within a column can be compared. No row of ours calls a language model. SATF is
applied to four lists: dense retrieval (the paper's), BM25, TEMPR's RRF and the default. The rival
is a hard filter by the range that the question names, read by a grammar instead of GPT-4o; a
question without a range is not filtered. "no harm" is non-inferiority at 0.01 NDCG@10 (the
one-sided 95 % bound of a paired bootstrap); a type with few questions cannot show it. The paper
gives gamma and the window fraction of Figure 2 without a definition; ours are in `SelfAnchoring`.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np

import recollex
from bench.datasets import CASES, LOADERS, load, longmemeval
from bench.datasets.bank import Bank, Query
from bench.lib.kept_vectors import KeptVectors
from bench.tables.lib.evaluation import Asking, Options
from bench.tables.lib.metrics import Difference, paired
from bench.tables.lib.report import Cell, Section, Table, arguments, keep
from bench.tables.lib.trials import SPLITS, Trial, by_set, claim_of, together, trials
from recollex import presets
from recollex_engine.clock import to_micros

SETS = ("locomo", "realmem", "lifebench")
PAPER_TABLE_1 = {
    "Baseline (No Filter)": (0.591, 0.795, 0.539, 0.584, 0),
    "+GPT-4o Time-Range": (0.551, 0.701, 0.533, 0.566, 127),
    "+SATF": (0.669, 0.795, 0.655, 0.683, 0),
}
"""SATF's Table 1: R@5, R@10 (both All@k here), NDCG@5, NDCG@10 and model calls; 127 questions."""
PAPER_TABLE_2 = {
    "Temporal Reasoning": (127, 0.584, 0.683, 0.099),
    "Multi-Session": (121, 0.580, 0.740, 0.159),
    "Knowledge Update": (72, 0.764, 0.895, 0.131),
    "Single-Session Preference": (30, 0.603, 0.698, 0.096),
    "Single-Session User": (64, 0.835, 0.896, 0.060),
    "Single-Session Assistant": (56, 0.043, 0.071, 0.028),
}
"""SATF's Table 2: type, questions, NDCG@10 alone, with SATF, added."""
PAPER_TABLE_3 = {
    "Information Extraction": (150, 0.947, 0.000, 0.055),
    "Multi-Session Reasoning": (121, 0.901, 0.066, 0.159),
    "Knowledge Updates": (72, 1.000, -0.014, 0.131),
    "Temporal Reasoning": (127, 0.961, 0.000, 0.099),
}
"""SATF's Table 3: type, questions, activation, R@10 added (All@10 here), NDCG@10 added."""
PAPER_FIGURE_2 = "0.65 to 0.68"
"""NDCG@10 over gamma 0 to 0.7 and window fractions 0.05 to 0.40, as section 4.5 says."""
MEASURES = ("R@5", "R@10", "All@5", "All@10", "NDCG@5", "NDCG@10")
MARGIN = 0.01
TEMPORAL = {
    "locomo": "temporal",
    "realmem": "Temporal-reasoning",
    "lifebench": "Temporal and Knowledge Updating",
    "longmemeval": "temporal-reasoning",
}
"""Set -> its type of question about time."""

PAPER = presets.SelfAnchoring()
"""Equation 4 alone: a gate of 0."""
CAREFUL = presets.SelfAnchoring(base="scores", strength=0.05)
"""Scores instead of ranks, and a small boost: chosen on development data."""

STAGES = {
    "SATF": PAPER,
    "SATF, gate .1": replace(PAPER, gate=0.1),
    "SATF, gate .5": replace(PAPER, gate=0.5),
    "SATF, careful": CAREFUL,
}
"""The gate of the preset is 0.1. The paper's opens for 94 % of its questions."""

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
    parser = arguments(__doc__.splitlines()[0])
    known = (*LOADERS, *CASES, "longmemeval")
    parser.add_argument("--sets", nargs="+", choices=known, default=list(SETS))
    given = parser.parse_args()
    if "longmemeval" in given.sets and longmemeval.find(given.data) is None:
        raise SystemExit(f"none of {', '.join(longmemeval.FILES)} in {given.data / 'longmemeval'}")
    embedder = KeptVectors()
    sections = printed()
    asked = with_stages() | varied()
    for dataset, banks in by_set(load(given.data, given.sets)).items():
        parts: dict[str, list[Trial]] = {name: [] for name in asked}
        for bank in banks:
            found = trials(
                [bank],
                asked,
                embedder,
                MEASURES,
                unit="document" if several(bank) else None,
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
    remarks = [
        f'"SATF, careful" is base "scores", alpha {CAREFUL.strength:g}; gates: see `SelfAnchoring`',
        "LongMemEval: not run, its file is not here (`--sets longmemeval` takes S or M)",
    ]
    keep(Table("satf_tables", claim_of(__doc__), sections, remarks), given.json)


def several(bank: Bank) -> bool:
    """Return whether the memories of a bank come from several documents."""
    return len({turn["document"] for turn in bank.turns}) > 1


def printed() -> list[Section]:
    """Return the paper's own tables: LongMemEval M, Stella V5 1.5B."""
    names = ("All@5", "All@10", "NDCG@5", "NDCG@10", "model calls")
    return [
        Section(
            "Table 1 as printed: LongMemEval, temporal reasoning",
            [
                {"list": name, "questions": 127, **dict(zip(names, values, strict=True))}
                for name, values in PAPER_TABLE_1.items()
            ],
        ),
        Section(
            "Table 2 as printed: LongMemEval",
            [
                {"type": name, "questions": n, "NDCG@10 alone": alone, "NDCG@10 with it": both}
                | {"NDCG@10 added": more}
                for name, (n, alone, both, more) in PAPER_TABLE_2.items()
            ],
        ),
        Section(
            "Table 3 as printed: LongMemEval",
            [
                {"type": name, "questions": n, "activated": share, "All@10 added": found}
                | {"NDCG@10 added": more}
                for name, (n, share, found, more) in PAPER_TABLE_3.items()
            ],
        ),
    ]


def activated(recall: recollex.Recall) -> bool:
    """Return whether SATF's gate opened; False if there is no SATF."""
    return bool(recall.trace.activated)


def tables(dataset: str, label: str, found: Mapping[str, Trial]) -> list[Section]:
    """Return Tables 1 to 3 and Figure 2 of one half of a set; those of report halves are drawn."""
    plot = "NDCG@10" if label.endswith("report") else None
    every = {name: found[name] for name in with_stages()}
    if not len(every["dense"].scored.queries):
        return []
    sections = [
        Section(f"Table 1, all questions: {label}", main_results(every), plot=plot),
        Section(f"Tables 2 and 3, by type: {label}", by_type(found)),
    ]
    kind = TEMPORAL.get(dataset)
    if kind is not None:
        temporal = {name: found[name].where(category=kind) for name in with_stages()}
        title = f"Table 1, {kind}: {label}"
        sections.insert(0, Section(title, main_results(temporal)))
    figure: list[dict[str, Cell]] = [
        {"dense +": "as printed, all settings (LongMemEval)", "NDCG@10": PAPER_FIGURE_2}
    ]
    for name in varied():
        row: dict[str, Cell] = {"dense +": name}
        row |= found[name].intervals(("All@10", "NDCG@10"))
        if kind is not None:
            row[f"NDCG@10, {kind}"] = found[name].where(category=kind).mean("NDCG@10")
        figure.append(row | {"activated": share(found[name]), "model calls": 0})
    return [*sections, Section(f"Figure 2: {label}", figure, plot=plot)]


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
        rows.append(row | {"model calls": 0})
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
