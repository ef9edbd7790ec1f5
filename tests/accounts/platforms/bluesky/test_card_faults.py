"""A Bluesky post is published once, whatever fails while its link card is created."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import pytest

from accounts.platforms import web_pages
from accounts.platforms.base import START
from accounts.platforms.bluesky.adapter import Bluesky
from accounts.platforms.errors import TokenExpired, Transient
from accounts.platforms.types import Grant, Progress
from tests.accounts.platforms.bluesky.scripted_server import PUT_RECORD, UPLOAD_BLOB
from tests.accounts.platforms.bluesky.steps import card_of, linking, prepare, publish, step
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.http_server import Answer
from tests.fakes.web_pages import WebPages, html, open_graph, picture


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (html(b"<html><head></head><body><h1>Hello</h1></body></html>"), "has no title"),
        (html(b""), "has no title"),
        (Answer(404, open_graph("Not found"), {"Content-Type": "text/html"}), "answered 404"),
        (Answer(500), "answered 500"),
        (html(b"%PDF-1.7", "application/pdf"), "is not a page"),
        (Answer(200, open_graph("No type")), "is not a page"),
        (Answer(200, b"\x1f\x8b", {"Content-Type": "text/html", "Content-Encoding": "gzip"}), "compressed form"),
        (Answer(302, b"", {"Location": "https://10.0.0.1/inner"}), "does not connect to"),
        (Answer(302, b"", {"Location": "http://169.254.169.254/latest/meta-data/"}), "does not connect to"),
        (Answer(302, b"", {"Location": "file:///etc/passwd"}), "does not connect to"),
        (Answer(302, b"", {"Location": "//[::"}), "does not connect to"),
        (Answer(302, b"", {"Location": "/page"}), "redirects more than 3 times"),
        (Answer(302), "answered 302"),
    ],
)
def test_a_post_whose_page_cannot_be_read_has_a_note_instead_of_a_card(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, web: WebPages, answer: Answer, words: str
) -> None:
    published = publish(bluesky, grant, linking(web.put("/page", answer)))

    assert card_of(pds, grant) is None
    assert published.note.startswith("The post has no link card: the page at 127.0.0.1 ")
    assert words in published.note
    assert pds.writes == 1


def test_a_page_that_is_too_slow_gives_no_card(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, web: WebPages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_pages, "PAGE_SECONDS", 0.3)

    published = publish(bluesky, grant, linking(web.put("/page", web.slow())))

    assert published.note == "The post has no link card: the page at 127.0.0.1 did not answer in time."
    assert card_of(pds, grant) is None


def test_a_link_to_an_internal_address_is_not_requested(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, web: WebPages, page: str, settings: Any
) -> None:
    reading = Progress("card")
    settings.OUTBOUND_ALLOW_LOOPBACK = False

    after = step(bluesky, grant, linking(page), reading)

    assert (after.phase, set(after.state), web.asked) == ("freeze", {"note"}, [])


def bomb() -> bytes:
    """A PNG of some kilobytes that claims 50,000 by 50,000 pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 50_000, 50_000, 8, 2, 0, 0, 0)
    pixels = zlib.compress(bytes(10_000_000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    "answer",
    [
        Answer(404),
        Answer(200, bomb(), {"Content-Type": "image/png"}),
        Answer(200, b"<html><script>alert(1)</script></html>", {"Content-Type": "image/png"}),
        Answer(200, b"<svg xmlns='http://www.w3.org/2000/svg'/>", {"Content-Type": "image/svg+xml"}),
        Answer(200, picture()[:60], {"Content-Type": "image/png"}),
        Answer(200, b"", {"Content-Type": "image/png"}),
        Answer(200, picture() + bytes(5_000_001), {"Content-Type": "image/png"}),
        Answer(302, b"", {"Location": "https://10.0.0.1/inner.png"}),
    ],
    ids=["absent", "bomb", "html", "svg", "cut off", "empty", "huge", "inner address"],
)
def test_a_card_is_shown_without_an_invalid_picture(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, web: WebPages, page: str, answer: Answer
) -> None:
    web.put("/picture.png", answer)

    published = publish(bluesky, grant, linking(page))

    assert card_of(pds, grant) == {"uri": page, "title": "A bench", "description": "How it was made"}
    assert (published.note, pds.requests_to(UPLOAD_BLOB)) == ("", 0)


def test_a_card_is_shown_without_a_picture_that_is_too_slow(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, web: WebPages, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_pages, "PICTURE_SECONDS", 0.3)
    web.put("/picture.png", web.slow())

    publish(bluesky, grant, linking(page))

    card = card_of(pds, grant)
    assert card
    assert "thumb" not in card


@pytest.mark.parametrize(
    "address", ["https://10.0.0.1/a.png", "file:///etc/passwd", "data:image/png;base64,AAAA", "http://[", "x" * 4000]
)
def test_a_page_cannot_name_an_internal_address_as_its_picture(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, web: WebPages, address: str
) -> None:
    publish(bluesky, grant, linking(web.put("/page", html(open_graph("A bench", image=address)))))

    card = card_of(pds, grant)
    assert card
    assert "thumb" not in card


@pytest.mark.parametrize("fault", ["drop", "drop after", 500, 503])
def test_a_temporary_error_while_the_picture_is_uploaded_repeats_that_step_only(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, web: WebPages, page: str, fault: Any
) -> None:
    storing = step(bluesky, grant, linking(page), step(bluesky, grant, linking(page), START))
    if isinstance(fault, str):
        pds.drop_next(UPLOAD_BLOB, after_accept=fault == "drop after")
    else:
        pds.fail_next(UPLOAD_BLOB, status=fault)
    with pytest.raises(Transient):
        step(bluesky, grant, linking(page), storing)

    publish(bluesky, grant, linking(page), storing)

    assert (len(pds.blobs(grant.external_id)), pds.writes, web.asked.count("/page")) == (1, 1, 1)


def test_an_expired_session_is_reported_while_the_picture_is_uploaded(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, page: str
) -> None:
    storing = step(bluesky, grant, linking(page), step(bluesky, grant, linking(page), START))
    pds.expire_access_tokens()

    with pytest.raises(TokenExpired):
        step(bluesky, grant, linking(page), storing)


def test_a_card_is_shown_without_a_picture_that_the_server_refuses(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, page: str
) -> None:
    pds.refuse_next(UPLOAD_BLOB, Answer.of_json({"error": "PayloadTooLarge", "message": "no"}, 413))

    publish(bluesky, grant, linking(page))

    card = card_of(pds, grant)
    assert card
    assert "thumb" not in card


@pytest.mark.parametrize("rows", [True, False], ids=["refused", "server error"])
@pytest.mark.parametrize("still_there", [True, False])
def test_a_picture_that_the_server_lost_is_uploaded_again_for_the_same_post(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, web: WebPages, page: str, rows: bool, still_there: bool
) -> None:
    frozen = prepare(bluesky, grant, linking(page))
    pds.collect_blobs(rows=rows)
    if not still_there:
        del web.pages["/picture.png"]

    again = step(bluesky, grant, linking(page), frozen)
    assert (again.phase, pds.writes) == ("picture", 0)
    publish(bluesky, grant, linking(page), again)

    (record,) = pds.records(grant.external_id)
    card = card_of(pds, grant)
    assert card
    assert (record["rkey"], record["value"]["createdAt"]) == (frozen.state["rkey"], frozen.state["record"]["createdAt"])
    assert ("thumb" in card, web.asked.count("/page")) == (still_there, 1)


def test_a_card_without_a_picture_is_published_once(bluesky: Bluesky, pds: FakeBluesky, grant: Grant, web: WebPages) -> None:
    content = linking(web.put("/page", html(open_graph("A bench"))))
    frozen = prepare(bluesky, grant, content)
    pds.drop_next(PUT_RECORD, after_accept=True)

    first = publish(bluesky, grant, content, frozen)

    assert publish(bluesky, grant, content, frozen) == first
    assert pds.writes == 1
