"""Questions about random graphs of dated relations, in the spirit of Test of Time's semantic part.

Fatemi et al. (ICLR 2025) draw graphs of anonymous entities, give each edge a relation and a time,
and ask eight types of question (REMem's Table 13 has them). This set is ours: other graphs, other
questions, and relations with names beside anonymous ones. The eight types have its names.

A graph has one calendar unit (year, month or day) and 60 to 200 relations. Some pairs are related
several times. Questions are filled into templates of two disjoint files::

    dated_relations_own.json     those that recollex's planner was written on
    dated_relations_unseen.json  written before the planner, and not looked at while it was written

Gold is computed by `bench.datasets.dated_relations_oracle`. A question is drawn again if it has no
answer, or if two readings of "before", "after" or "last" give different ones; `unanswerable` draws
what has none on purpose.
"""

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from bench.datasets import dated_relations_oracle as oracle
from bench.datasets.dated_relations_oracle import Relation

TYPES = (
    "event_at_time",
    "event_at_what_time",
    "number_of_events",
    "before_after",
    "event_at_time_of_event",
    "first_last",
    "relation_duration",
    "timeline",
)
HALVES = ("own", "unseen")
SHAPES = ("random", "preferential", "star", "complete", "blocks")
UNITS = ("year", "month", "day")
A_GRAPH = 7
"""Questions of each type and half about one graph."""
GRAPHS = 50

Gold = frozenset[str] | tuple[str, ...] | int
"""Names or times in no order; names in order; a number."""


@dataclass(frozen=True, slots=True)
class Words:
    """A relation in words. noun: for "the director of". verb: base, past, participle in -ing."""

    predicate: str
    noun: str = ""
    verb: tuple[str, str, str] = ("", "", "")
    subjects: tuple[str, str] = ("person", "people")
    objects: tuple[str, str] = ("company", "companies")


@dataclass(frozen=True, slots=True)
class Graph:
    """Dated relations. unit: of their times. name: such as "12 star month"."""

    name: str
    unit: str
    relations: list[Relation]
    words: Mapping[str, Words]

    def valid(self, relation: Relation) -> str:
        """Return the time of a relation in words, as `facts.add(valid=)` takes it."""
        first, last = (spelled(each, self.unit) for each in relation[3:])
        if first != last:
            return f"from {first} to {last}"
        return f"{'on' if self.unit == 'day' else 'in'} {first}"


@dataclass(frozen=True, slots=True)
class DatedQuestion:
    """A question. template: the file's key and place, such as "own/timeline/nominal subject/3"."""

    text: str
    type: str
    gold: Gold
    template: str = field(default="")


NAMED = (
    Words("director_of", "director"),
    Words("deputy_director_of", "deputy director"),
    Words("was captain of", "captain", objects=("team", "teams")),
    Words("editorOf", "editor", objects=("journal", "journals")),
    Words("is_the_treasurer_of", "treasurer", objects=("club", "clubs")),
    Words("works_for", verb=("work for", "worked for", "working for")),
    Words("lives_in", verb=("live in", "lived in", "living in"), objects=("city", "cities")),
    Words("played_for", verb=("play for", "played for", "playing for"), objects=("team", "teams")),
    Words(
        "studies_at", verb=("study at", "studied at", "studying at"), objects=("school", "schools")
    ),
)
_FIRST = (
    "Ada Bela Carl Dina Emil Fay Gus Hana Ivo June Kofi Lena Mats Nora Otto Pia Rui Sara Tom Uma"
)
_LAST = "Berg Costa Diaz Eriksen Fuchs Gomez Hill Ito Jansen Kaya Lund Moreau Novak Okoye Park"
_PLACES = (
    "Alder Birch Cedar Dover Elm Ferro Granite Harbor Indigo Juniper Kestrel Laurel Maple Nimbus"
)
_ORDINALS = ("1st", "2nd", "3rd", "4th", "5th", "6th")
_SORTS = "Works|Labs|House|Union|College|Point"


def load(graphs: int = GRAPHS, seed: int = 21) -> Iterator[tuple[Graph, list[DatedQuestion]]]:
    """Yield each graph with its questions, `A_GRAPH` of each type from each half."""
    for number in range(graphs):
        chance = random.Random(f"{seed} {number}")
        graph = draw_graph(number, chance)
        asked = [
            draw_question(graph, half, kind, chance)
            for half in HALVES
            for kind in TYPES
            for _ in range(A_GRAPH)
        ]
        yield graph, asked


def templates(half: str) -> dict[str, dict[str, list[str]]]:
    """Return the templates of a half: type -> variant -> texts."""
    path = Path(__file__).with_name(f"dated_relations_{half}.json")
    read: dict[str, dict[str, list[str]]] = json.loads(path.read_text(encoding="utf-8"))
    return read


