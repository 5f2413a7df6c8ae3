"""Which range does a sentence name? Tables of questions and statements."""

import pytest

from recollex_engine.dates.time_range import find_event_range, find_range
from tests.engine.dates.day_ranges import NOW, said

QUESTIONS = {
    # the papers' examples (TEMPR 3.1.4, Memora 3.1.4)
    "What did Alice do last spring?": "2022-03-01..2022-05-31",
    "What did Alice do in June?": "2023-06-01..2023-06-30",
    "Where did she live last year?": "2022-01-01..2022-12-31",
    "What happened between March and May?": "2023-03-01..2023-05-31",
    # days
    "on May 7, 2023": "2023-05-07..2023-05-07",
    "on May 7th 2023": "2023-05-07..2023-05-07",
    "on 7 May 2023": "2023-05-07..2023-05-07",
    "the 7th of May, 2023": "2023-05-07..2023-05-07",
    "2023-05-07": "2023-05-07..2023-05-07",
    "at 2023-05-07T10:00:00Z": "2023-05-07..2023-05-07",
    "2023/05/07": "2023-05-07..2023-05-07",
    "25/12/2022": "2022-12-25..2022-12-25",
    "What did he send on December 1,2022?": "2022-12-01..2022-12-01",
    "on Friday, 12 May 2023": "2023-05-12..2023-05-12",
    "on Dec 20": "2022-12-20..2022-12-20",
    "on Nov. 15": "2023-11-15..2023-11-15",
    "on 29 February": "2020-02-29..2020-02-29",
    "on the evening of 7 July, 2023": "2023-07-07+18..2023-07-07",
    "Was it 5/7/2023?": "2023-07-05..2023-07-05",
    # dots, dashes and slashes
    "on 19.01.2023": "2023-01-19..2023-01-19",
    "on 19.1.23": "2023-01-19..2023-01-19",
    "on 19-01-2023": "2023-01-19..2023-01-19",
    "on 12/25/2022": "2022-12-25..2022-12-25",
    "Who came on 25.12.?": "2022-12-25..2022-12-25",
    "on 12/25": "2022-12-25..2022-12-25",
    "since 01.03.2023": "2023-03-01..",
    "before 10.01.2023": "..2023-01-09",
    "from 24.12. to 31.12.2022": "2022-12-24..2022-12-31",
    "19.01.2023 - 21.01.2023": "2023-01-19..2023-01-21",
    "on 31.12.98": "1998-12-31..1998-12-31",
    "Friday before 10.01.2023": "2023-01-06..2023-01-06",
    "the Monday after 19.01.2023": "2023-01-23..2023-01-23",
    "two weeks before 19.01.2023": "2023-01-02..2023-01-08",
    # stops and ordinals
    "on Jan. 19th, 2023": "2023-01-19..2023-01-19",
    "Sept. 3": "2023-09-03..2023-09-03",
    "3 Sept. 2022": "2022-09-03..2022-09-03",
    "on Sun., Oct. 1": "2023-10-01..2023-10-01",
    "on 19. January 2023": "2023-01-19..2023-01-19",
    "the 3rd of May": "2023-05-03..2023-05-03",
    "the third of May": "2023-05-03..2023-05-03",
    "the twenty-first of May 2022": "2022-05-21..2022-05-21",
    "May the fourth": "2023-05-04..2023-05-04",
    "from the 3rd to the 5th of March": "2023-03-03..2023-03-05",
    "the 3rd and 4th of March": "2023-03-03..2023-03-04",
    "What did I say on the 21st about it?": "2023-10-21..2023-10-21",
    "since the 1st": "2023-11-01..",
    "Friday the 13th": "2023-10-13..2023-10-13",
    # months, seasons, years
    "the 30th of February 2022": "2022-02-01..2022-02-28",
    "June 2023": "2023-06-01..2023-06-30",
    "in June, 2000 people came": "2023-06-01..2023-06-30",
    "in June of last year": "2022-06-01..2022-06-30",
    "june '21": "2021-06-01..2021-06-30",
    "in december": "2022-12-01..2022-12-31",
    "in may": "2023-05-01..2023-05-31",
    "in November": "2023-11-01..2023-11-30",
    "2023-05 was in 2023-05": "2023-05-01..2023-05-31",
    "last June": "2023-06-01..2023-06-30",
    "in 2022": "2022-01-01..2022-12-31",
    "What did he do in 2021 with Nate?": "2021-01-01..2021-12-31",
    "the year 2021": "2021-01-01..2021-12-31",
    "summer 2021": "2021-06-01..2021-08-31",
    "the fall of 2021": "2021-09-01..2021-11-30",
    "in the summer": "2023-06-01..2023-08-31",
    "this summer": "2023-06-01..2023-08-31",
    "last winter": "2022-12-01..2023-02-28",
    "in the 1990s": "1990-01-01..1999-12-31",
    "in the '90s": "1990-01-01..1999-12-31",
    "in the 1800s": "1800-01-01..1899-12-31",
    "in the early 1990s": "1990-01-01..1993-04-30",
    "in the 19th century": "1801-01-01..1900-12-31",
    "Q3 2024": "2024-07-01..2024-09-30",
    "the third quarter of 2022": "2022-07-01..2022-09-30",
    "last quarter": "2023-07-01..2023-09-30",
    "at Christmas 2022": "2022-12-25..2022-12-25",
    "for Christmas": "2022-12-25..2022-12-25",
    "on Halloween": "2023-10-31..2023-10-31",
    "Thanksgiving 2022": "2022-11-24..2022-11-24",
    "on New Year\u2019s Eve": "2022-12-31..2022-12-31",
    "Easter 2024": "2024-03-31..2024-03-31",
    "the 4th of July": "2023-07-04..2023-07-04",
    "in the budget for June": "2023-06-01..2023-06-30",
    "What were the records for October?": "2023-10-01..2023-10-31",
    "What did she hope for the summer?": "2023-06-01..2023-08-31",
    "the summer vacation of 2021": "2021-06-01..2021-08-31",
    "in jan": "2023-01-01..2023-01-31",
    "in the season 2018/2019": "2018-07-01..2019-06-30",
    "after the season 2018/19": "2019-07-01..",
    "in 2018-19": "2018-07-01..2019-06-30",
    "mid-to-late July": "2023-07-11..2023-07-31",
    "in the early-to-mid 1990s": "1990-01-01..1996-08-31",
    "in the mid-80s": "1983-05-01..1986-08-31",
    "the first three months of 2022": "2022-01-01..2022-03-31",
    "the last ten days of May": "2023-05-22..2023-05-31",
    # holidays
    "What did she buy on Black Friday?": "2022-11-25..2022-11-25",
    "during the Spring Festival": "2023-01-21..2023-01-28",
    "over Chinese New Year 2024": "2024-02-09..2024-02-16",
    "the Mid-Autumn Festival 2025": "2025-10-06..2025-10-06",
    "on Qingming": "2023-04-05..2023-04-05",
    "at the May Day 2022": "2022-05-01..2022-05-01",
    "on St. Patrick's Day": "2023-03-17..2023-03-17",
    "on Mothers' Day": "2023-05-14..2023-05-14",
    "over the Easter weekend": "2023-04-08..2023-04-09",
    "on Memorial Day": "2023-05-29..2023-05-29",
    "on Good Friday 2025": "2025-04-18..2025-04-18",
    # hours of a day
    "the early morning of August 2nd": "2023-08-02+04..2023-08-02+08",
    "the night before Christmas 2022": "2022-12-24+18..2022-12-25+05",
    "late at night on 5 May 2023": "2023-05-05+18..2023-05-06+05",
    "between 2 pm and 4 pm on May 5": "2023-05-05+14..2023-05-05+15",
    "yesterday at 2:30 PM": "2023-11-14+14..2023-11-14+14",
    "at 14:15 on 5 May": "2023-05-05+14..2023-05-05+14",
    "3:45 am, 5 May": "2023-05-05+03..2023-05-05+03",
    "yesterday at noon": "2023-11-14+11..2023-11-14+13",
    "on May 5 in the afternoon": "2023-05-05+12..2023-05-05+17",
    "at 12:30 am on 5 May": "2023-05-05..2023-05-05",
    # about a time
    "around 7 May": "2023-05-04..2023-05-10",
    "around Christmas": "2022-12-22..2022-12-28",
    # counted from now
    "today": "2023-11-15..2023-11-15",
    "yesterday's news": "2023-11-14..2023-11-14",
    "the day before yesterday": "2023-11-13..2023-11-13",
    "last night": "2023-11-14+18..2023-11-15+05",
    "yesterday morning": "2023-11-14+06..2023-11-14+11",
    "last week": "2023-11-06..2023-11-12",
    "last month": "2023-10-01..2023-10-31",
    "last weekend": "2023-11-11..2023-11-12",
    "over the weekend": "2023-11-11..2023-11-12",
    "last Friday": "2023-11-10..2023-11-10",
    "last Wednesday": "2023-11-08..2023-11-08",
    "last Tues": "2023-11-14..2023-11-14",
    "on Friday": "2023-11-10..2023-11-10",
    "on Wednesday": "2023-11-15..2023-11-15",
    "Friday last week": "2023-11-10..2023-11-10",
    "next Wednesday": "2023-11-22..2023-11-22",
    "this week": "2023-11-13..2023-11-19",
    "next month": "2023-12-01..2023-12-31",
    "two weeks ago": "2023-10-30..2023-11-05",
    "3 days ago": "2023-11-12..2023-11-12",
    "a few days ago": "2023-11-10..2023-11-13",
    "a couple of months ago": "2023-09-01..2023-09-30",
    "five years ago": "2018-01-01..2018-12-31",
    "an hour ago": "2023-11-15+08..2023-11-15+09",
    "in the past two weeks": "2023-11-01..2023-11-15",
    "the past month": "2023-10-15..2023-11-15",
    "the week before last": "2023-10-30..2023-11-05",
    # parts and steps
    "in early 2021": "2021-01-01..2021-04-30",
    "late 2021": "2021-09-01..2021-12-31",
    "mid-June": "2023-06-11..2023-06-20",
    "in the beginning of November 2022": "2022-11-01..2022-11-10",
    "the end of last year": "2022-09-01..2022-12-31",
    "the first half of September 2022": "2022-09-01..2022-09-15",
    "the first week of June": "2023-06-01..2023-06-07",
    "in the second week of November": "2023-11-08..2023-11-14",
    "the last Friday of May": "2023-05-26..2023-05-26",
    "the first weekend in October": "2023-10-07..2023-10-08",
    "the week of May 9": "2023-05-08..2023-05-14",
    "the week before 9 June 2023": "2023-06-02..2023-06-08",
    "the Sunday before October 25, 2022": "2022-10-23..2022-10-23",
    "two weeks before August 11, 2023": "2023-07-24..2023-07-30",
    "the weekend after 10 April 2023": "2023-04-15..2023-04-16",
    "last weekend before April 10, 2023": "2023-04-08..2023-04-09",
    "the month before June 2023": "2023-05-01..2023-05-31",
    "the day after Christmas": "2022-12-26..2022-12-26",
    # between two, or open at an end
    "between March and May (2022)": "2022-03-01..2022-05-31",
    "between November and February 2023": "2022-11-01..2023-02-28",
    "between August 11 and August 15 2023": "2023-08-11..2023-08-15",
    "between August 11 and 15, 2023": "2023-08-11..2023-08-15",
    "from Aug 1941 to Mar 1945": "1941-08-01..1945-03-31",
    "between 2019 and 2021": "2019-01-01..2021-12-31",
    "in 2019-2021": "2019-01-01..2021-12-31",
    "7-9 May 2023": "2023-05-07..2023-05-09",
    "March to May 2022": "2022-03-01..2022-05-31",
    "since June": "2023-06-01..",
    "since 2020": "2020-01-01..",
    "after May 2022": "2022-06-01..",
    "from 2020 on": "2020-01-01..",
    "from 2019 until now": "2019-01-01..",
    "between the years 1975 and 1982": "1975-01-01..1982-12-31",
    "in the years 1975 to 1982": "1975-01-01..1982-12-31",
    "Who had the house second, 1346 to 1347?": "1346-01-01..1347-12-31",
    "Where did he work before he joined us in 2010?": "..2010-12-31",
    "since she moved to Rome in May 2022": "2022-05-01..",
    "What must be done by 2030?": "..2030-12-31",
    "I wanted to tell you about Monday": "2023-11-13..2023-11-13",
    "The figures for Friday are gone": "2023-11-10..2023-11-10",
    "Who phoned on the 3rd?": "2023-11-03..2023-11-03",
    "Who phoned on the 20th? Why?": "2023-10-20..2023-10-20",
    "on fri": "2023-11-10..2023-11-10",
    "before 2020": "..2019-12-31",
    "until last year": "..2022-12-31",
    "won by July 10, 2022": "..2022-07-10",
    # several, and the one that the question stands in
    "Who did I call on 3 June, 6 June and 28 June?": "2023-06-03..2023-06-28",
    "Whom did I help on June 9th, 12th, and 14th?": "2023-06-09..2023-06-14",
    "the films of May and June 2022": "2022-05-01..2022-06-30",
    "Which films did he name in September and October 2022?": "2022-09-01..2022-10-31",
    "Who was paid in early May and mid-May?": "2023-05-01..2023-05-20",
    "in 1999, 2000 and 2001": "1999-01-01..2001-12-31",
    "What did she do in 2021 and in January 2022?": "2022-01-01..2022-01-31",
    "in 1990 and 2010": "1990-01-01..1990-12-31",
    "in May 2019 and May 2022": "2019-05-01..2019-05-31",
    "Which post had the girl born on 2 March 1911 from 1937 to 1939?": "1937-01-01..1939-12-31",
    "The band left in 1994 for Rome. Where did it play from 1995 to 1999?": (
        "1995-01-01..1999-12-31"
    ),
    "Who led from 2001 to 2005 the firm founded in 1990?": "2001-01-01..2005-12-31",
    "In May 2022, what did she say about her trip in 2019?": "2022-05-01..2022-05-31",
    "After the match on May 10th, what did I send on May 15th?": "2023-05-15..2023-05-15",
    "Whose 1980s radio did he ask about in early June?": "2023-06-01..2023-06-10",
    # the one that names its year counts
    "What did he finish last Friday on 23 January, 2022?": "2022-01-23..2022-01-23",
}

