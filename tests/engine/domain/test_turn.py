"""Turns as chat APIs have them: roles, content parts, calls of tools."""

import pytest

from recollex_engine.domain.trust import ROLES
from recollex_engine.domain.turn import read_turn
from recollex_engine.errors import InputError


def read(**turn):
    return read_turn(turn, 0, "d")


@pytest.mark.parametrize(
    ("turn", "speaker", "role"),
    [
        ({"role": "user"}, "user", "user"),
        ({"role": "assistant"}, "assistant", "assistant"),
        ({"role": "model"}, "assistant", "assistant"),
        ({"role": "developer"}, "system", "system"),
        ({"role": "function", "name": "find"}, "find", "tool"),
        ({"role": "user", "name": "Ann"}, "Ann", "user"),
        ({"role": "user", "speaker": "Ann", "name": "x"}, "Ann", "user"),
        ({"role": "assistant", "speaker": "user"}, "user", "assistant"),
        ({"speaker": "user"}, "user", "user"),
        ({"speaker": "Human"}, "Human", "user"),
        ({"speaker": "ASSISTANT"}, "ASSISTANT", "assistant"),
        ({"speaker": "AI"}, "AI", "assistant"),
        ({"speaker": "bot"}, "bot", "assistant"),
        ({"speaker": "agent"}, "agent", "assistant"),
        ({"speaker": "System"}, "System", "system"),
        ({"speaker": "tool"}, "tool", "tool"),
        ({"speaker": "Ai"}, "Ai", None),  # a first name
        ({"speaker": "Ann"}, "Ann", None),
        ({"speaker": "user2"}, "user2", None),
        ({}, None, None),
    ],
)
def test_a_turn_has_the_role_that_is_given_or_that_its_speaker_names(turn, speaker, role):
    found = read(text="Hello.", **turn)
    assert (found.speaker, ROLES[found.role]) == (speaker, role)
    assert found.text == ("Hello." if speaker is None else f"{speaker}: Hello.")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("Look!", "Look!"),
        ([{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}], "One.\nTwo."),
        (
            [
                {"type": "input_text", "text": "What is this?"},
                {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
            ],
            "What is this?\n[picture]",
        ),
        ([{"type": "image_url", "image_url": {"url": "http://a/b.png"}}], "[picture]"),
        ([{"type": "input_audio", "input_audio": {}}, {"type": "file"}], "[audio]\n[file]"),
        ([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Yes."}], "Yes."),
        ([{"type": "refusal", "refusal": "I cannot."}], "I cannot."),
        (["plain", {"text": "Gemini's"}], "plain\nGemini's"),
        (
            [{"type": "tool_use", "id": "t1", "name": "find", "input": {"word": "tea"}}],
            '[tool: find {"word":"tea"}]',
        ),
        ([{"type": "tool_use", "name": "now", "input": {}}], "[tool: now]"),
        (
            [{"type": "tool_result", "content": [{"type": "text", "text": "12 C"}]}],
            "12 C",
        ),
    ],
)
def test_content_parts_become_lines_of_one_text(content, text):
    assert read(role="user", content=content).text == f"user: {text}"


def test_an_assistant_that_only_calls_tools_says_what_it_calls():
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"a": 1}'}}
    found = read(role="assistant", content=None, tool_calls=[call])
    assert found.text == 'assistant: [tool: find {"a": 1}]'
    found = read(role="assistant", content="I look.", tool_calls=[call])
    assert found.text == 'assistant: I look.\n[tool: find {"a": 1}]'
    result = read(role="tool", content="nothing", tool_call_id="c1")
    assert (result.text, ROLES[result.role]) == ("tool: nothing", "tool")


@pytest.mark.parametrize(
    ("turn", "message"),
    [
        ({"content": "a", "text": "b"}, r"turns\[0\] has both text and content"),
        ({"role": "user"}, r"turns\[0\] has neither text nor caption nor content"),
        ({"role": "user", "content": ""}, r"turns\[0\]\['content'\] is empty"),
        ({"role": "user", "content": []}, r"turns\[0\]\['content'\] is empty"),
        ({"role": "user", "content": [{"type": "thinking"}]}, r"\['content'\] is empty"),
        ({"content": 5}, r"turns\[0\]\['content'\] must be a str or a list of content parts"),
        ({"content": [5]}, r"turns\[0\]\['content'\]\[0\] must be a dict or a str, got int"),
        ({"content": [{"type": "smell"}]}, r"\['content'\]\[0\]\['type'\] must be one of .*smell"),
        ({"content": [{}]}, r"\['type'\] must be one of .*, got None"),
        ({"content": [{"type": ["text"]}]}, r"\['type'\] must be one of"),
        ({"content": [{"type": "text"}]}, r"\[0\]\['text'\] must be a str, got NoneType"),
        ({"content": [{"type": "tool_use"}]}, r"\[0\]\['name'\] must be a str"),
        ({"content": [{"type": "tool_use", "name": "f", "input": {1}}]}, "no JSON values"),
        ({"tool_calls": 5}, r"\['tool_calls'\] must be a list of dicts, got int"),
        ({"tool_calls": [5]}, r"\['tool_calls'\]\[0\] must be a dict with a function"),
        ({"text": "a", "role": "boss"}, r"turns\[0\]\['role'\] must be one of user, .*'boss'"),
        ({"text": "a", "role": ["user"]}, r"turns\[0\]\['role'\] must be one of"),
        ({"text": "a", "name": 5}, r"turns\[0\]\['name'\] must be a str"),
        ({"content": "x" * 1_000_001}, "may have up to 1,000,000 characters"),
    ],
)
def test_what_cannot_be_read_is_named(turn, message):
    with pytest.raises(InputError, match=message):
        read(**turn)
