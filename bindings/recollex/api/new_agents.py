"""The arguments of `open` that count for the agents which are made through it."""

from typing import Literal, TypedDict

from recollex.api.argument_groups import ArgumentGroup
from recollex_engine.dates.locales import DAY_FIRST


class NewAgents(TypedDict, total=False):
    """The settings of new agents; an agent that exists keeps those that it was made with.

    language: for stemming and stop words. locale: a language tag. In "en-US" 5/7/2023 is 7 May, in
    every other locale 5 July, in questions and in retained texts; 25.12. and 12/25 are read in
    either.
    entity_rule: when two names are one entity. "alike": if they are alike by themselves and
    Memora's sum of likeness, company and recency (2.3.2) reaches 0.75. "memora": the sum alone, as
    printed; and names that differ in a legal form or a diminutive ("Google Inc" and "Google",
    "Bob" and "Robert") are one.
    """

    language: str
    locale: str
    entity_rule: Literal["alike", "memora"]


DEFAULTS: NewAgents = {"language": "english", "locale": DAY_FIRST, "entity_rule": "alike"}
NEW_AGENTS = ArgumentGroup(
    NewAgents,
    dict(DEFAULTS),
    {
        "model": "embedder",
        "embedding_model": "embedder",
        "embedding_function": "embedder",
        "readonly": "read_only",
        "sync": "durability",
    },
)
