"""A process that reads facts which another process writes; run by test_facts_readers."""

import json
import sys
from datetime import datetime

import recollex


def main(folder: str) -> None:
    """Answer each moment on standard input with the facts and events of that cut."""
    with recollex.open(folder, read_only=True, embedder=recollex.GivenVectors(8)) as store:
        agent = store.agent("a")
        print("ready", flush=True)
        for line in sys.stdin:
            at = None if line.strip() == "now" else datetime.fromisoformat(line.strip())
            facts = [fact.to_dict() for fact in agent.facts.snapshot(as_recorded=at)]
            events = [event.to_dict() for event in agent.events.find(as_recorded=at)]
            entities = [entity.to_dict() for entity in agent.facts.entities(as_recorded=at)]
            print(json.dumps([facts, events, entities]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
