"""What an agent is told in the tests of surfaces: a fact on evidence, an event, an episode."""


def told(agent):
    with agent.transaction() as tx:
        first = tx.retain("Ann lives in Rome.", id="m1", tags=["home"], source="web")
        tx.retain("The lamp broke.", id="m2")
        fact = tx.facts.add("Ann", "lives_in", "Rome", evidence=first, id="f1")
        tx.facts.add("Ben", "likes", "tea", id="f2")
        event = tx.events.add("Ann moved to Rome.", facts=fact, id="e1")
        tx.events.add_episode("A year of moves", [event], id="p1")
