"""Talks of two friends about other people, with changes told in time, late, wrongly, corrected.

One seed is one history: sessions of turns. Each turn has its time, and its content as operations
(who, what, since when). `Beliefs` is the naive bitemporal model of the content: a list of versions
that every question scans.

A turn may tell a change in time; a change told months late, which ends the state before it
retroactively; a wrong object, and later its correction; a rumour beside a known fact, settled later
or never; a change in the future; a wrong date, and later its correction. It tells this as an event
("Carl moved to Oslo on 3 May 2023."), in passing ("We met Carl at the Acme office, where he has
been since ..."), or so briefly that only the question before it gives the meaning. Between such
turns are chatter, questions, and turns with names, numbers and dates that tell no change.
"""

import random
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import Literal

PEOPLE = ("Carl", "Dana", "Elif", "Farid", "Greta", "Hugo", "Ines", "Jonas")
START = datetime(2022, 1, 3, 18, tzinfo=UTC)
SESSIONS = 30
BETWEEN = timedelta(days=18)
TURN = timedelta(minutes=1)
CHATTER = (20, 30)
"""The range of the number of turns in a session that tell nothing."""

OBJECTS = {
    "lives_in": "Oslo Bergen Turin Porto Lyon Ghent Graz Malmo Leeds Cork".split(),  # noqa: SIM905
    "works_at": "Acme Initech Globex Hooli Umbra Vandelay Stark Wayne Soylent Tyrell".split(),  # noqa: SIM905
    "drives": "Fiat Volvo Skoda Lada Saab Tesla Honda Mazda Volkswagen Citroen".split(),  # noqa: SIM905
    "learns": "Danish Polish Greek Turkish Welsh Basque Hindi Korean Swahili Finnish".split(),  # noqa: SIM905
}
EVENT = {
    "lives_in": "{s} moved to {o} on {d}.",
    "works_at": "{s} started at {o} on {d}.",
    "drives": "{s} bought a {o} on {d}.",
    "learns": "{s} decided to learn {o} on {d}.",
}
PASSING = {
    "lives_in": "We had dinner at the flat in {o} that {s} has been renting since {d}.",
    "works_at": "I ran into {s} near the {o} office, with the badge carried since {d}.",
    "drives": "{s} gave me a lift home in the {o} that stands in the yard since {d}.",
    "learns": "{s} was reading a {o} novel, after lessons that go on since {d}.",
}
SHORT = {
    "lives_in": "{s}? {o} these days.",
    "works_at": "{s}? {o} these days.",
    "drives": "{s}? A {o} these days.",
    "learns": "{s}? {o} these days.",
}
ASKED = {
    "lives_in": "Where does {s} live?",
    "works_at": "Where does {s} work?",
    "drives": "What car does {s} drive?",
    "learns": "What language does {s} learn?",
}
ASKED_OF = {
    "lives_in": "Where did {s} live on {d}?",
    "works_at": "Where did {s} work on {d}?",
    "drives": "What car did {s} drive on {d}?",
    "learns": "What language was {s} learning on {d}?",
}
ASKED_ALL = {
    "lives_in": "Where has {s} lived over the years?",
    "works_at": "Where has {s} worked over the years?",
    "drives": "Which cars has {s} driven over the years?",
    "learns": "Which languages has {s} been learning over the years?",
}
MISTAKE = "Actually I was wrong about {s}: it is not {wrong} but {o}, since {d}."
REDATED = "Correction: with {s} and {o} it began on {d} and not on {before}."
RUMOUR = "Somebody claims that {s} has {o} now, since {d}, but I doubt it."
SETTLED = "Turns out the story about {s} and {o} was not true."
LATE = "Actually, {event} I only heard now."
AHEAD = "{event} That is still ahead."
SAID = [
    "Hi, how are you?",
    "Haha, yes!",
    "That sounds good.",
    "Oh no, really?",
    "I am so tired today.",
    "What did you do at the weekend?",
    "It rained the whole {part} again.",
    "We watched the match on {day} with {s} and lost {n} to 1.",
    "The bakery near the station sells {n} kinds of bread now.",
    "I read a long article about the {thing} and the old cranes in the harbour.",
    "Shall we meet at {n} on {day}?",
    "{s} says hello, by the way.",
    "My neighbour {s} called on {day} about the broken {thing} in our house.",
    "Did {s} ever call you back about the {thing}?",
    "I love the soup at that place.",
    "The train was {n} minutes late on {day}.",
    "I spent the {part} looking for a {thing} and found {n} of them in the cellar.",
    "{s} and I sat in the garden for {n} hours and talked about the {thing}.",
    "On {day} there was a power cut, so we played cards by candlelight.",
    "The doctor told me to walk {n} kilometres every {part}.",
    "Have you seen the {thing} that {s} posted on {day}?",
    "My sister wants to paint the {thing} green before {day}.",
    "They closed the road for {n} days because of the {thing}.",
    "Well, you never know.",
    "I think that is the best {thing} in the whole neighbourhood, honestly.",
]
PARTS = ("morning", "afternoon", "evening", "night")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
THINGS = (
    *("lift", "fence", "boiler", "lamp", "bridge", "kettle", "carpet", "piano", "window", "ladder"),
    *("umbrella", "printer", "mirror", "sofa", "antenna", "fountain", "parcel", "tent", "kite"),
)