def spelled(point: int, unit: str) -> str:
    """Return a point of time in words.

    >>> spelled(1983, "year"), spelled(1983 * 12 + 4, "month")
    ('1983', 'May 1983')
    """
    if unit == "year":
        return f"{point}"
    if unit == "month":
        return f"{date(point // 12, point % 12 + 1, 1):%B %Y}"
    day = date.fromordinal(point)
    return f"{day.day} {day:%B %Y}"


def iso(point: int, unit: str) -> str:
    """Return a point of time in ISO 8601, as precise as its unit."""
    if unit == "year":
        return f"{point}"
    if unit == "month":
        return f"{point // 12}-{point % 12 + 1:02}"
    return date.fromordinal(point).isoformat()


def draw_graph(number: int, chance: random.Random) -> Graph:
    """Return a graph of one of `SHAPES`; every third one is anonymous."""
    shape, unit = SHAPES[number % len(SHAPES)], UNITS[number % len(UNITS)]
    anonymous = number % 3 == 1 or number % 7 == 0
    if anonymous:
        kinds = ("entity", "entities")
        numbers = chance.sample(range(1, 99), 4)
        words = [Words(f"was the R{n} of", f"R{n}", ("", "", ""), kinds, kinds) for n in numbers]
        people = [f"E{n}" for n in chance.sample(range(1, 99), 24)]
        places = people[:8]
    else:
        words = chance.sample(NAMED[:5], 3) + chance.sample(NAMED[5:], 2)
        firsts, lasts = _FIRST.split(), _LAST.split()
        people = [f"{a} {b}" for a in firsts for b in chance.sample(lasts, 2)][:24]
        places = [f"{a} {b}" for a in _PLACES.split() for b in _SORTS.split("|")]
        chance.shuffle(places)
        places = places[:8]
    relations: dict[tuple[str, str, str, int], int] = {}  # a triple begins once at a time
    while len(relations) < 60 + number % 5 * 30:
        subject, place = _edge(shape, people, places, chance)
        if subject == place:
            continue
        word = chance.choice(words)
        for first, last in _tenures(unit, chance):
            relations[subject, word.predicate, place, first] = last
    ordered = [(*key, last) for key, last in sorted(relations.items())]
    chance.shuffle(ordered)
    return Graph(
        f"{number} {shape} {unit}", unit, ordered, {each.predicate: each for each in words}
    )


def draw_question(
    graph: Graph, half: str, kind: str, chance: random.Random, tries: int = 2000
) -> DatedQuestion:
    """Return a question of a type that has one answer. Raises LookupError if none is found."""
    variants = templates(half)[kind]
    for _ in range(tries):
        relation = chance.choice(graph.relations)
        word = graph.words[relation[1]]
        form = "nominal" if word.noun else "verbal"
        fitting = [each for each in variants if each.startswith(form)]
        variant = chance.choice(fitting)
        place = chance.randrange(len(variants[variant]))
        made = _answered(graph, relation, kind, variant.split()[1:], chance)
        if made is not None:
            slots, gold = made
            text = variants[variant][place].format(**_slots(relation, word, graph.unit), **slots)
            return DatedQuestion(text, kind, gold, f"{half}/{kind}/{variant}/{place}")
    raise LookupError(f"graph {graph.name} has no question of the type {kind}")


