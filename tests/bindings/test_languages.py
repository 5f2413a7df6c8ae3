"""Keyword search in languages without spaces or capitals, and the language of an agent."""

from pathlib import Path

import pytest

import recollex
from recollex.presets import ReciprocalRank
from recollex_engine.writing import preparation
from tests.bindings.command_line import Shell, command_line
from tests.bindings.word_vectors import WordVectors

SAID = {
    "chinese": {
        "cat": "我家的猫昨天晚上在厨房里打碎了一个花瓶。",
        "train": "去上海的火车每天早上七点半从北京南站出发。",
        "doctor": "医生说我对花生过敏，最好随身带药。",
        "garden": "奶奶在院子里种了西红柿和黄瓜。",
        "letter": "小王把合同寄到了深圳的新办公室。",
    },
    "japanese": {
        "cat": "うちの猫が昨日の夜、台所で花瓶を割ってしまった。",
        "train": "京都行きの新幹線は毎朝八時に東京駅を出発します。",
        "doctor": "医者にピーナッツアレルギーだと言われたので、薬を持ち歩いている。",
        "garden": "祖母は庭でトマトときゅうりを育てている。",
        "letter": "田中さんは契約書を大阪の新しい事務所に送った。",
    },
    "korean": {
        "cat": "우리 집 고양이가 어젯밤에 부엌에서 꽃병을 깨뜨렸어요.",
        "train": "부산으로 가는 기차는 매일 아침 일곱 시에 서울역에서 출발합니다.",
        "doctor": "의사가 제게 땅콩 알레르기가 있다고 해서 약을 가지고 다녀요.",
        "garden": "할머니는 마당에서 토마토와 오이를 키우십니다.",
        "letter": "김 대리가 계약서를 새 사무실로 보냈습니다.",
    },
    "arabic": {
        "cat": "كسرت قطتنا المزهرية في المطبخ ليلة أمس.",
        "train": "يغادر القطار إلى الإسكندرية كل صباح في الساعة السابعة.",
        "doctor": "قال الطبيب إن عندي حساسية من الفول السوداني.",
        "garden": "تزرع جدتي الطماطم والخيار في الحديقة.",
        "letter": "أرسل خالد العقد إلى المكتب الجديد في جدة.",
    },
}
ASKED = [
    ("chinese", "none", "谁打碎了花瓶？", "cat"),
    ("chinese", "none", "火车几点从北京出发？", "train"),
    ("chinese", "none", "我对什么过敏？", "doctor"),
    ("chinese", "english", "奶奶种了什么？", "garden"),
    ("chinese", "none", "合同寄到哪里了？", "letter"),
    ("japanese", "none", "花瓶を割ったのは誰ですか。", "cat"),
    ("japanese", "none", "新幹線は何時に東京駅を出ますか。", "train"),
    ("japanese", "english", "何のアレルギーですか。", "doctor"),
    ("japanese", "none", "トマトはどこで育てていますか。", "garden"),
    ("japanese", "none", "契約書はどこに送りましたか。", "letter"),
    ("korean", "none", "꽃병을 누가 깨뜨렸나요?", "cat"),
    ("korean", "none", "부산 가는 기차는 언제 출발해요?", "train"),
    ("korean", "english", "무슨 알레르기가 있어요?", "doctor"),
    ("korean", "none", "마당에 토마토가 있나요?", "garden"),
    ("korean", "none", "계약서는 어디로 갔어요?", "letter"),
    ("arabic", "arabic", "من كسر المزهرية؟", "cat"),
    ("arabic", "arabic", "متى يغادر القطار؟", "train"),
    ("arabic", "arabic", "ما هي الحساسية التي عندي؟", "doctor"),
    ("arabic", "none", "ماذا تزرع جدتي؟", "garden"),
    ("arabic", "arabic", "إلى أين أُرسل العَقد؟", "letter"),
]
WORDS = recollex.presets.Preset(name="words", arms=("keyword",), fusion=ReciprocalRank())


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    with recollex.open(tmp_path_factory.mktemp("english"), embedder=WordVectors()) as english:
        opened = {"english": english}
        for language in ("none", "arabic"):
            folder = tmp_path_factory.mktemp(language)
            opened[language] = recollex.open(folder, embedder=WordVectors(), language=language)
        for store in opened.values():
            for name, texts in SAID.items():
                store.agent(name).retain_many(list(texts.values()), id=list(texts))
        yield opened
        for store in opened.values():
            store.close()


