import subprocess
import sys
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

dateparser = pytest.importorskip("dateparser", reason="needs the extra: recollex[languages]")

from recollex_engine.dates import many_languages  # noqa: E402 (after the skip)
from recollex_engine.dates.many_languages import ManyLanguages  # noqa: E402
from recollex_engine.dates.time_range import EARLIEST, find_range  # noqa: E402 (after the skip)
from recollex_engine.errors import InputError  # noqa: E402

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NOW = 1_700_042_400_000_000  # Wednesday, 15 November 2023, 10:00
PARSER = ManyLanguages()


def said(found):
    if found is None:
        return None
    start = "" if found.start == EARLIEST else day(found.start)
    return f"{start}..{'' if found.end == NOW else day(found.end - 1)}"


def day(at):
    return (EPOCH + timedelta(microseconds=at)).strftime("%Y-%m-%d")


TIMES = {
    # a day
    "Was hat Anna am 7. Mai 2023 gemacht?": "2023-05-07..2023-05-07",
    "Wer kam am 25.12.2022?": "2022-12-25..2022-12-25",
    "Was geschah am 3. August?": "2023-08-03..2023-08-03",
    "Qu'a fait Anna le 7 mai 2023 ?": "2023-05-07..2023-05-07",
    "¿Qué hizo Ana el 7 de mayo de 2023?": "2023-05-07..2023-05-07",
    "她2023年5月7日做了什么": "2023-05-07..2023-05-07",
    "5月7日谁来了": "2023-05-07..2023-05-07",
    "12月24日谁来了": "2022-12-24..2022-12-24",
    "2023年5月7日に何をしましたか": "2023-05-07..2023-05-07",
    "Was geschah gestern?": "2023-11-14..2023-11-14",
    "Que s'est-il passé hier ?": "2023-11-14..2023-11-14",
    "¿Qué pasó ayer?": "2023-11-14..2023-11-14",
    "昨天发生了什么": "2023-11-14..2023-11-14",
    "昨日は何がありましたか": "2023-11-14..2023-11-14",
    # a weekday
    "Wer rief am Freitag an?": "2023-11-10..2023-11-10",
    "Que s'est-il passé vendredi ?": "2023-11-10..2023-11-10",
    "¿Qué pasó el viernes?": "2023-11-10..2023-11-10",
    "星期五谁打电话了": "2023-11-10..2023-11-10",
    "金曜日に誰が来ましたか": "2023-11-10..2023-11-10",
    # a week
    "Was geschah letzte Woche?": "2023-11-06..2023-11-12",
    "Wen traf ich vor zwei Wochen?": "2023-10-30..2023-11-05",
    "Et la semaine dernière ?": "2023-11-06..2023-11-12",
    "Qui est venu il y a deux semaines ?": "2023-10-30..2023-11-05",
    "¿Qué pasó la semana pasada?": "2023-11-06..2023-11-12",
    "¿A quién vi hace dos semanas?": "2023-10-30..2023-11-05",
    "上周我见了谁": "2023-11-06..2023-11-12",
    "两周前我见了谁": "2023-10-30..2023-11-05",
    "先週は誰に会いましたか": "2023-11-06..2023-11-12",
    "2週間前に誰が来ましたか": "2023-10-30..2023-11-05",
    # a month
    "Wer kam im Juni 2022?": "2022-06-01..2022-06-30",
    "Was geschah im Mai?": "2023-05-01..2023-05-31",
    "Qui est venu en juin 2022 ?": "2022-06-01..2022-06-30",
    "¿Quién vino en junio de 2022?": "2022-06-01..2022-06-30",
    "2022年6月谁来了": "2022-06-01..2022-06-30",
    "三个月前发生了什么": "2023-08-01..2023-08-31",
    "2022年6月に誰が来ましたか": "2022-06-01..2022-06-30",
    # a year
    "Was war letztes Jahr?": "2022-01-01..2022-12-31",
    "Wer kam im Jahr 2020?": "2020-01-01..2020-12-31",
    "Que s'est-il passé l'année dernière ?": "2022-01-01..2022-12-31",
    "¿Qué pasó el año pasado?": "2022-01-01..2022-12-31",
    "去年发生了什么": "2022-01-01..2022-12-31",
    "昨年は何がありましたか": "2022-01-01..2022-12-31",
    # two ends, and one
    "Wer regierte von 1811 bis 1827?": "1811-01-01..1827-12-31",
    "Was geschah zwischen März und Mai 2022?": "2022-03-01..2022-05-31",
    "Was geschah zwischen November und Februar 2022?": "2021-11-01..2022-02-28",
    "Qui régnait de 1811 à 1827 ?": "1811-01-01..1827-12-31",
    "¿Quién reinó de 1811 a 1827?": "1811-01-01..1827-12-31",
    "从2019年到2021年谁是总统": "2019-01-01..2021-12-31",
    "2019年から2021年まで誰が総理でしたか": "2019-01-01..2021-12-31",
    "Wo wohnt sie seit Mai 2022?": "2022-05-01..",
    "Où vit-elle depuis mai 2022 ?": "2022-05-01..",
    "¿Dónde vive desde mayo de 2022?": "2022-05-01..",
    "Wo wohnte sie bis Mai 2022?": "..2022-05-31",
    # several: the one that names its year
    "Was sagte er gestern über den 7. Mai 2022?": "2022-05-07..2022-05-07",
    # English stays the grammar's
    "What did Alice do last spring?": "2022-03-01..2022-05-31",
    "in June": "2023-06-01..2023-06-30",
}


