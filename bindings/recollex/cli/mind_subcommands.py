"""The subcommands that a language model may serve, in the form of `recollex.cli.subcommands`."""

from collections.abc import Callable

from recollex.cli import mind_options
from recollex.cli.parser import Parser

MIND: dict[str, tuple[str, list[str], Callable[[Parser], None]]] = {
    "think": (
        "let a language model answer for an agent, in its character",
        [
            'think memory/ "Is remote work good?" --llm gpt-5-mini',
            'think memory/ "Who runs the maps team?" --prompt',
        ],
        mind_options.think,
    ),
    "extract": (
        "draw facts from what was retained, by a language model",
        [
            "extract memory/ --llm gpt-5-mini",
            "extract memory/ --llm gpt-5-mini --agent bob --document call-7 --mode atomic",
        ],
        mind_options.extract,
    ),
    "jobs": (
        "list what facts and opinions are still to be drawn from, and what failed",
        ["jobs memory/", "jobs memory/ --agent bob --status failed --status done"],
        mind_options.jobs,
    ),
    "resolve-entities": (
        "find entities that are one, and make them one",
        [
            "resolve-entities memory/ --preview",
            "resolve-entities memory/ --agent bob --llm gpt-5-mini --by ann",
        ],
        mind_options.resolve_entities,
    ),
    "investigate": (
        "look for an answer step by step, or reckon it from dated facts",
        [
            'investigate memory/ "Who was the director of Acme in 2006?"',
            'investigate memory/ "What did Ann do before she met Ben?" --llm gpt-5-mini --steps 5',
        ],
        mind_options.investigate,
    ),
    "profile": (
        "show or set who an agent is: its character and its background",
        [
            "profile memory/",
            "profile memory/ --openness 0.9 --bias-strength 0.8 --by ann",
            'profile memory/ --merge "You were born in Texas."',
        ],
        mind_options.profile,
    ),
}
