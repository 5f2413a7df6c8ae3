import doctest

import pytest

from recollex_engine.text import question_cues
from recollex_engine.text.question_cues import first_name, read_cues


def test_the_examples_in_the_docstrings_run():
    assert doctest.testmod(question_cues).failed == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What did we settle on for the trip?", True),
        ("G'day. You mentioned a protocol for me.", True),
        ("Let\u2019s go on", True),
        ("Hi. Ready to review the specification", True),
        ("I\u2019m back, what comes next?", True),
        ("Great. What is the next step?", True),
        ("Great Britain was left when?", False),
        ("Who said hi to Bob?", False),
        ("Where does Bob live?", False),
        ("What did the weight of youth cost us", True),
        ("Is dog's-you a name?", True),
        ("Who wrote your_name?", False),
        ("Who found the bus?", False),
        ("", False),
    ],
)
def test_a_question_that_speaks_to_its_hearer_is_told_by_its_words(text, expected):
    assert read_cues(text).addressed is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hi. I moved to Rome. What did you suggest?", True),
        ("Wow!! We did it... Now what?", True),
        ("I moved to Rome. What did you suggest?", False),  # two sentences
        ("Our version 3.5.1 runs. What now?", False),  # dots within a number end no sentence
        ("Ann left. Bob stayed. Cy went home. Who is here?", False),  # speaks to no hearer
        ("", False),
    ],
)
def test_a_turn_of_several_sentences_to_a_hearer_tells_more_than_it_asks(text, expected):
    assert read_cues(text).tells is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("When did Ann leave?", True),
        ("  in which month was the fair?", True),
        ("How long was she away?", True),
        ("What did Ann do when she left?", False),
        ("Whenever", False),
        ("When building a shed, which wood did Ann use?", False),
        ("When I travel, what do I forget?", False),
        ("When Ann moved, who helped her?", False),
        ("What did Ann say when she left?", False),
        ("When in Rome, what did she eat?", False),
        ("When was it?", True),
        ("When'll the bakery open?", True),
        ("When exactly did Ann leave?", True),
        ("When is the fair?", True),
        ("When, roughly, does the bus come?", True),
        ("When?", True),
        ("Since when has Ann lived here?", True),
        ("Ok, and when did she leave?", True),
        ("I was away. When did she leave?", True),
        ("Do you know when she left?", True),
        ("Tell me when the fair was.", True),
        ("By when must it be paid?", True),
        ("what day is the fair", True),
        ("What date was it on?", True),
        ("At what time does it open?", True),
        ("In what year did Ann leave?", True),
        ("What day trips did Ann make?", False),
    ],
)
def test_only_a_question_whose_answer_is_a_time_asks_when(text, expected):
    assert read_cues(text).asks_when is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Would Ann be happy in Oslo?", True),
        ("What pets wouldn\u2019t Joe mind?", True),
        ("Where is she likely to go?", True),
        ("Where did Ann go in May?", False),
        ("Who carried the wood?", False),
    ],
)
def test_a_question_that_supposes_asks_about_no_moment(text, expected):
    assert read_cues(text).supposes is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is Ann's latest book?", 1),
        ("Which book did Ann read first?", -1),
        ("Forward my last e-mail from Leila", 1),
        ("What did Ann say in her last call?", 1),
        ("What did Ann do last week?", 0),
        ("What is the last name of Ann?", 0),
        ("What is the last stop of Line 7?", 0),
        ("What was first said most recently?", 0),  # both, so neither
        ("What did Ann read?", 0),
        ("Who is the firstborn?", 0),
    ],
)
def test_first_and_last_give_an_order(text, expected):
    assert read_cues(text).order == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where do I live now?", "now"),
        ("where do I live now", "now"),
        ("Does Bob still work at the mill?", "still"),
        ("What is Ann\u2019s current job?", "current"),
        ("Which car do we drive these days?", "these days"),
        ("Ann reads what at the moment?", "at the moment"),
        ("Does Joe not smoke anymore?", "anymore"),
        ("Who is in charge at present?", "at present"),
        ("Did Ann still live in Oslo then?", ""),  # of the past
        ("What was the plan until now?", ""),
        ("How much has she saved until now?", ""),
        ("What does Ann do now and then?", ""),
        ("Who painted this still life?", ""),
        ("Would Ann still like Oslo?", ""),  # of what would be
        ("Now, let us go on. What is next?", ""),  # a turn of a talk
        ("It is still raining.", ""),  # no question
        ("Who knows Bob?", ""),
        ("Where were you these days?", ""),
        ("What did he present?", ""),
    ],
)
def test_a_question_of_the_present_is_told_by_its_words(text, expected):
    assert read_cues(text).present == expected


