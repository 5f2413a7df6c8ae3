"""The commands of an agent's mind: what a language model answers, draws from talk or unites."""

import json
from contextlib import nullcontext
from datetime import timedelta
from typing import TYPE_CHECKING

import recollex
from recollex.api.plurals import counted
from recollex.cli.existing_store import existing_agent, language_model
from recollex.cli.options import (
    add_agent,
    add_embedder,
    add_llm,
    add_store,
    add_zone,
    count,
    number,
    time_option,
)
from recollex.cli.parser import Arguments, Command, Parser
from recollex.cli.terminal import printable, say, show
from recollex_engine.errors import InputError

if TYPE_CHECKING:
    from recollex_mind.entity_resolution import EntityMatch


_TRAITS = ("openness", "conscientiousness", "extraversion", "agreeableness", "neuroticism")


def _think_options(parser: Parser) -> None:
    add = parser.add_argument
    add_store(parser)
    add("question", help="what to think about")
    add_agent(parser)
    add_llm(parser)
    add("--context", metavar="TEXT", help="what else bears on the question")
    add("--budget", type=count, default=50, metavar="N", help="candidates of each arm (50)")
    add("--tokens", type=count, default=4096, metavar="N", help="of the memories (4096)")
    add("--trust", metavar="LEVEL", help="only memories of this trust or more: user, tool, web ...")
    add(
        "--min-confidence",
        type=number,
        default=0.15,
        metavar="P",
        help="refuse if the answer is there with a lower probability, 0 to 1 (0.15)",
    )
    add("--as-recorded", metavar="TIME", help="think as of then, and record no opinions")
    add_zone(parser)
    add("--no-opinions", action="store_true", help="record no opinions of the answer")
    add("--stream", action="store_true", help="print the answer as it comes; it is not repaired")
    add("--prompt", action="store_true", help="print what the model would be sent, and ask none")
    add("--json", action="store_true", help="print one JSON object")
    add_embedder(parser)


def think(arguments: Arguments) -> int:
    """Print what an agent thinks; 1 if it refuses, or if there is no model."""
    then = time_option(arguments, "as_recorded")
    writes = not (arguments.no_opinions or arguments.prompt or then)
    llm = None if arguments.prompt else language_model(arguments)
    with (
        llm or nullcontext(),
        existing_agent(arguments, write=writes and llm is not None, llm=llm) as agent,
    ):
        if agent is None:
            return 1
        thought = (agent if then is None else agent.at(then)).think(
            arguments.question,
            thinking_budget=arguments.budget,
            max_tokens=arguments.tokens,
            context=arguments.context,
            stream=_piece if arguments.stream and not arguments.json else None,
            min_confidence=arguments.min_confidence,
            trust=arguments.trust,
            form_opinions=writes,
        )
        if arguments.json:
            print(json.dumps(thought.to_dict(), ensure_ascii=False, indent=2))
        elif arguments.prompt:
            for message in thought.messages:
                print(f"[{message['role']}]\n{message['content']}")
        else:
            _print_thought(thought, arguments.stream)
        if arguments.prompt:
            return 0
        if thought.text is None and llm is None:
            say("no language model: --llm NAME, or RECOLLEX_LLM_MODEL; --prompt shows its input")
        return 1 if thought.text is None or thought.refused else 0


def _print_thought(thought: "recollex.Thought", streamed: bool) -> None:
    """Print the answer, then what it cites and what is wrong with it."""
    if streamed:
        print()
    elif thought.text is not None:
        for line in thought.text.splitlines():
            print(printable(line))
    labels = {memory.id: label for label, memory in thought.shown.items()}
    for memory in thought.cited:
        print(f"  [{labels[memory.id]}] {memory.event_at:%Y-%m-%d} {printable(memory.text)}")
    for wrong in thought.violations:
        say(f"not so at the asked time: {printable(wrong.to_prompt())}")
    if thought.forged:
        say(f"taken out, for no such memory was shown: {', '.join(thought.forged)}")


def _piece(text: str) -> None:
    print("\n".join(map(_printable_piece, text.split("\n"))), end="", flush=True)


def _printable_piece(text: str) -> str:
    """Return a piece of text without characters that could control a terminal; spaces stay."""
    return "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text
    )


