"""What was told an hour ago, in another chat or in this one, asked in forty wordings."""

from datetime import UTC, datetime, timedelta

import pytest

import recollex

NOW = datetime(2026, 11, 20, 18, tzinfo=UTC)
OLDER = [
    ("ann", "The dishwasher makes a strange noise again."),
    ("ben", "I can call the plumber on Monday."),
    ("ann", "Did you renew the car insurance?"),
    ("ben", "Yes, it costs 410 euros a year now."),
    ("ann", "We need a new router, the old one keeps dropping."),
    ("ben", "Let us order one this week."),
    ("ann", "My sister wants to stay with us over Easter."),
    ("ben", "She can have the guest room."),
    ("ann", "The roof leaks above the attic window."),
    ("ben", "I asked two firms for an offer."),
    ("ann", "What did the vet say about Momo?"),
    ("ben", "He only needs to eat less."),
    ("ann", "Can you pick up the parcel from the neighbours?"),
    ("ben", "I will do it on my way home."),
    ("ann", "The school play is in the second week of December."),
    ("ben", "Then we cannot visit your parents that week."),
]
TOLD = {
    "The wifi password is heron-42-lake.": (
        "What's our wifi password?",
        "Can you tell me the wifi password?",
        "Do you know the password of our wifi?",
        "What was the wifi password we set?",
    ),
    "We decided to keep the roof budget at 8,000 euros.": (
        "What did we decide about the roof budget?",
        "How much is our roof budget?",
        "Can you remind me of the roof budget?",
        "Did we agree on a budget for the roof?",
    ),
    "The plumber comes on Thursday at nine.": (
        "When does our plumber come?",
        "Can you say when the plumber comes?",
        "Do we know when the plumber is coming?",
        "What time did we agree on with the plumber?",
    ),
    "Momo gets his new food from the shop in Mill Lane.": (
        "Where do we buy Momo's new food?",
        "Can you tell me where Momo's food comes from?",
        "Which shop did we choose for Momo's food?",
        "Do you remember the shop for Momo's new food?",
    ),
    "The code of the alarm is 7719.": (
        "What's our alarm code?",
        "Can you give me the code of the alarm?",
        "Do you have the alarm code?",
        "Let's see, what was the alarm code?",
    ),
    "My dentist is now Dr. Okafor in Station Road.": (
        "Who is my dentist, do you know?",
        "Can you tell me the name of my dentist?",
        "What did I tell you about my dentist?",
        "Do you remember who my dentist is?",
    ),
    "For Easter we booked the cabin at Loch Tay.": (
        "Where are we going for Easter?",
        "Which cabin did we book for Easter?",
        "Can you remind us what we booked for Easter?",
        "What's our plan for Easter?",
    ),
    "The spare key lies under the blue pot.": (
        "Where is our spare key?",
        "Can you tell me where the spare key is?",
        "Where did we put the spare key?",
        "Do you know where we keep the spare key?",
    ),
    "Lena is allergic to walnuts.": (
        "What is Lena allergic to, do you know?",
        "Can you tell me which allergy Lena has?",
        "Did I tell you what Lena is allergic to?",
        "What did we say Lena is allergic to?",
    ),
    "The meeting with the bank moved to the third of December.": (
        "When is our meeting with the bank?",
        "Can you tell me when the bank meeting is?",
        "To which day did we move the meeting with the bank?",
        "Do you know the date of our bank meeting?",
    ),
}


@pytest.fixture(scope="module")
def agents(tmp_path_factory):
    """An agent for each text: days of older talk, then a chat an hour ago that ends with it."""
    folder = tmp_path_factory.mktemp("today") / "memory"
    with recollex.open(folder, durability="off", clock=lambda: NOW) as store:
        for number, text in enumerate(TOLD):
            agent = store.agent(f"a{number}")
            for place in range(0, len(OLDER), 4):
                at = NOW - timedelta(days=3 * (len(OLDER) - place))
                turns = [{"speaker": who, "text": said} for who, said in OLDER[place : place + 4]]
                turns = [turn | {"at": at} for turn in turns]
                agent.retain_dialogue(turns, document_id=f"chat-{place}")
            told = {"role": "user", "content": text}
            with agent.conversation("today") as talk:
                talk.retain([told])
        yield {text: store.agent(f"a{number}") for number, text in enumerate(TOLD)}


def test_of_another_chat_comes_first(agents):
    later = NOW + timedelta(hours=1)
    missed = [
        question
        for text, questions in TOLD.items()
        for question in questions
        if not agents[text].recall(question, now=later)[0].text.endswith(text)
    ]
    assert len(missed) <= 4, missed


def test_of_the_same_chat_is_in_view(agents):
    for text, questions in TOLD.items():
        for question in questions:
            messages = [{"role": "user", "content": said} for said in (text, question)]
            talk = agents[text].conversation("today")
            assert text not in talk.context(messages)[0]["content"]
            asked = agents[text].recall(question, talk="today")
            assert len(asked) > 0 and all(text not in memory.text for memory in asked)
