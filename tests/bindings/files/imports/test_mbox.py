import pytest

import recollex
from recollex.files.imports.mbox import text_of_html
from recollex_engine.errors import InputError
from tests.bindings.files.imports.conftest import Ingest

BOX = """From ann@x.org Sat May  4 10:00:00 2024
From: =?utf-8?q?Ann_M=C3=BCller?= <ann@x.org>
To: Ben <ben@x.org>
Cc: carla@x.org
Subject: =?utf-8?q?Caf=C3=A9?= on
 Friday
Date: Sat, 4 May 2024 12:00:00 +0200
Message-ID: <1@x.org>
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 8bit

Shall we meet at the Caf\u00e9?
>From here it is near.

From dan@x.org Sat May  4 10:05:00 2024
From: dan@x.org
Subject: Another thread
Date: Sat, 4 May 2024 10:05:00
Message-ID: <9@x.org>

Not about it.

From ben@x.org Sat May  4 10:10:00 2024
From: Ben <ben@x.org>
Subject: Re: Caf\u00e9 on Friday
Date: Sat, 4 May 2024 10:10:00 +0000
Message-ID: <2@x.org>
In-Reply-To: <1@x.org>
References: <1@x.org>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="b"

--b
Content-Type: text/html; charset=utf-8

<style>p {}</style><p>Yes &amp; gladly.</p><p>Ben</p>
--b
Content-Type: application/pdf
Content-Disposition: attachment; filename="map.pdf"

x
--b--

From ann@x.org Sat May  4 10:20:00 2024
From: Ann <ann@x.org>
Subject: Re: Caf\u00e9 on Friday
Date: Sat, 4 May 2024 10:20:00 +0000
In-Reply-To: <2@x.org>

Fine.

> Yes & gladly.
> Ben

From nobody Sat May  4 10:30:00 2024
From: Eve <eve@x.org>
Date: someday

No date.
"""


def test_mails_are_turns_of_their_threads(agent: recollex.Agent, ingest: Ingest) -> None:
    done = ingest(BOX.encode(), "inbox.mbox")
    assert (done.format, done.stored, done.untimed) == ("mbox", 4, 0)
    first, second, third = agent.list(document_id="1@x.org")
    assert (first.id, first.speaker, first.context) == (
        "1@x.org",
        "Ann M\u00fcller",
        "Caf\u00e9 on Friday",
    )
    assert first.text == "Ann M\u00fcller: Shall we meet at the Caf\u00e9?"
    assert first.event_at.isoformat() == "2024-05-04T10:00:00+00:00"
    assert first.metadata == {"from": "ann@x.org", "to": ["ben@x.org", "carla@x.org"]}
    assert (second.id, second.text) == ("2@x.org", "Ben: Yes & gladly.\nBen")
    assert second.metadata["attachments"] == ["map.pdf"]
    assert third.text == "Ann: Fine."
    assert [mail.speaker for mail in agent.list(document_id="9@x.org")] == ["dan@x.org"]
    assert done.left_out == {
        "attachment": 1,
        "quoted line": 3,
        "time that cannot be read": 1,
        "mail without a date": 1,
    }


def test_words_of_a_page() -> None:
    page = "<head><title>x</title></head><div>One<br>two  <i>three</i></div><script>no()</script>"
    assert text_of_html(page) == "One\ntwo three"


def test_another_file_is_refused(ingest: Ingest) -> None:
    with pytest.raises(InputError, match="it is no mailbox"):
        ingest("Dear Ann,\n", "mail.txt", format="mbox")