COMING = {
    "What will she do on Friday?": "2023-11-17..2023-11-17",
    "Let's plan the trip. Start with June 1st to 7th.": "2024-06-01..2024-06-07",
    "Please remind me on July 24th.": "2024-07-24..2024-07-24",
    "The table is booked for Saturday, 20 January.": "2024-01-20..2024-01-20",
    "From September on we will run.": "2024-09-01..",
    "We will talk on the 3rd.": "2023-12-03..2023-12-03",
    "Cancel my first meeting on December 18": "2023-12-18..2023-12-18",
    "can you postpone the dinner on January 6": "2024-01-06..2024-01-06",
    "Delete my meetings on Friday": "2023-11-17..2023-11-17",
    "please move my meeting with Ann on January 4 by an hour": "2024-01-04..2024-01-04",
    "Delete all photos in July": "2023-07-01..2023-07-31",
    "We cancelled the meeting on Friday.": "2023-11-10..2023-11-10",
    # a verb of the past, or a question that only mentions plans, looks back
    "Which trip did she plan in July?": "2023-07-01..2023-07-31",
    "She went in July. Let's book it again.": "2023-07-01..2023-07-31",
    "Where is the trip in July?": "2023-07-01..2023-07-31",
}


@pytest.mark.parametrize(("text", "expected"), COMING.items())
def test_a_sentence_about_the_future_means_the_coming_one(text, expected):
    assert said(find_range(text, NOW)) == expected