def _extract_options(parser: Parser) -> None:
    add = parser.add_argument
    add_store(parser)
    add_agent(parser)
    add_llm(parser, "draws the facts")
    _add_mode(parser)
    add("--document", metavar="ID", action="append", help="only this talk; may be repeated")
    add("--again", action="store_true", help="also what an earlier version of the prompt has read")
    add("--json", action="store_true", help="print one JSON object")
    add_embedder(parser)


def extract(arguments: Arguments) -> int:
    """Draw facts from what an agent has retained; 1 if some chunks gave none."""
    llm = language_model(arguments)
    if llm is None:
        raise InputError("extract needs a language model: --llm NAME, or RECOLLEX_LLM_MODEL")
    with llm, existing_agent(arguments, write=True, llm=llm) as agent:
        if agent is None:
            return 1
        done = agent.extract(
            mode=arguments.mode, document_id=arguments.document, again=arguments.again
        )
    lines = [
        f"{counted(len(done.facts), 'fact')} of {counted(done.turns, 'turn')} in "
        f"{counted(done.chunks, 'chunk')}"
    ]
    for what, counts in (
        ("left out", done.left_out),
        ("failed", done.failed),
        ("", done.relations),
    ):
        lines += [
            f"  {what} {name}: {count:,}".replace("   ", "  ") for name, count in counts.items()
        ]
    show(arguments, "\n".join(lines), **done.to_dict())
    return 1 if done.failed else 0


def _jobs_options(parser: Parser) -> None:
    add = parser.add_argument
    add_store(parser)
    add_agent(parser)
    add(
        "--status",
        action="append",
        choices=["running", "waiting", "failed", "done"],
        metavar="STATUS",
        help="running, waiting, failed or done; may be repeated (those that are not done)",
    )
    _add_mode(parser)
    add("--limit", type=count, default=100, metavar="N", help="at most so many (100)")
    add("--json", action="store_true", help="print a JSON object a line")


def jobs(arguments: Arguments) -> int:
    """List what of an agent's memories is still to be read, or was; 1 if something failed."""
    from recollex_mind.jobs import NO_MODEL

    with existing_agent(arguments) as agent:
        if agent is None:
            return 1
        status = arguments.status or ("running", "waiting", "failed")
        found = agent.jobs.find(status=status, mode=arguments.mode, limit=arguments.limit)
    if not found:
        what = " or ".join(status) if arguments.status else "left"
        say(f"none: {arguments.agent} has no jobs that are {what}")
    for job in found:
        if arguments.json:
            print(json.dumps(job.to_dict(), ensure_ascii=False))
            continue
        of = "" if job.document_id is None else f" of {printable(job.document_id)}"
        why = f", {job.reason}, {counted(job.attempts, 'attempt')}" if job.attempts else ""
        what = "opinion" if job.prompt.startswith("opinions-") else "fact"
        facts = f", {counted(len(job.facts), what)}" if job.status == "done" else ""
        print(
            f"{job.id} {job.status} {job.prompt}: {counted(len(job.turns), 'turn')}{of}{facts}{why}"
        )
    if any(job.reason == NO_MODEL for job in found) and not arguments.json:
        say("what waits needs a language model: recollex extract --llm NAME")
    return 1 if any(job.status == "failed" for job in found) else 0


def _add_mode(parser: Parser) -> None:
    parser.add_argument(
        "--mode",
        choices=["narrative", "atomic", "episodic"],
        metavar="MODE",
        help="narrative: 2 to 5 comprehensive facts a chunk; atomic: single sentences",
    )


def _resolve_entities_options(parser: Parser) -> None:
    add = parser.add_argument
    add_store(parser)
    add_agent(parser)
    add("--preview", action="store_true", help="only say what would be done")
    add_llm(parser, "decides borderline pairs")
    add("--by", metavar="WHO", help="who does it, for the log")
    add("--json", action="store_true", help="print each pair as one JSON object")


def resolve_entities(arguments: Arguments) -> int:
    """Print the pairs that are one or may be, and make those one that are; 1 without an agent."""
    llm = language_model(arguments)
    with (
        llm or nullcontext(),
        existing_agent(arguments, write=not arguments.preview, llm=llm) as agent,
    ):
        if agent is None:
            return 1
        found = agent.facts.resolve_entities(preview=arguments.preview, by=arguments.by)
    for each in found:
        print(
            json.dumps(each.to_dict(), ensure_ascii=False) if arguments.json else _match_line(each)
        )
    if not found:
        say("no two entities of the agent may be one")
    return 0


