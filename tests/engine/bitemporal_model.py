"""A naive bitemporal model of facts, entities and events.

The model keeps every version in a list with the numbers of the transactions that recorded and
closed it, and answers each cut by looking at all of them. A transaction's recorded time is its
number in days, so cuts by time and by number are the same.
"""

from datetime import UTC, datetime

START = datetime(2024, 1, 1, tzinfo=UTC)
NAMES = ["Ann", "Bob", "Cy", "Oslo", "Rome"]
FACTS = ["f0", "f1", "f2", "f3"]


def year(number):
    return None if number is None else datetime(2000 + number, 1, 1, tzinfo=UTC)


def holds(span, world):
    start, end = span
    return world is None or ((start is None or start <= world) and (end is None or world < end))


class Model:
    """Every version ever recorded, and what a cut makes of them."""

    def __init__(self):
        self.now = 0
        self.facts = []  # [id, content, recorded, closed]
        self.events = []  # the same
        self.links = []  # (recorded, source, relation, target, qualifier)
        self.merges = []  # (recorded, source, target)
        self.splits = []  # (recorded, source)
        self.records = []  # (recorded, name)
        self.met = {}  # name -> recorded
        self.memories = set()

    def meet(self, *names):
        for name in names:
            self.met.setdefault(name, self.now)

    def open(self, versions, id):
        return next((v for v in versions if v[0] == id and v[3] is None), None)

    def put(self, versions, id, content):
        old = self.open(versions, id)
        if old is not None:
            if old[1] == content:
                return
            old[3] = self.now
        versions.append([id, content, self.now, None])

    def seen(self, versions, at):
        return [v for v in versions if v[2] <= at and (v[3] is None or v[3] > at)]

    def parents(self, at):
        links = [
            merge
            for merge in self.merges
            if merge[0] <= at
            and not any(merge[0] < when <= at and who == merge[1] for when, who in self.splits)
        ]
        for number, (_, content, recorded, _) in enumerate(self.facts):
            if content["predicate"] == "alias_of" and self.facts[number] in self.seen(
                self.facts, at
            ):
                links.append((recorded, content["subject"], content["object"]))
        parent = {}
        order = {name: place for place, name in enumerate(sorted(self.met, key=self.met_order))}
        links.sort(key=lambda link: (link[0], order[link[1]], order[link[2]]))
        for _, source, target in links:
            one, other = self.top(parent, source), self.top(parent, target)
            if one != other:
                parent[one] = other
        return parent

    def met_order(self, name):
        return list(self.met).index(name)

    @staticmethod
    def top(parent, name):
        while name in parent:
            name = parent[name]
        return name

    def refuses(self, source, target):
        parent, above = self.parents(self.now), target
        while above in parent:
            above = parent[above]
            if above == source:
                return True
        return source == target

    def view(self, at, world):
        parent = self.parents(at)
        found = []
        for id, content, _recorded, _ in self.seen(self.facts, at):
            if holds(content["valid"], world):
                shown = dict(content, subject=self.top(parent, content["subject"]))
                if isinstance(content["object"], str):
                    shown["object"] = self.top(parent, content["object"])
                found.append((id, shown))
        return found

    def freshness(self, id, at, world):
        """The recorded time of the latest of an event's facts; None where it is hidden."""
        event = next((v for v in self.seen(self.events, at) if v[0] == id), None)
        if event is None or event[1]["kind"] != "event":
            return None
        start = event[1]["span"][0]
        if world is not None and start is not None and start > world:
            return None
        latest = []
        for fact in event[1]["facts"]:
            seen = [
                v for v in self.seen(self.facts, at) if v[0] == fact and holds(v[1]["valid"], world)
            ]
            if not seen:
                return None
            latest.append(seen[0][2])
        return max(latest, default=event[2])


def overlap(one, other):
    early, late = -100, 100
    (a, b), (c, d) = (
        (early if start is None else start, late if end is None else end)
        for start, end in (one, other)
    )
    return a < d and c < b