@pytest.mark.parametrize(("text", "expected"), QUESTIONS.items())
def test_questions(text, expected):
    assert said(find_range(text, NOW)) == expected


NO_TIMES = [
    "When did X happen?",
    "Is port 2019 open?",
    "Which bug did v2020.1 fix?",
    "Did it cost $2000?",
    "Did it cost 2000 dollars in 1999 dollars?",
    "How did 2000 people come?",
    "Was there room for us in 1200 hotels?",
    "Are we in room 2023?",
    "I live at 1999 Oak Street",
    "May I come?",
    "You may ask. It may 5 times fail.",
    "We march on. They march 10 miles.",
    "Wait a second",
    "The sun sat on the sea",
    "June said hello to April and August",
    "Is Tuesday a fine name? Every Friday, on Fridays",
    "Where is the Christmas tree?",
    "Who lives on Easter Island?",
    "from 2000 to 2500 calories",
    "2023-13-01, 2023-02-30, 32/13/2023",
    "Did it fall in spring-loaded springs?",
    "She did it recently, soon, the other day, these days",
    "years ago, weeks before the wedding",
    "It took two weeks. I learned it in two weeks.",
    "10:30, 3.14, 2,000, 192.168.2020.1, 555-2020, AB2020",
    "file-2023-05-07.txt",
    "the week before my birthday",
    "a day in the life, all day, night owl, last minute, last time",
    "This march was long",
    "Is the Boeing 747 in version 2024.1 on route 66 with 2,000 people?",
    "Does Windows 2000 or an iPhone 15 run Blade Runner 2049?",
    "Is ID 20230507 or ticket #2023 at 1999.99 euros?",
    "It fell by 2000 and increased by 1500.",
    "Who reigned in 1200 BC?",
    "Who ruled during the fall of Rome?",
    "Is the Summer Palace near the hot spring, or the Spring Boot shop?",
    "Were there 1980s songs at the 90s party?",
    "A gift for June, a card for April, a book for August",
    "Meet at 10:30 or 3 pm, until midnight, every night",
    "Get on the 5th floor, on the 3rd try, on the 3rd, single drive",
    "Is National Day like Labor Day?",
    "from 1985 to 1848",
    "Did she sat in the sun, wed, or mar the jan?",
    "a one-year-old, the second half, the third quarter",
    "chapters 12 to 14, pages 1200-1300, Romans 12:19",
    "The score was 2010 to 1995",
    "before he joined the firm, after the trip",
    "Where is the New Year resolution?",
    "What is Q5?",
    "9999 years ago",
    "Python 3.11.12, version 2.10.24 of it, 192.168.1.20",
    "It cost 25.12. The rating went to 4.5. It grew by 2.5. It was 3.2.",
    "3/4 of it, on 1/2 acre, open 24/7, since 9/11",
    "on 32.01.2023, on 13/13/2023, on 30.02.2023, on 0.1.2023",
    "section 3.2.1, on the 3rd floor, the second of two, the first of the rules",
    "",
]