def unanswerable(graph: Graph, half: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Yield (why, text) of questions whose answer the graph does not hold."""
    variants = templates(half)
    relation = next(each for each in graph.relations if graph.words[each[1]].noun)
    word = graph.words[relation[1]]
    slots = _slots(relation, word, graph.unit)
    never = min(each[3] for each in graph.relations) - 50
    time = _in(never, graph.unit)
    event = chance.choice(variants["event_at_time"]["nominal subject"])
    yield "nothing held then", event.format(**slots, **time)
    known = _in(relation[3], graph.unit)
    yield "unknown object", event.format(**slots | {"o": "Zenith Quarry"}, **known)
    yield "unknown relation", event.format(**slots | {"n": "gardener"}, **known)
    named = chance.choice(variants["first_last"]["nominal first"])
    yield "unknown object", named.format(**slots | {"o": "Zenith Quarry"})
    when = chance.choice(variants["event_at_what_time"]["nominal start"])
    yield "unknown subject", when.format(**slots | {"s": "Zoe Quill"})
    chosen = oracle.alike(graph.relations, relation[1], object=relation[2])
    first = min(chosen, key=lambda each: each[3])
    if sum(each[3] == first[3] for each in chosen) == 1 and _alone(graph, first):
        before = chance.choice(variants["before_after"]["nominal before"])
        yield "nothing came before", before.format(**slots, x=first[0])
    for each in chosen:
        both = oracle.neighbour(chosen, each, True, 0)
        if both is None and _alone(graph, each):
            before = chance.choice(variants["before_after"]["nominal before"])
            yield "two readings differ", before.format(**slots, x=each[0])
            break


def _answered(
    graph: Graph, relation: Relation, kind: str, variant: list[str], chance: random.Random
) -> tuple[dict[str, str], Gold] | None:
    """Return the slots and the gold of a question; None if it has no single answer."""
    subject, predicate, place, first, last = relation
    of_object = oracle.alike(graph.relations, predicate, object=place)
    of_subject = oracle.alike(graph.relations, predicate, subject=subject)
    word, unit = graph.words[predicate], graph.unit
    nominal = bool(word.noun)
    chosen, asked = (of_object, 0) if nominal else (of_subject, 2)
    if kind == "event_at_time":
        time = chance.randint(first, last)
        asks_subject = variant == ["subject"]
        fixed = (of_object, 0) if asks_subject else (of_subject, 2)
        return _in(time, unit), oracle.at(fixed[0], time, fixed[1])
    if kind == "event_at_what_time":
        if not _alone(graph, relation):
            return None
        return {}, frozenset({iso(first if variant == ["start"] else last, unit)})
    if kind == "number_of_events":
        a = chance.randint(first - 3, last)
        b = chance.randint(a + 1, max(a + 2, last + 5))
        times = {"a": spelled(a, unit), "b": spelled(b, unit)}
        return times, oracle.between(of_object, a, b, 0)
    if kind == "before_after":
        fixed = {"subject": subject, "object": place}
        if len(oracle.alike(graph.relations, predicate, **fixed)) > 1:
            return None
        found = oracle.neighbour(chosen, relation, variant == ["before"], asked)
        return ({"x": subject if nominal else place}, found) if found else None
    if kind == "event_at_time_of_event":
        anchors = [
            each for each in graph.relations if graph.words[each[1]].noun and each != relation
        ]
        anchor = chance.choice(anchors)
        names = {"s2": anchor[0], "n2": graph.words[anchor[1]].noun, "o2": anchor[2]}
        found = oracle.at(chosen, anchor[3 if variant == ["start"] else 4], asked)
        return (names, found) if found and _alone(graph, anchor) else None
    if kind == "first_last":
        found = oracle.extreme(chosen, variant == ["first"], asked)
        return ({}, found) if found and len(chosen) > 1 else None
    if kind == "relation_duration":
        tenures = sorted(
            oracle.alike(graph.relations, predicate, subject=subject, object=place),
            key=lambda t: t[3],
        )
        if last == first or (variant == ["nth"]) == (len(tenures) == 1):
            return None
        if len({each[3] for each in tenures}) < len(tenures) or len(tenures) > len(_ORDINALS):
            return None
        return {"nth": _ORDINALS[tenures.index(relation)]}, last - first
    order = oracle.timeline(chosen, asked)
    return ({}, order) if order is not None and 1 < len(order) < 12 else None


def _alone(graph: Graph, relation: Relation) -> bool:
    """Return whether these two are related in this way once only."""
    return sum(each[:3] == relation[:3] for each in graph.relations) == 1


def _in(time: int, unit: str) -> dict[str, str]:
    said = f"{'on' if unit == 'day' else 'in'} {spelled(time, unit)}"
    return {
        "in_t": said,
        "in_T": said.capitalize() if unit == "year" else said[0].upper() + said[1:],
    }


def _slots(relation: Relation, word: Words, unit: str) -> dict[str, str]:
    base, past, doing = word.verb
    return {
        "s": relation[0],
        "o": relation[2],
        "n": word.noun,
        "v": base,
        "ved": past,
        "ved_p": past,
        "ving": doing,
        "sk1": word.subjects[0],
        "sk": word.subjects[1],
        "ok": word.objects[0],
        "oks": word.objects[1],
        "units": f"{unit}s",
    }


def _edge(
    shape: str, people: list[str], places: list[str], chance: random.Random
) -> tuple[str, str]:
    """Return a random edge of a graph of a shape."""
    if shape == "star":
        return chance.choice(people), places[min(int(chance.expovariate(1.2)), 2)]
    if shape == "preferential":
        return chance.choice(people), places[int(len(places) * chance.random() ** 2.5)]
    if shape == "blocks":
        block = chance.randrange(3)
        return chance.choice(people[block::3]), chance.choice(places[block::3])
    if shape == "complete":
        return chance.choice(people[:8]), chance.choice(places[:8])
    return chance.choice(people), chance.choice(places)


def _tenures(unit: str, chance: random.Random) -> list[tuple[int, int]]:
    """Return one to four disjoint spans of time."""
    start, longest, gap = {
        "year": (chance.randint(1900, 1990), 9, 8),
        "month": (chance.randint(1970 * 12, 2010 * 12), 60, 40),
        "day": (date(1990, 1, 1).toordinal() + chance.randrange(7000), 900, 500),
    }[unit]
    spans = []
    for _ in range(chance.choice((1, 1, 1, 1, 2, 3, 4))):
        end = start + chance.randint(0, longest)
        spans.append((start, end))
        start = end + chance.randint(2, gap)
    return spans
