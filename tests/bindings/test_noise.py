"""What is put before a model unasked: not what a greeting or a sum recalls."""

from datetime import UTC, datetime, timedelta

import pytest

import recollex

NOW = datetime(2026, 11, 20, 18, tzinfo=UTC)
NOTED = """The dishwasher makes a strange noise. | The plumber comes on Thursday at nine.
The car insurance costs 410 euros. | The router is from Fritz. | My sister stays over Easter.
The roof leaks above the attic window. | Momo the cat eats too much. | The school play is in May.
The code of the alarm is 7719. | Ann is allergic to peanuts. | Ben runs on Sundays.
The bakery in Mill Lane closes at noon. | Karl owes me forty euros. | The piano was tuned in March.
The library card is in the drawer. | Grandma lives in Oak Street. | The bike has a flat tyre.
The dentist moved to Station Road. | The wifi password is heron-42. | The heating was serviced."""
ASKED = "What is the code of the alarm?"
OTHER = ["Hi!", "Thanks, bye", "What is 2+2?", "Explain recursion", "How do I exit vim?"]


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    folder = tmp_path_factory.mktemp("noise") / "memory"
    with recollex.open(folder, durability="off", clock=lambda: NOW) as store:
        agent = store.agent("a")
        notes = [note.strip() for note in NOTED.replace("\n", "|").split("|")]
        times = [NOW - timedelta(days=40 - place) for place in range(len(notes))]
        agent.retain_many(notes, event_at=times)
        agent.retain_dialogue(
            [{"speaker": "ann", "text": "Hi there, thanks for the cake!"}], document_id="chat-1"
        )
        yield store


@pytest.fixture
def agent(opened):
    return opened.agent("a")


@pytest.mark.parametrize("message", OTHER)
def test_a_message_on_nothing_told_adds_nothing_unless_it_is_wanted(agent, message):
    recall = agent.recall(message)
    assert len(recall) > 0 and recall.to_prompt() == ""
    assert len(recall.to_prompt(0).splitlines()) == len(recall)
    messages = [{"role": "user", "content": message}]
    assert agent.conversation("chat").context(messages) == messages
    assert agent.conversation("chat", min_confidence=0).context(messages) != messages


def test_an_answer_is_added(agent):
    recall = agent.recall(ASKED)
    assert recall.to_prompt() == recall.to_prompt(0) and "7719" in recall.to_prompt()
    assert recall.to_prompt(1) == ""
    first, _ = agent.conversation("chat").context([{"role": "user", "content": ASKED}])
    assert "7719" in first["content"]


def test_what_has_no_confidence_is_added(agent):
    message = "\u8bb0\u5f97\u8b66\u62a5\u7684\u5bc6\u7801\u5417"
    assert agent.recall(message).confidence is None
    assert agent.recall(message).to_prompt()
    assert len(agent.conversation("chat").context([{"role": "user", "content": message}])) == 2


def test_small_talk_has_no_answer_although_a_memory_says_the_same(agent):
    recall = agent.recall("Hi there, thanks!")
    assert recall[0].text == "ann: Hi there, thanks for the cake!" and recall.confidence == 0


def test_a_joint_recall_is_bounded_too(opened):
    recall = opened.recall("Hi!", agents=["a"])
    assert len(recall) > 0 and recall.to_prompt() == "" and recall.to_prompt(0) != ""