@pytest.mark.parametrize("text", NO_TIMES)
def test_texts_without_a_time(text):
    assert find_range(text, NOW) is None


STATEMENTS = {
    "I went there last Friday, in 2020 style.": "2023-11-10..2023-11-10",
    "We met yesterday": "2023-11-14..2023-11-14",
    "Next month I will go": "2023-12-01..2023-12-31",
    "We went camping last summer": "2023-06-01..2023-08-31",
    "We went camping in June": "2023-06-01..2023-06-30",
    "The conference is in January": "2024-01-01..2024-01-31",
    "I'll see you in June": "2024-06-01..2024-06-30",
    "We will meet on Friday": "2023-11-17..2023-11-17",
    "We met on Friday": "2023-11-10..2023-11-10",
    "I'm going to run it in two weeks": "2023-11-27..2023-12-03",
    "I have lived here since 2016, and moved in 2020": "2020-01-01..2020-12-31",
    "We haven\u2019t talked in two weeks, I'm going to call": None,
    "I have lived here since 2016": None,
    "It was 4 years ago": "2019-01-01..2019-12-31",
    "She left recently and comes back soon": None,
    "I\u2019ll do it this weekend": "2023-11-18..2023-11-19",
}


@pytest.mark.parametrize(("text", "expected"), STATEMENTS.items())
def test_statements(text, expected):
    assert said(find_event_range(text, NOW)) == expected


def test_the_order_of_day_and_month_is_an_option():
    assert said(find_range("on 5/7/2023", NOW)) == "2023-07-05..2023-07-05"
    assert said(find_range("on 5/7/2023", NOW, month_first=True)) == "2023-05-07..2023-05-07"
    assert said(find_event_range("It was on 3/2.", NOW)) == "2024-02-03..2024-02-03"
    assert said(find_event_range("It was on 2/3.", NOW, month_first=True)) == (
        "2024-02-03..2024-02-03"
    )


@pytest.mark.parametrize("month_first", [False, True])
@pytest.mark.parametrize("text", ["on 25.12.2022", "on 12/25/2022", "on 25-12-2022", "on 12/25"])
def test_only_one_order_may_give_a_date(text, month_first):
    found = find_range(text, NOW, month_first=month_first)
    assert said(found) == "2022-12-25..2022-12-25"
