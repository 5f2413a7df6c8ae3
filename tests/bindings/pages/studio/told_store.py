"""A store with something of every kind for the studio, without a model, and its server."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import recollex
from tests.bindings.remote.http.http_service import HashedWords

START = datetime(2024, 1, 1, tzinfo=UTC)
NASTY = '</script><img src=x onerror="window.hurt=1">{{page}} <b>bold</b> &amp; "quoted"'
PEOPLE = ("Ann", "Bob", "Carol", "Dana")
TOWNS = ("Oslo", "Rome", "Bergen")
THINGS = ("bicycle", "garden", "van", "choir")


def day(number: float) -> datetime:
    return START + timedelta(days=number)


def tell(folder: Path, count: int = 60) -> None:
    """Fill a store with `count` talks of one agent, facts, an event and corrections."""
    with recollex.open(folder, embedder=HashedWords(), durability="off") as store:
        a = store.agent("alice")
        for n in range(count):
            one, other = PEOPLE[n % 4], PEOPLE[(n + 1) % 4]
            a.retain(
                f"{one} met {other} in {TOWNS[n % 3]} on day {n}: the {THINGS[n % 4]} is ready.",
                id=f"m{n}",
                event_at=day(n),
                recorded_at=day(n + 0.1),
                entities=[one, other],
                tags=["work" if n % 2 else "home"],
                source="user" if n % 5 else "web",
                valid_until=day(n + 40) if n % 7 == 0 else None,
                metadata={"page": n},
            )
        last = count + 1.0
        a.facts.add(
            *("Ann", "lives_in", "Oslo"),
            id="f1",
            evidence="m1",
            valid=(day(0), None),
            recorded_at=day(last),
        )
        a.facts.add(NASTY, "likes", recollex.Text(NASTY), evidence="m2", recorded_at=day(last + 1))
        a.events.add("The move", participants=["Ann"], facts=["f1"], recorded_at=day(last + 2))
        a.retain(NASTY, id="nasty", tags=[NASTY], recorded_at=day(last + 3), event_at=day(last))
        said = "Ann met Bob in Rome on day 4: the bicycle is broken."
        a.correct("m4", said, by="ann", why="it broke", recorded_at=day(last + 4))
        a.archive("m5", by="bob", why="old", recorded_at=day(last + 5))
        a.forget("m6", by="bob", why="asked", recorded_at=day(last + 6))
        store.agent("team/one").retain("The office kitchen is on the second floor.", id="k")
