"""The kinds of metrics: counters, gauges and histograms, and their text for Prometheus.

The text is the exposition format 0.0.4: a `# HELP` and a `# TYPE` line, then one line for each
series.
"""

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

MAX_SERIES = 512
"""The most series of one instrument; further ones are counted under the label `OTHER`."""
OTHER = "other"

SECONDS = (
    0.00005,
    0.0001,
    0.00025,
    0.0005,
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    10.0,
)
"""Upper bounds of time buckets: a recall takes a millisecond, a stage tens of microseconds."""
COUNTS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
"""Upper bounds of buckets for small counts."""

Labels = tuple[str, ...]


class Instrument(Protocol):
    """A metric that can be scraped."""

    def lines(self) -> Iterator[str]:
        """Give the lines of the text, without line ends."""


class Counter:
    """A number that only grows, one for each combination of labels. Threads: any.

    >>> calls = Counter("calls_total", "Calls.", ("method",))
    >>> calls.add(1, "recall")
    >>> list(calls.lines())[-1]
    'calls_total{method="recall"} 1'
    """

    def __init__(self, name: str, about: str, labels: Labels = ()) -> None:
        self.name: str = name
        self.about: str = about
        self.labels: Labels = labels
        self._lock = threading.Lock()
        self._values: dict[Labels, float] = {} if labels else {(): 0}

    def add(self, amount: float, *labels: str) -> None:
        """Add ``amount``, which is not negative, to the series with these labels."""
        with self._lock:
            if labels not in self._values:
                labels = _bounded(self._values, labels)
            self._values[labels] = self._values.get(labels, 0) + amount

    def value(self, *labels: str) -> float:
        """Return the count under these labels."""
        return self._values.get(labels, 0)

    def lines(self) -> Iterator[str]:
        """Give the lines of the text, without line ends."""
        yield from _head(self.name, self.about, "counter")
        with self._lock:
            values = sorted(self._values.items())
        for labels, value in values:
            yield f"{self.name}{_braces(self.labels, labels)} {value:.15g}"


class Gauge:
    """A number that goes up and down, read at each scrape."""

    kind = "gauge"

    def __init__(self, name: str, about: str, read: Callable[[], float]) -> None:
        self.name: str = name
        self.about: str = about
        self._read = read

    def lines(self) -> Iterator[str]:
        """Give the lines of the text, without line ends."""
        yield from _head(self.name, self.about, self.kind)
        yield f"{self.name} {self._read():.15g}"


class ReadCounter(Gauge):
    """A number that only grows, read at each scrape."""

    kind = "counter"


class Histogram:
    """How many values lie below each bound, and the sum of the values. Threads: any.

    >>> took = Histogram("took_seconds", "Time.", bounds=(0.1, 1.0))
    >>> took.observe(0.5)
    >>> for line in list(took.lines())[2:]:
    ...     print(line)
    took_seconds_bucket{le="0.1"} 0
    took_seconds_bucket{le="1"} 1
    took_seconds_bucket{le="+Inf"} 1
    took_seconds_sum 0.5
    took_seconds_count 1
    """

    def __init__(
        self, name: str, about: str, labels: Labels = (), bounds: tuple[float, ...] = SECONDS
    ) -> None:
        self.name: str = name
        self.about: str = about
        self.labels: Labels = labels
        self.bounds: tuple[float, ...] = bounds
        self._lock = threading.Lock()
        self._series: dict[Labels, list[float]] = {}  # counts of the buckets, then the sum
        if not labels:
            self._series[()] = self._empty()

    def _empty(self) -> list[float]:
        return [0] * (len(self.bounds) + 1) + [0.0]

    def observe(self, value: float, *labels: str) -> None:
        """Count one ``value`` under these labels; costs less than a microsecond."""
        with self._lock:
            series = self._series.get(labels)
            if series is None:
                labels = _bounded(self._series, labels)
                series = self._series.setdefault(labels, self._empty())
            series[bisect_left(self.bounds, value)] += 1
            series[-1] += value

    def observe_all(self, values: Mapping[str, float], scale: float) -> None:
        """Count ``scale`` times each value under its name, the histogram's only label."""
        with self._lock:
            for name, value in values.items():
                series = self._series.get((name,))
                if series is None:
                    series = self._series.setdefault(_bounded(self._series, (name,)), self._empty())
                scaled = value * scale
                series[bisect_left(self.bounds, scaled)] += 1
                series[-1] += scaled

    def lines(self) -> Iterator[str]:
        """Give the lines of the text, without line ends."""
        yield from _head(self.name, self.about, "histogram")
        with self._lock:
            series = sorted((labels, list(values)) for labels, values in self._series.items())
        names = (*self.labels, "le")
        for labels, values in series:
            total = 0.0
            for bound, count in zip((*self.bounds, None), values[:-1], strict=True):
                total += count
                edge = "+Inf" if bound is None else f"{bound:g}"
                yield f"{self.name}_bucket{_braces(names, (*labels, edge))} {total:.15g}"
            braces = _braces(self.labels, labels)
            yield f"{self.name}_sum{braces} {values[-1]:.9g}"
            yield f"{self.name}_count{braces} {total:.15g}"


def _bounded(known: Mapping[Labels, object], labels: Labels) -> Labels:
    """Return the labels if they are known or there is room; otherwise `OTHER` for each label."""
    if labels in known or len(known) < MAX_SERIES:
        return labels
    return (OTHER,) * len(labels)


def _head(name: str, about: str, kind: str) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"


def _braces(names: Labels, values: Labels) -> str:
    if not names:
        return ""
    pairs = (f'{name}="{_escaped(value)}"' for name, value in zip(names, values, strict=True))
    return "{" + ",".join(pairs) + "}"


def _escaped(value: str) -> str:
    value = value.encode("utf-8", "backslashreplace").decode()
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