@pytest.mark.parametrize(("said", "language", "question", "answer"), ASKED)
def test_words_find_the_sentence(stores, said, language, question, answer):
    agent = stores[language].agent(said)
    assert agent.recall(question, preset=WORDS).ids[0] == answer


@pytest.mark.parametrize(
    ("said", "quote", "answer"),
    [
        ("chinese", "“北京南站”", "train"),
        ("japanese", "“東京駅”", "train"),
        ("korean", '"새 사무실로"', "letter"),
        ("arabic", '"الفول السوداني"', "doctor"),
    ],
)
def test_a_quote_finds_the_words_in_their_order(stores, said, quote, answer):
    assert stores["none"].agent(said).recall(quote, preset=WORDS).ids == [answer]


@pytest.mark.parametrize("said", SAID)
def test_texts_without_capitals_name_nothing(stores, said):
    for store in stores.values():
        assert not any(memory.entities for memory in store.agent(said).list())


def test_speakers_and_given_names_are_found_in_every_language(tmp_path):
    for language in ("german", "none"):
        folder = tmp_path / language
        with recollex.open(folder, embedder=WordVectors(), language=language) as store:
            agent = store.agent("a")
            agent.retain("小王把合同寄到了深圳。", id="m", entities=["深圳"])
            turn = {"id": "turn", "speaker": "Jana", "text": "花瓶在大阪。"}
            agent.retain_dialogue([turn], document_id="talk")
            agent.amend("m", tags=["t"])
            found = {memory.id: memory.entities for memory in agent.list()}
            assert found == {"m": ("深圳",), "turn": ("Jana",)}
            assert [memory.id for memory in agent.list(entities=["深圳"])] == ["m"]


def test_names_that_another_rule_found_stay(tmp_path, monkeypatch):
    names = ("小王", "深圳")

    def opened(folder):
        return recollex.open(folder, embedder=WordVectors(), language="none")

    with opened(tmp_path / "s") as store:
        with monkeypatch.context() as before:
            before.setattr(preparation, "find_names", lambda *_: list(names))
            store.agent("a").retain(SAID["chinese"]["letter"], id="m")
        store.agent("a").amend("m", tags=["t"])
        assert store.agent("a").get("m").entities == names
        log = store.path / "agents" / "a"
    recollex.replay(log, tmp_path / "again", agent_id="a", embedder=WordVectors())
    with opened(tmp_path / "again") as store:
        assert store.agent("a").get("m").entities == names


@pytest.fixture
def shell(tmp_path: Path, monkeypatch, capsys) -> Shell:
    return command_line(tmp_path, monkeypatch, capsys)


GIVEN = ("--embedder", "given:8")


def test_the_language_of_a_new_agent_is_chosen_on_the_command_line(shell, tmp_path):
    operation = '{"op": "UPSERT_EDGE", "subject": "Jana", "predicate": "mag", "object": "Tee"}'
    made = shell("apply", "s", "-", "--language", "german", "--agent", "g", *GIVEN, stdin=operation)
    assert made[0] == 0, made
    code, out, _ = shell("stats", "s", "--agent", "g")
    assert code == 0 and "german" in out
    code, _, err = shell("apply", "s", "-", "--agent", "g", "--language", "none", stdin=operation)
    assert code == 2 and "agent 'g' has the language 'german', got --language none" in err
    code, _, err = shell("apply", "s", "-", "--language", "klingon", stdin=operation)
    assert code == 2 and "language must be one of" in err