@pytest.mark.parametrize(("text", "expected"), TIMES.items())
def test_times(text, expected):
    assert said(PARSER.find(text, NOW)) == expected


NO_TIMES = [
    "Hat er 2000 Euro auf Port 8080?",
    "Ist die Version 2.1 da?",
    "Der Mann, die Frau, das Kind",
    "Wie geht es dir morgens?",
    "Er wohnt in Zimmer 2023",
    "Wer mag Marzipan und Maiglöckchen?",
    "Ich habe es in zwei Wochen gelernt",
    "Hat sie es vor 5 m gehört?",
    "Vor zwei Stunden, vor drei Minuten war er hier",
    "Il y a 5 personnes ici",
    "La planète Mars est rouge",
    "La version 2024.1 est là",
    "Les 3 mai-tais sont bons",
    "¿Tiene 3 hermanos y 2000 pesos?",
    "¿Cuesta en 1999 euros?",
    "5人です",
    "他有2000元吗",
    "版本2023有问题吗",
    "2000年代の音楽",
    "彼は3時間前にいました",
    "30 февраля",
    "am 30. Februar 2022",
    "Mars rover landing in the crater",
    "Does the die have 6 sides?",
    "",
]


@pytest.mark.parametrize("text", NO_TIMES)
def test_dates_are_not_invented(text):
    assert PARSER.find(text, NOW) is None


def test_the_words_and_their_place_are_given():
    text = "Wo wohnte sie zwischen März und Mai 2022, sagst du?"
    found = PARSER.find(text, NOW)
    assert found.text == "März und Mai 2022" == text[slice(*found.span)]


def test_a_language_that_was_not_asked_for_is_not_read():
    assert ManyLanguages(languages=("fr",)).find("Was geschah letzte Woche?", NOW) is None
    assert ManyLanguages(languages=("fr",)).find("先週は誰に会いましたか", NOW) is None
    assert ManyLanguages(languages=("it",)).find("Chi è venuto il 7 maggio 2023?", NOW) is not None


def test_a_day_begins_where_the_asker_lives():
    tokyo = ZoneInfo("Asia/Tokyo")
    late = NOW + 10 * 3_600_000_000  # 20:00, already the 16th in Tokyo
    found = ManyLanguages(tz=tokyo).find("昨日は何がありましたか", late)
    assert EPOCH + timedelta(microseconds=found.start) == datetime(2023, 11, 14, 15, tzinfo=UTC)


def test_english_costs_no_dateparser():
    code = (
        "import sys; from recollex_engine.dates.many_languages import ManyLanguages;"
        f"ManyLanguages().find('What did she do in June?', {NOW});"
        "assert 'dateparser' not in sys.modules;"
        f"ManyLanguages().find('Was war gestern?', {NOW}); assert 'dateparser' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_dateparser_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(many_languages.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'recollex\[languages\]'"):
        ManyLanguages()
    monkeypatch.undo()
    with pytest.raises(InputError, match="at least"):
        ManyLanguages(languages=())


_WORDS = """
am im seit bis von zwischen und der le la de à et en depuis el hace il y a 7. Mai mai mayo juin Juni
2023 2022 0001 9999 31 Februar vor zwei Wochen letzte Woche hier gestern ayer 上周 去年 年 月 日 前
5 五 两 昨日 先週 から 到 2023年 5月 7日 , . ? 1999
"""
texts = st.lists(st.sampled_from(_WORDS.split()), max_size=8).flatmap(
    lambda words: st.sampled_from([" ".join(words), "".join(words)])
)


@settings(deadline=None, max_examples=200)
@given(texts, st.integers(-60_000_000_000_000_000, 250_000_000_000_000_000))
def test_any_text_at_any_time_gives_a_range_or_none(text, now):
    found = PARSER.find(text, now)
    if found is not None:
        assert found.start < found.end
        assert found.text == text[slice(*found.span)]


def test_what_is_no_time_in_any_language_is_as_in_english():
    assert PARSER.find("notes 2023-05-07", NOW) == find_range("notes 2023-05-07", NOW)