Kind = Literal["state", "object", "start", "rumour", "settle"]


@dataclass(frozen=True, slots=True)
class Telling:
    """The content of a turn. The agent must find out itself what the content changes.

    state: ``object`` holds from ``start``, and the state before it ends. object: it is not
    ``wrong`` but ``object``. start: the state said to begin at ``wrong_start`` began at ``start``.
    rumour: it stands beside the known state. settle: the rumour of ``object`` is not true.
    """

    kind: Kind
    subject: str
    predicate: str
    object: str
    start: datetime
    wrong: str = ""
    wrong_start: datetime | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One turn: its speaker, its text, and its content, if it has any."""

    id: str
    at: datetime
    speaker: str
    text: str
    telling: Telling | None = None


@dataclass(slots=True)
class Version:
    """One version of a belief; None is an open end."""

    subject: str
    predicate: str
    object: str
    start: datetime
    end: datetime | None
    recorded: datetime
    closed: datetime | None
    rumour: bool
    evidence: tuple[str, ...]


@dataclass
class Beliefs:
    """All that was told, with both time axes: a list that is scanned from its beginning."""

    versions: list[Version] = field(default_factory=list)

    def tell(self, line: Line) -> None:
        """Add the content of a turn."""
        told, at = line.telling, line.at
        if told is None:
            return
        known = [
            each
            for each in self.versions
            if each.closed is None
            and (each.subject, each.predicate) == (told.subject, told.predicate)
        ]
        new = Version(
            told.subject,
            told.predicate,
            told.object,
            told.start,
            None,
            at,
            None,
            told.kind == "rumour",
            (line.id,),
        )
        if told.kind == "rumour":
            self.versions.append(new)
        elif told.kind == "settle":
            for each in known:
                if each.rumour and each.object == told.object:
                    each.closed = at
        elif told.kind == "state":
            following = [
                each.start for each in known if not each.rumour and each.start > told.start
            ]
            for each in known:
                if not each.rumour and each.start < told.start and _reaches(each, told.start):
                    self._revise(each, at, line.id, end=told.start)
            new.end = min(following, default=None)
            self.versions.append(new)
        else:
            self._correct(known, new, told, at, line.id)

    def _correct(
        self, known: list[Version], new: Version, told: Telling, at: datetime, id: str
    ) -> None:
        name = told.wrong if told.kind == "object" else told.object
        wrong = [each for each in known if not each.rumour and each.object == name]
        if not wrong:
            self.versions.append(new)
            return
        old = wrong[-1]
        if old.end is not None and told.start >= old.end:
            return  # the corrected state had ended by then
        for each in known:
            if not each.rumour and each.end == old.start and each.start < told.start:
                self._revise(each, at, id, end=told.start)
        self._revise(old, at, id, object=told.object, start=told.start)

    def _revise(self, version: Version, at: datetime, id: str, **changes: object) -> None:
        version.closed = at
        evidence = (*version.evidence, id)
        self.versions.append(
            replace(version, recorded=at, closed=None, evidence=evidence, **changes)
        )

    def at(self, recorded: datetime, world: datetime) -> list[Version]:
        """Return the beliefs recorded at one time about another time."""
        return [
            each
            for each in self.versions
            if each.recorded <= recorded
            and (each.closed is None or recorded < each.closed)
            and each.start <= world
            and (each.end is None or world < each.end)
        ]


def _reaches(version: Version, moment: datetime) -> bool:
    return version.end is None or moment < version.end


def best(found: list[tuple[bool, datetime, str]]) -> str | None:
    """Return the answer among (rumour, recorded, object): no rumour, then the latest."""
    return max(found, key=lambda each: (not each[0], each[1], each[2]))[2] if found else None


def written(moment: datetime | date) -> str:
    """Return a day as the turns write it.

    >>> written(date(2023, 5, 3))
    '3 May 2023'
    """
    return f"{moment.day} {moment:%B %Y}"


def history(seed: int) -> list[list[Line]]:
    """Return the sessions of one history, each a list of turns in order."""
    return _Author(random.Random(seed)).write()


class _Author:
    """Writes one history; ``rng`` makes every choice."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.now: dict[tuple[str, str], tuple[str, datetime]] = {}
        self.later: list[tuple[int, Telling]] = []  # from which session on, what
        self.used: dict[tuple[str, str], set[str]] = {}

    def write(self) -> list[list[Line]]:
        sessions = []
        number = 0
        for session in range(SESSIONS):
            at = START + session * BETWEEN
            told = [telling for due, telling in self.later if due == session]
            for _ in range(self.rng.randint(1, 3)):
                told += self._news(session, at)
            lines: list[tuple[str, Telling | None]] = [
                (self._chatter(), None) for _ in range(self.rng.randint(*CHATTER))
            ]
            for telling in told:
                place = self.rng.randint(0, len(lines))
                lines[place:place] = self._say(telling, at)
            turns = []
            for place, (text, telling) in enumerate(lines):
                speaker = ("Ann", "Ben")[place % 2]
                turns.append(Line(f"t{number}", at + place * TURN, speaker, text, telling))
                number += 1
            sessions.append(turns)
        return sessions

    def _chatter(self) -> str:
        rng = self.rng
        return rng.choice(SAID).format(
            s=rng.choice(PEOPLE),
            n=rng.randint(2, 45),
            part=rng.choice(PARTS),
            day=rng.choice(DAYS),
            thing=rng.choice(THINGS),
        )

    def _new_object(self, key: tuple[str, str]) -> str:
        used = self.used.setdefault(key, set())
        free = [each for each in OBJECTS[key[1]] if each not in used] or OBJECTS[key[1]]
        chosen = self.rng.choice(free)
        used.add(chosen)
        return chosen

    def _news(self, session: int, at: datetime) -> list[Telling]:
        """Return what is told now of one subject; a correction is kept for a later session."""
        rng = self.rng
        key = rng.choice(PEOPLE), rng.choice(list(OBJECTS))
        subject, predicate = key
        known = self.now.get(key)
        day = at.replace(hour=0)
        kind = rng.choices(
            ["change", "late", "mistake", "rumour", "ahead", "redate"], [4, 2, 2, 2, 1, 1]
        )[0]
        if kind == "rumour" and known is None:
            kind = "change"
        back = {"late": (60, 200), "ahead": (-60, -20)}.get(kind, (1, 15))
        start = day - timedelta(days=rng.randint(*back))
        if known is not None and start <= known[1]:
            if kind == "ahead" or known[1] >= day - timedelta(days=2):
                return []
            start = known[1] + (day - known[1]) / 2
            start = start.replace(hour=0, minute=0, second=0, microsecond=0)
            if start <= known[1]:
                return []
        chosen = self._new_object(key)
        if kind == "rumour":
            rumour = Telling("rumour", subject, predicate, chosen, start)
            if rng.random() < 0.6:
                due = session + rng.randint(2, 6)
                self.later.append((due, replace(rumour, kind="settle")))
            return [rumour]
        told = Telling("state", subject, predicate, chosen, start)
        self.now[key] = chosen, start
        if kind == "mistake":
            right = self._new_object(key)
            self.now[key] = right, start
            self.later.append(
                (
                    session + rng.randint(1, 5),
                    replace(told, kind="object", object=right, wrong=chosen),
                )
            )
        elif kind == "redate":
            moved = start + timedelta(days=rng.randint(1, 14))
            self.now[key] = chosen, moved
            self.later.append(
                (
                    session + rng.randint(1, 5),
                    replace(told, kind="start", start=moved, wrong_start=start),
                )
            )
        return [told]

    def _say(self, telling: Telling, at: datetime) -> list[tuple[str, Telling | None]]:
        """Return the turns of one telling; the last one has the content."""
        words = {
            "s": telling.subject,
            "o": telling.object,
            "d": written(telling.start),
            "wrong": telling.wrong,
        }
        if telling.kind == "object":
            return [(MISTAKE.format(**words), telling)]
        if telling.kind == "start":
            assert telling.wrong_start is not None
            words["before"] = written(telling.wrong_start)
            return [(REDATED.format(**words), telling)]
        if telling.kind == "rumour":
            return [(RUMOUR.format(**words), telling)]
        if telling.kind == "settle":
            return [(SETTLED.format(**words), telling)]
        event = EVENT[telling.predicate].format(**words)
        if telling.start > at:
            return [(AHEAD.format(event=event), telling)]
        if at - telling.start > timedelta(days=40):
            return [(LATE.format(event=event), telling)]
        style = self.rng.random()
        if style < 0.45:
            return [(event, telling)]
        if style < 0.8:
            return [(PASSING[telling.predicate].format(**words), telling)]
        since = replace(telling, start=at.replace(hour=0))  # no date is given: it holds from today
        key = telling.subject, telling.predicate
        if self.now.get(key) == (telling.object, telling.start):
            self.now[key] = telling.object, since.start
        asked = ASKED[telling.predicate].format(**words)
        return [(asked, None), (SHORT[telling.predicate].format(**words), since)]
