"""Opinions are formed after an answer was returned, in the background, also after a crash.

What is to be formed is recorded before the answer is returned (`mind.thinking_log`). What an
earlier process has left is formed once the agent is opened with a language model. If the model
gives nothing, it is asked at the next opening, at most `MOST_ATTEMPTS` times.
"""

import warnings
from functools import partial

from recollex_engine.agents.agent import Agent
from recollex_engine.domain.memory_operations import Form, Think
from recollex_engine.errors import ClosedError, LanguageModelError, RecollexError
from recollex_engine.recall.memory import read_memories
from recollex_mind.extraction import AWAY
from recollex_mind.extraction_log import work_of
from recollex_mind.jobs import MOST_ATTEMPTS
from recollex_mind.llm.language_model import LanguageModel
from recollex_mind.opinion_forming import Answered, form_opinions
from recollex_mind.profile import Profile
from recollex_mind.thinking_log import PROMPT, Thinking, said_of, thought_jobs
from recollex_mind.thought import Thought


def begin(agent: Agent, thought: Thought, model: LanguageModel) -> None:
    """Record that the opinions of an answer are to be formed, and form them in the background.

    If it cannot be recorded, that is a warning: the answer is not lost.
    """
    assert thought.text is not None
    think = Think(
        thought.id,
        thought.question,
        thought.text,
        tuple(each.id for each in thought.shown.values()),
        {
            "personality": thought.profile.personality,
            "background": thought.profile.background,
        },
        thought.prompt,
        thought.model,
    )
    try:
        agent.transact([think], [{"by": "think"}])
    except RecollexError as error:
        warnings.warn(
            f"{_what(agent)} failed: {error}",
            RuntimeWarning,
            stacklevel=3,
        )
        return
    work_of(agent).thoughts[thought.id] = True
    agent.context.work.start(agent.name, _what(agent), partial(_form, agent, thought.id, model))


def go_on(agent: Agent, model: LanguageModel) -> None:
    """Form what an earlier process has left, in the background; once for each opened agent."""
    work = work_of(agent)
    if not work.went_on and not agent.context.read_only and agent.files.are_there:
        work.went_on = True
        agent.context.work.start(agent.name, _what(agent), partial(_go_on, agent, model))


def _go_on(agent: Agent, model: LanguageModel) -> None:
    view = agent.view()
    begun = work_of(agent).thoughts
    for each in [] if view is None else thought_jobs(agent, view):
        if agent.context.work.closing:
            return  # what is left follows when the agent is opened again
        id = each.thinking.thought
        if each.done is not None or id in begun or len(each.failures) >= MOST_ATTEMPTS:
            continue
        try:
            _form(agent, id, model)
        except LanguageModelError as error:
            if error.reason in (*AWAY, "cancelled"):
                raise
            warnings.warn(f"{_what(agent)} failed: {error}", RuntimeWarning, stacklevel=2)


def _form(agent: Agent, thought: str, model: LanguageModel) -> None:
    """Form the opinions of a thought, unless that was done or its answer was erased."""
    running = work_of(agent).thoughts
    running[thought] = True
    try:
        view = agent.view()
        for each in [] if view is None else thought_jobs(agent, view):
            if each.thinking.thought == thought and each.done is None:
                _ask(agent, each.thinking, model)
    except ClosedError:
        return  # the agent was closed or deleted meanwhile
    finally:
        running[thought] = False


def _ask(agent: Agent, thinking: Thinking, model: LanguageModel) -> None:
    said = said_of(agent, thinking)
    view = agent.view()
    if said is None or view is None:
        return  # erased meanwhile
    shown = read_memories(view, thinking.shown)
    answered = Answered(
        thinking.thought,
        said["question"],
        said["answer"],
        Profile(
            agent_id=agent.name,
            background=said["profile"]["background"],
            **said["profile"]["personality"],
        ),
        {f"m{number}": each for number, each in enumerate(shown, 1)},
        thinking.shown,
    )
    try:
        form_opinions(agent, answered, model)
    except LanguageModelError as error:
        if error.reason != "cancelled":
            failed = Form(thinking.thought, PROMPT, model.name, failed=error.reason)
            agent.transact([failed], [answered.note])
        raise


def _what(agent: Agent) -> str:
    return f"forming the opinions of {agent.name}"