def _match_line(match: "EntityMatch") -> str:
    means = {True: "is", False: "is not", None: "may be"}[match.same]
    by = "" if match.decided_by is None else f"by {match.decided_by}: "
    how = f"{match.way}, {match.score:.2f}, {by}{match.reason}"
    return printable(f"{match.source} {means} {match.target} ({how})")


def _investigate_options(parser: Parser) -> None:
    add = parser.add_argument
    add_store(parser)
    add("question", help="what to look for")
    add_agent(parser)
    add_llm(parser, "calls the tools and answers")
    add("--steps", type=count, default=3, metavar="N", help="calls of tools at most (3)")
    add("--single", action="store_true", help="one semantic search, then the answer")
    add("--tokens", type=count, default=16_000, metavar="N", help="sent and received (16000)")
    add("--timeline", action="store_true", help="reason about time in the four parts of TISER")
    add("--as-recorded", metavar="TIME", help="as of then")
    add_zone(parser)
    add("--trace", action="store_true", help="print each call of a tool")
    add("--json", action="store_true", help="print one JSON object")
    add_embedder(parser)


def investigate(arguments: Arguments) -> int:
    """Print what an agent finds out; 1 if it finds no answer, or if there is none to ask."""
    then = time_option(arguments, "as_recorded")
    llm = language_model(arguments)
    with llm or nullcontext(), existing_agent(arguments, write=False, llm=llm) as agent:
        if agent is None:
            return 1
        found = (agent if then is None else agent.at(then)).investigate(
            arguments.question,
            max_steps=arguments.steps,
            mode="single" if arguments.single else "iterative",
            max_tokens=arguments.tokens,
            reasoning="timeline" if arguments.timeline else "plain",
        )
        if arguments.json:
            print(json.dumps(found.to_dict(), ensure_ascii=False, indent=2))
        else:
            _print_found(found, arguments.trace)
        return 1 if found.text is None or found.refused else 0


def _print_found(found: "recollex.Investigation", traced: bool) -> None:
    """Print an answer and who gave it, after the steps to it."""
    for step in found.steps if traced else ():
        given = json.dumps(dict(step.arguments), ensure_ascii=False)
        came = step.error or (
            f"{counted(len(step.gists), 'gist')}, {counted(len(step.facts), 'fact')}"
        )
        came = f"{step.count}" if step.count is not None else came
        say(f"{printable(step.tool)} {printable(given)}: {printable(came)}")
    if found.text is not None:
        for line in found.text.splitlines():
            print(printable(line))


def _profile_options(parser: Parser) -> None:
    add = parser.add_argument
    add_store(parser)
    add_agent(parser)
    for name in (*_TRAITS, "bias-strength"):
        add(f"--{name}", type=number, metavar="X", help="set it, from 0 to 1")
    add("--background", metavar="TEXT", help='set it: who the agent is; "" removes it')
    add("--merge", metavar="TEXT", help="merge what is new into the background")
    add_llm(parser, "merges")
    add("--as-recorded", metavar="TIME", help="as it was then")
    add_zone(parser)
    add("--by", metavar="NAME", help="who sets it, for the log")
    add("--why", metavar="TEXT", help="the reason, for the log")
    add("--json", action="store_true", help="print one JSON object")


def profile(arguments: Arguments) -> int:
    """Set what is given of an agent's profile, and print the profile."""
    traits = {name: getattr(arguments, name) for name in (*_TRAITS, "bias_strength")}
    given = {name: value for name, value in traits.items() if value is not None}
    if arguments.background is not None:
        given["background"] = arguments.background
    changes = bool(given) or arguments.merge is not None
    llm = language_model(arguments) if arguments.merge is not None else None
    with llm or nullcontext(), existing_agent(arguments, write=changes, llm=llm) as agent:
        if agent is None:
            return 1
        if given:
            agent.profile.set(**given, by=arguments.by, why=arguments.why)
        if arguments.merge is not None:
            agent.profile.merge_background(arguments.merge, by=arguments.by, why=arguments.why)
        found = agent.profile.get(as_recorded=time_option(arguments, "as_recorded"))
        if arguments.json:
            print(json.dumps(found.to_dict(), ensure_ascii=False))
            return 0
        for trait in found.traits:
            print(trait)
        print(f"{found.bias_strength:.0%} bias strength")
        if found.background:
            print(printable(found.background))
        return 0


