"""What `promtool check metrics` complains of: the rules of its linter, on what a client parses."""

import re
from collections.abc import Iterator

from prometheus_client.parser import text_string_to_metric_families

BASES = {"amperes", "bytes", "celsius", "grams", "joules", "kelvin", "meters", "seconds", "volts"}
OTHERS = {"minutes", "hours", "days", "weeks", "bits", "calories", "fahrenheit", "miles", "pounds"}
PREFIXES = ("pico", "nano", "micro", "milli", "centi", "deci", "hecto", "kilo", "mega", "giga")
PREFIXES += ("tera", "peta", "kibi", "mebi", "gibi", "tebi", "pebi")
SHORT = {"s", "ms", "us", "ns", "sec", "b", "kb", "mb", "gb", "tb", "pb", "m", "h", "d"}
UNITS = OTHERS | {prefix + unit for prefix in PREFIXES for unit in BASES | OTHERS}
KINDS = ("counter", "gauge", "histogram", "summary", "untyped")


def complaints(text: str) -> list[str]:
    """Return what promtool would say of a text of metrics."""
    lines = [line for line in text.splitlines() if line.startswith("# TYPE ")]
    kinds = {name: kind for _, _, name, kind in (line.split() for line in lines)}
    helped = set(re.findall(r"^# HELP (\S+) \S", text, re.M))
    found = [f"{name}: no help text" for name in kinds if name not in helped]
    if len(lines) != len(kinds):
        found.append("metric is not unique")
    for name, kind in kinds.items():
        found += [f"{name}: {each}" for each in of_name(name, kind)]
    for family in text_string_to_metric_families(text):
        declared = family.name + "_total" * (family.type == "counter")
        if declared not in kinds:
            found.append(f"{family.name}: no type")
        for sample in family.samples:
            for label in sample.labels:
                if re.search("[a-z][A-Z]", label):
                    found.append(f"{family.name}: label {label} in camel case")
                if label == "le" and family.type != "histogram":
                    found.append(f"{family.name}: only a histogram has le")
    return found


def of_name(name: str, kind: str) -> Iterator[str]:
    parts = name.lower().split("_")
    if (kind == "counter") != name.endswith("_total"):
        yield "_total ends counters, and them alone"
    if kind not in ("histogram", "summary") and re.search("_(count|sum|bucket)$", name):
        yield "a suffix of histograms"
    if any(word == each for word in parts[1:] for each in KINDS):
        yield "its type in its name"
    if ":" in name or re.search("[a-z][A-Z]", name):
        yield "no snake case"
    if SHORT & set(parts[1:]):
        yield "an abbreviated unit"
    if UNITS & set(parts):
        yield "no base unit"
