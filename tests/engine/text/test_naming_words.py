"""Which words of a question may name a person? Capitals and the place in a sentence tell."""

import pytest

from recollex_engine.text.question_cues import first_name, read_cues

NAMED = [
    # a capital inside a sentence
    ("What did Will say about the bakery?", "Will"),
    ("What did A say about the bakery?", "A"),
    ("Is it A or B who said that?", "A"),
    ("What is person A afraid of?", "A"),
    ("Where does Mark live?", "Mark"),
    ("Who is Grace's brother?", "Grace"),
    ("So, Bill paid?", "Bill"),
    ("Hi Will, where is the key?", "Will Smith"),
    ("What did May cook?", "May"),
    ("Did Ann talk to May about it?", "May"),
    ("What happened before May left?", "May"),
    ("Did Dr. Grace call?", "Grace"),
    # at the start, where no other reading fits
    ("Will, where is the key?", "Will"),
    ("Will said what about the bakery?", "Will"),
    ("Will's sister lives where?", "Will"),
    ("Will and Ann met when?", "Will"),
    ("Thanks. Mark, where is it?", "Mark"),
    ("Mark is from which town?", "Mark"),
    ("Bill went where?", "Bill"),
    ("May, what did you cook?", "May"),
    ("May said what?", "May"),
    ("A said what about the bakery?", "A"),
    ("Grace?", "Grace"),
    # no ordinary word: in any case
    ("what did caroline say", "Caroline"),
    ("caroline's job", "Caroline Lee"),
    ("WHAT DID CAROLINE SAY?", "Caroline"),
    ("Caroline moved where?", "Caroline"),
    ("what did my mom say?", "Mom"),
    # a role where a person stands
    ("What did the assistant suggest?", "assistant"),
    ("What does the user like?", "user"),
    ("Where did user move to?", "User"),
    ("the user's favourite colour", "user"),
    ("User's sister", "user"),
    ("Has the agent booked it?", "agent"),
    ("What was the tool told?", "tool"),
    ("The assistant said what about tea?", "Assistant"),
    ("the user is allergic to what?", "user"),
    ("What did Agent Smith say?", "Agent Smith"),
]
NOT_NAMED = [
    ("When will the bakery open?", "Will"),
    ("Will the bakery open?", "Will"),
    ("It closed. Will it open again?", "Will"),
    ('"Will it open?" she asked.', "Will"),
    ("WHEN WILL THE BAKERY OPEN?", "Will"),
    ("When Will The Bakery Open Again?", "Will"),
    ("what will the bakery sell?", "Will"),
    ("Where is a bakery?", "A"),
    ("A bakery opened where?", "A"),
    ("Which food has vitamin A?", "A"),
    ("What is plan A?", "A"),
    ("Where may I sit?", "May"),
    ("May I sit?", "May"),
    ("May 5, what did we do?", "May"),
    ("What did we do in May?", "May"),
    ("What did we do in May 2023?", "May"),
    ("What happened on the 5th of May?", "May"),
    ("What happened on 5 May?", "May"),
    ("What happened between April and May?", "May"),
    ("What happened between April and May?", "April"),
    ("What happened from June to August?", "June"),
    ("April and May were warm?", "April"),
    ("Mark the date: when is the fair?", "Mark"),
    ("What did the teacher mark?", "Mark"),
    ("Grace us with an answer", "Grace"),
    ("Who paid the bill?", "Bill"),
    ("Bill the client when?", "Bill"),
    ("Where does the rose grow?", "Rose"),
    ("Who drew the picture?", "Drew"),
    ("How was my hope?", "Hope"),
    ("What do I want?", "I"),
    ("How should I design the user interface?", "user"),
    ("Which user preferences did I list?", "user"),
    ("Does the user interface need a menu?", "user"),
    ("Which tool did I buy?", "tool"),
    ("Where is the tool?", "tool"),
    ("What is my travel agent's number?", "agent"),
    ("Is AI taught at school?", "AI"),
    ("Who is my assistant at work?", "assistant"),
]


@pytest.mark.parametrize(("text", "person"), NAMED)
def test_a_question_names_a_person(text: str, person: str) -> None:
    assert first_name(person) in read_cues(text).words


@pytest.mark.parametrize(("text", "person"), NOT_NAMED)
def test_an_ordinary_word_names_no_person(text: str, person: str) -> None:
    assert first_name(person) not in read_cues(text).words
