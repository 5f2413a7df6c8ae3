"""Names in scripts without capitals; some sentences are XQuAD's (CC BY-SA 4.0)."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.text.caseless_names import find_caseless_names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("路德的著作广为流传，早在 1519 年就传到了法国、英格兰和意大利。", ["法国", "意大利"]),
        ("和里昂·席勒的音乐剧剧院", ["里昂·席勒"]),
        ("小王把合同寄到了深圳的新办公室。", ["小王", "深圳"]),
        ("李华医生说没事，张女士也在。", ["李华", "张女士"]),
        ("人物：冯浩然，王思琪。文字：无", ["冯浩然", "王思琪"]),
        ("我在读《红楼梦》。", ["红楼梦"]),
        ("弗雷斯诺附近没有山。", ["弗雷斯诺"]),
        ("中国人喜欢喝茶，小时候也是。", []),
        ("奶奶在院子里种了西红柿和黄瓜。", []),
        ("田中さんは契約書を大阪の新しい事務所に送った。", ["田中", "大阪"]),
        ("お母さんと医者さんが来た。", []),
        ("レオナルド・ダ・ヴィンチの絵とトマト", ["レオナルド・ダ・ヴィンチ"]),
        ("김 대리가 계약서를 보냈습니다. 선수님, 고객님", ["김 대리"]),
        ("이영희 씨는 부산에서 서울역까지 갔다.", ["이영희", "부산", "서울"]),
        ("우리 집 고양이가 꽃병을 깨뜨렸어요.", []),
        (
            "انتشرت كتابات لوثر كثيرا في أنحاء فرنسا وإنجلترا وإيطاليا.",
            ["فرنسا", "إنجلترا", "إيطاليا"],
        ),
        ("قالت الدكتورة سلوى إن محمد بن راشد هنا.", ["سلوى", "محمد بن راشد"]),
        ("تزرع جدتي الطماطم والخيار في الحديقة.", []),
        ("Ann has been to Oslo.", []),
        ("Wir fahren über Köln.", []),
    ],
)
def test_names(text, names):
    assert find_caseless_names(text) == names


@settings(max_examples=200, deadline=None)
@given(
    st.text(
        st.sampled_from("小王里昂·席勒先生さん田中トマ・김씨이 에서محمدبن الد《》，aA1"),
        max_size=60,
    )
)
def test_any_text_is_read_and_names_stand_in_it(text):
    for name in find_caseless_names(text):
        assert name and name in text


@pytest.mark.parametrize(
    "part", ["王", "里·", "《", "ア・", "김", "محمد بن ", "李先", "さん", "이가"]
)
def test_the_time_is_linear(part):
    began = time.process_time()
    find_caseless_names(part * (100_000 // len(part)))
    assert time.process_time() - began < 3