@pytest.mark.parametrize(
    ("text", "person", "expected"),
    [
        ("What did Ann\u2019s brother say?", "Ann Lee", True),
        ("What did ann say?", "ANN", True),
        ("What did Annabel say?", "Ann", False),
        ("What did O'Brien say?", "o\u2019brien", True),
        ("What did Zoë say?", "Zoë", True),
        ("What did she say?", "", False),
        ("What did she say?", "?!", False),
    ],
)
def test_a_person_is_named_by_the_first_of_their_names(text, person, expected):
    assert (first_name(person) in read_cues(text).words) is expected


@pytest.mark.parametrize(
    ("text", "person"),
    [
        ("Where do I live?", 1),
        ("What is my sister's name?", 1),
        ("Have I ever met Raymond?", 1),
        ("Who gave me the watch?", 1),
        ("What deadline did I set?", 1),
        ("What did I tell you about the dog?", 1),
        ("Can you remind me what my budget was?", 1),
        ("Could you list the order in which I brought up these topics?", 1),
        ("I\u2019ve forgotten: which hotel was it?", 1),
        ("What did you suggest?", 2),
        ("What was your advice on the essay?", 2),
        ("Which museum had you recommended to me?", 2),
        ("Remind me of the hostel that you kindly recommended for my trip.", 2),
        ("How did you guide me through my proof?", 2),
        ("Of what you\u2019ve told me, what was first?", 2),
        ("What do you need?", 0),
        ("Can you tell me who runs the maps team?", 0),
        ("Can you refresh my memory about the maps team?", 0),
        ("Where does Bob live?", 0),
        ("What did we decide?", 0),
        ("Who is Mimi, i.e. the mayor?", 0),
        ("Where is youth measured?", 0),
        ("", 0),
    ],
)
def test_a_person_says_whose_turns_a_question_is_about(text, person):
    found = read_cues(text)
    assert (found.first_person, found.second_person) == (person == 1, person == 2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where does Ann live?", False),
        ("Wo wohnt Jürgen Groß, Nähe Łódź?", False),
        ("Bạn sống ở đâu?", False),
        ("Где живёт Анна?", True),
        ("安住在哪里", True),
        ("أين تعيش آن؟", True),
        ("Ann 在 Google 工作?", False),
        ("2024?", False),
        ("¿¿??", False),
    ],
)
def test_a_question_is_foreign_if_most_of_its_letters_are_not_latin(text, expected):
    assert read_cues(text).foreign is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hi!", True),
        ("Hello there, how are you?", True),
        ("Thanks, bye", True),
        ("\U0001f44b ok, what\u2019s up?", True),
        ("What is 2+2?", True),
        ("17 * 23 =", True),
        ("3.5 \u00d7 2", True),
        ("Hey, when is my flight?", False),
        ("Tomorrow?", False),
        ("Yes, please.", False),  # an answer
        ("What is 555-1234?", False),  # a number of a telephone
        ("What is 5/7?", False),  # a day
        ("+49 30 1234", False),
        ("", False),
    ],
)
def test_small_talk_and_arithmetic_ask_no_memory(text, expected):
    assert read_cues(text).idle is expected
