"""The subcommands of an agent's mind: think, investigate, profile, extract and jobs."""

import json
import os
from contextlib import nullcontext
from typing import Any

import recollex
from recollex.api.plurals import counted
from recollex.cli.existing_store import existing_agent
from recollex.cli.mind_options import TRAITS
from recollex.cli.parser import Arguments
from recollex.cli.terminal import printable, say, show
from recollex.cli.time_options import time_option
from recollex_engine.errors import InputError
from recollex_engine.mind.jobs import NO_MODEL


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
            _print(thought, arguments.stream)
        if arguments.prompt:
            return 0
        if thought.text is None and llm is None:
            say("no language model: --llm NAME, or RECOLLEX_LLM_MODEL; --prompt shows its input")
        return 1 if thought.text is None or thought.refused else 0


def _print(thought: recollex.Thought, streamed: bool) -> None:
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


def _print_found(found: recollex.Investigation, traced: bool) -> None:
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


def profile(arguments: Arguments) -> int:
    """Set what is given of an agent's profile, and print the profile."""
    traits = {name: getattr(arguments, name) for name in (*TRAITS, "bias_strength")}
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


def jobs(arguments: Arguments) -> int:
    """List what of an agent's memories is still to be read, or was; 1 if something failed."""
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


def language_model(arguments: Arguments) -> Any:
    """Return the language model that the arguments or the environment name; None if none."""
    if arguments.llm is None and not os.environ.get("RECOLLEX_LLM_MODEL"):
        return None
    return recollex.llm(arguments.llm, base_url=arguments.llm_url)


def _piece(text: str) -> None:
    print("\n".join(map(printable_piece, text.split("\n"))), end="", flush=True)


def printable_piece(text: str) -> str:
    """Return a piece of text without characters that could control a terminal; spaces stay."""
    return "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text
    )
