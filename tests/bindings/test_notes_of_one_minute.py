"""Notes of one minute have the clock in common, and no moment: an older note may answer."""

from datetime import UTC, datetime, timedelta

import pytest

import recollex

NOW = datetime(2026, 11, 20, 18, tzinfo=UTC)
BANKS = {
    ("Where does Ann live?", "Ann moved to Bergen."): (
        "Ann likes tea.",
        "Ann works as a nurse.",
        "Ann has two brothers.",
        "Ann plays the cello.",
        "Ann drives an old Volvo.",
    ),
    ("When was Tom born?", "Tom's birthday is on 4 May."): (
        "Tom prefers aisle seats.",
        "Tom is vegetarian.",
        "Tom uses a Mac.",
        "Tom speaks Italian.",
        "Tom hates phone calls.",
    ),
    ("What is the name of the user's child?", "The user's daughter is called Mia."): (
        "The user drinks oat milk.",
        "The user gets up at six.",
        "The user lives in Leeds.",
        "The user runs on Sundays.",
        "The user likes jazz.",
    ),
    ("Where do we deploy?", "Deploys go to the cluster in Frankfurt."): (
        "Tests run with pytest.",
        "The main branch is protected.",
        "Releases happen on Tuesdays.",
        "Secrets live in Vault.",
        "Reviews need two people.",
    ),
    ("What must Karl not eat?", "Karl is allergic to peanuts."): (
        "Karl likes Thai food.",
        "Karl cooks on Fridays.",
        "Karl owns a wok.",
        "Karl drinks no alcohol.",
        "Karl loves mango.",
    ),
    ("Which injury did Lena have?", "Lena broke her left arm in August."): (
        "Lena rides horses.",
        "Lena has a new phone.",
        "Lena studies law.",
        "Lena sings in a choir.",
        "Lena wants to visit Japan.",
    ),
    ("What is the registration of the car?", "The car's licence plate is KB-311."): (
        "The car is blue.",
        "The car needs winter tyres.",
        "The car was bought in 2021.",
        "The car has a dent.",
        "The car is parked in the yard.",
    ),
    ("Who manages Priya?", "Priya's manager is Sam Ortega."): (
        "Priya joined the data team.",
        "Priya prefers mornings.",
        "Priya wrote the parser.",
        "Priya works from home on Mondays.",
        "Priya likes code reviews.",
    ),
    ("When did the dog get its shots?", "The dog was vaccinated on 3 March."): (
        "The dog is called Rex.",
        "The dog eats dry food.",
        "The dog is six.",
        "The dog fears fireworks.",
        "The dog sleeps in the hall.",
    ),
    ("On which street does Grandma live?", "Grandma's flat is on Oak Street."): (
        "Grandma bakes on Saturdays.",
        "Grandma has a cat.",
        "Grandma is 84.",
        "Grandma listens to the radio.",
        "Grandma knits socks.",
    ),
    ("Does Eva smoke?", "Eva quit smoking in 2019."): (
        "Eva swims every day.",
        "Eva teaches maths.",
        "Eva has a garden.",
        "Eva reads crime novels.",
        "Eva is left-handed.",
    ),
    ("How much money does the project have?", "The project's budget is 40,000 euros."): (
        "The project is called Heron.",
        "The project ends in June.",
        "The project has four people.",
        "The project uses Rust.",
        "The project is behind schedule.",
    ),
}


@pytest.mark.parametrize("times", ["clock", "event_at"])
def test_an_older_note_answers_before_a_burst_of_others(tmp_path, times):
    clock = [NOW]
    with recollex.open(tmp_path, durability="off", clock=lambda: clock[0]) as store:
        for number, ((question, answer), burst) in enumerate(BANKS.items()):
            agent = store.agent(f"a{number}")
            for place, note in enumerate((answer, *burst)):
                clock[0] = NOW - timedelta(days=2 if place else 40, seconds=-8 * place)
                agent.retain(note, event_at=None if times == "clock" else clock[0])
            clock[0] = NOW
            assert agent.recall(question)[0].text == answer