def _consolidate_options(parser: Parser) -> None:
    add = parser.add_argument
    add_store(parser)
    add_agent(parser)
    add("--age-days", type=number, default=90, metavar="N", help="events of more days ago; 90")
    add("--threshold", type=number, default=0.25, metavar="X", help="of lower salience; 0.25")
    add(
        "--least-facts",
        type=count,
        default=3,
        metavar="N",
        help="an observation for each entity with so many facts; 3",
    )
    add("--no-observations", action="store_true", help="make none")
    add_llm(parser, "writes observations")
    add("--preview", action="store_true", help="only say what would be done")
    add("--by", metavar="WHO", help="who does it, for the log")


def consolidate(arguments: Arguments) -> int:
    """Consolidate an agent's events and facts, or say what would be; 1 if there is no agent."""
    llm = None if arguments.preview else language_model(arguments)
    with (
        llm or nullcontext(),
        existing_agent(arguments, write=not arguments.preview, llm=llm) as agent,
    ):
        if agent is None:
            return 1
        done = agent.events.consolidate(
            age=timedelta(days=arguments.age_days),
            threshold=arguments.threshold,
            least_facts=None if arguments.no_observations else arguments.least_facts,
            preview=arguments.preview,
            by=arguments.by,
        )
    would = "would be " if arguments.preview else ""
    lines = [
        f"{counted(done.archived, 'event')} of {done.considered:,} {would}archived in "
        f"{counted(len(done.episodes), 'episode')}, {counted(len(done.duplicates), 'fact')} "
        f"{would}closed as duplicates",
        *(f"  {printable(episode.title)}" for episode in done.episodes),
    ]
    if done.observations or done.unobserved:
        many = len(done.unobserved if arguments.preview else done.observations)
        lines.append(f"{counted(many, 'observation')} {would}made")
        lines += [f"  {printable(each.text)}" for each in done.observations]
    if done.unobserved and not arguments.preview:
        names = f"{counted(len(done.unobserved), 'entity')} without an observation of new facts"
        say(names if llm else f"{names}: --llm NAME, or RECOLLEX_LLM_MODEL, makes them")
    show(arguments, "\n".join(lines), **done.to_dict(), preview=arguments.preview)
    return 0


COMMANDS = (
    Command(
        "think",
        "let a language model answer for an agent, in its character",
        [
            'think memory/ "Is remote work good?" --llm gpt-5-mini',
            'think memory/ "Who runs the maps team?" --prompt',
        ],
        _think_options,
        think,
    ),
    Command(
        "extract",
        "draw facts from what was retained, by a language model",
        [
            "extract memory/ --llm gpt-5-mini",
            "extract memory/ --llm gpt-5-mini --agent bob --document call-7 --mode atomic",
        ],
        _extract_options,
        extract,
    ),
    Command(
        "jobs",
        "list what facts and opinions are still to be drawn from, and what failed",
        ["jobs memory/", "jobs memory/ --agent bob --status failed --status done"],
        _jobs_options,
        jobs,
    ),
    Command(
        "resolve-entities",
        "find entities that are one, and make them one",
        [
            "resolve-entities memory/ --preview",
            "resolve-entities memory/ --agent bob --llm gpt-5-mini --by ann",
        ],
        _resolve_entities_options,
        resolve_entities,
    ),
    Command(
        "investigate",
        "look for an answer step by step, or reckon it from dated facts",
        [
            'investigate memory/ "Who was the director of Acme in 2006?"',
            'investigate memory/ "What did Ann do before she met Ben?" --llm gpt-5-mini --steps 5',
        ],
        _investigate_options,
        investigate,
    ),
    Command(
        "profile",
        "show or set who an agent is: its character and its background",
        [
            "profile memory/",
            "profile memory/ --openness 0.9 --bias-strength 0.8 --by ann",
            'profile memory/ --merge "You were born in Texas."',
        ],
        _profile_options,
        profile,
    ),
    Command(
        "consolidate",
        "compress old events into episodes, and unite facts that say the same",
        ["consolidate memory/ --preview", "consolidate memory/ --age-days 365 --by ann"],
        _consolidate_options,
        consolidate,
    ),
)
