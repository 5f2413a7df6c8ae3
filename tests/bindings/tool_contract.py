"""What the tools over gists and facts return, wherever the agent runs."""

from typing import Any

import pytest

import recollex
from recollex_engine import errors
from tests.bindings.days_of_may import day


class ToolContract:
    def test_the_tools_are_the_embedded_ones(self, alice: Any, reference: Any) -> None:
        for agent in (alice, reference):
            agent.retain("Ann fixed the fence.", id="g1", event_at=day(2), recorded_at=day(3))
            agent.retain("Ben bought cows.", id="g2", event_at=day(4), recorded_at=day(5))
            for number, (who, did, what, gist) in enumerate(
                [("Ann", "fixed", "fence", "g1"), ("Ben", "bought", "cows", "g2")], start=1
            ):
                agent.facts.add(
                    who,
                    did,
                    what,
                    valid=(day(2 * number), day(2 * number + 1)),
                    evidence=gist,
                    recorded_at=day(5 + number),
                )

        def same(name: str, **given: Any) -> recollex.Contexts:
            found = getattr(alice.tools, name)(**given)
            expected = getattr(reference.tools, name)(**given)
            assert type(found) is recollex.Contexts
            assert found == expected and found.to_dict() == expected.to_dict()
            assert found.to_prompt() == expected.to_prompt()
            assert alice.tools.call(name, given) == expected
            return found

        assert same("semantic_retrieve", query="fence").gists[0].id == "g1"
        found = same("lexical_retrieve", query="Who bought cows?")
        assert [fact.object for fact in found.facts] == ["cows"]
        assert [gist.id for gist in same("find_gist_contexts", gist_id="g2").gists] == []
        found = same("find_entity_contexts", subject="ann")
        assert [gist.id for gist in found.gists] == ["g1"] and found.matched == 1
        assert same("find_entity_contexts", object="cows", aggregation="count").count == 1
        assert alice.tools.output_answer(" Ben ") == "Ben"
        assert alice.tools.schemas("mcp") == reference.tools.schemas("mcp")
        past = alice.tools.find_entity_contexts("Ben", as_recorded=day(6))
        assert past.facts == () and alice.at(day(6)).tools.find_entity_contexts("Ben") == past
        assert alice.tools.find_entity_contexts("Ann", as_world=day(4)).facts == ()

    def test_a_tool_says_what_is_wrong(self, alice: Any) -> None:
        alice.retain("Tea.", id="m1")
        for wrong, said in (
            (lambda: alice.tools.find_entity_contexts(), "at least one of subject"),
            (lambda: alice.tools.lexical_retrieve("tea", "soon"), "names no time"),
            (lambda: alice.tools.lexical_retrieve("tea", "2024", None, ">="), "lt, le, eq, ge, gt"),
            (lambda: alice.tools.call("find_entity", {}), "did you mean 'find_entity_contexts'"),
            (lambda: alice.tools.call("lexical_retrieve", {"q": "tea"}), "has no argument 'q'"),
        ):
            with pytest.raises(errors.InputError, match=said):
                wrong()
        with pytest.raises(errors.UnknownIdError):
            alice.tools.find_gist_contexts("no")
