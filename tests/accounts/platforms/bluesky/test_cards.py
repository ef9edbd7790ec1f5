"""Link cards of Bluesky posts show the title, description and picture of the linked page."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from PIL import Image

from accounts.platforms.base import START
from accounts.platforms.bluesky.adapter import Bluesky
from accounts.platforms.types import Content, Grant, Progress, Published
from tests.accounts.platforms.bluesky.steps import card_of, linking, publish, step, stored
from tests.accounts.platforms.media_files import media_file
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.http_server import Answer
from tests.fakes.web_pages import WebPages, html, open_graph, picture


def thumb_of(pds: FakeBluesky, grant: Grant) -> Image.Image:
    (blob,) = pds.blobs(grant.external_id)
    return Image.open(io.BytesIO(blob.data))


def test_the_page_of_the_first_link_is_shown_with_its_picture(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, web: WebPages, page: str
) -> None:
    content = Content("tgt_1", f"First {page} then {web.url}/other")

    reading = step(bluesky, grant, content, START)
    assert (reading.phase, web.asked) == ("card", [])
    storing = step(bluesky, grant, content, reading)
    assert (storing.phase, web.asked, pds.blobs(grant.external_id)) == ("picture", ["/page"], [])
    ready = step(bluesky, grant, content, storing)
    assert (ready.phase, web.asked) == ("freeze", ["/page", "/picture.png"])
    published = publish(bluesky, grant, content, ready)

    (blob,) = pds.blobs(grant.external_id)
    assert card_of(pds, grant) == {
        "uri": page,
        "title": "A bench",
        "description": "How it was made",
        "thumb": blob.reference(),
    }
    assert (thumb_of(pds, grant).format, thumb_of(pds, grant).size) == ("JPEG", (40, 30))
    assert published.note == ""


def test_the_address_of_the_card_is_the_one_that_was_written(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, web: WebPages
) -> None:
    web.put("/caf%C3%A9", html(open_graph("Café")))
    link = f"{web.url}/café#menu"

    publish(bluesky, grant, linking(link))

    assert card_of(pds, grant) == {"uri": link, "title": "Café", "description": ""}


@pytest.mark.parametrize("options", [{"link_card": "auto"}, {"langs": ["en"]}])
def test_a_card_is_created_unless_the_options_refuse_it(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, page: str, options: dict[str, Any]
) -> None:
    publish(bluesky, grant, linking(page, **options))

    assert card_of(pds, grant) is not None


def test_no_page_is_requested_for_a_post_without_a_card(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, web: WebPages, page: str
) -> None:
    assert publish(bluesky, grant, linking(page, link_card="none")).note == ""
    publish(bluesky, grant, Content("tgt_2", "No link"))
    publish(bluesky, grant, Content("tgt_3", page, media=(media_file(picture()),)))

    types = [record["value"].get("embed", {}).get("$type") for record in pds.records(grant.external_id)]
    assert (types, web.asked) == ([None, None, "app.bsky.embed.images"], [])


def test_a_card_in_the_callers_own_words_has_the_pages_picture(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, page: str
) -> None:
    own = {"url": page, "title": "Mine", "description": ""}

    publish(bluesky, grant, Content("tgt_1", "No link in the text", {"link_card": own}))

    (blob,) = pds.blobs(grant.external_id)
    assert card_of(pds, grant) == {"uri": page, "title": "Mine", "description": "", "thumb": blob.reference()}


def test_a_description_that_the_caller_leaves_out_is_the_pages(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, page: str
) -> None:
    publish(bluesky, grant, Content("tgt_1", "Hello", {"link_card": {"url": page, "title": "Mine"}}))

    card = card_of(pds, grant)
    assert card
    assert (card["title"], card["description"]) == ("Mine", "How it was made")


def test_a_card_in_the_callers_own_words_needs_no_page(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, web: WebPages
) -> None:
    own = {"url": f"{web.url}/nowhere", "title": "Mine"}

    published = publish(bluesky, grant, Content("tgt_1", "Hello", {"link_card": own}))

    assert card_of(pds, grant) == {"uri": own["url"], "title": "Mine", "description": ""}
    assert published.note == ""


def test_up_to_three_redirects_are_followed(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, web: WebPages, page: str
) -> None:
    for number, place in ((1, "/2"), (2, f"{web.url}/3"), (3, "page")):
        web.put(f"/{number}", Answer(301, b"", {"Location": place}))

    publish(bluesky, grant, linking(f"{web.url}/1"))

    card = card_of(pds, grant)
    assert card
    assert (card["uri"], card["title"], "thumb" in card) == (f"{web.url}/1", "A bench", True)


def test_of_a_huge_page_the_beginning_is_read(bluesky: Bluesky, pds: FakeBluesky, grant: Grant, web: WebPages) -> None:
    link = web.put("/huge", html(open_graph("Huge") + b"<p>" + b"x" * 30_000_000))

    publish(bluesky, grant, linking(link))

    assert card_of(pds, grant) == {"uri": link, "title": "Huge", "description": ""}


def test_a_picture_is_scaled_down_and_loses_its_metadata(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, web: WebPages, page: str
) -> None:
    file = io.BytesIO()
    exif = Image.Exif()
    exif[0x010E], exif[0x0112] = "secret", 6  # description; to be turned
    Image.effect_noise((3000, 1500), 90).convert("RGB").save(file, "JPEG", exif=exif, quality=95)
    web.put("/picture.png", Answer(200, file.getvalue(), {"Content-Type": "image/jpeg"}))

    publish(bluesky, grant, linking(page))

    (blob,) = pds.blobs(grant.external_id)
    assert thumb_of(pds, grant).size == (600, 1200)
    assert len(blob.data) <= 1_000_000
    assert not thumb_of(pds, grant).getexif()
    assert b"secret" not in blob.data


def test_a_thread_has_the_card_of_its_first_segment(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, web: WebPages, page: str
) -> None:
    content = linking(page, thread=[{"text": f"Two {web.url}/other"}])

    publish(bluesky, grant, content)

    first, second = (record["value"] for record in pds.records(grant.external_id))
    assert (first["embed"]["external"]["title"], "embed" in second) == ("A bench", False)


def test_a_thread_without_its_card_has_a_note(bluesky: Bluesky, pds: FakeBluesky, grant: Grant, web: WebPages) -> None:
    published = publish(bluesky, grant, linking(f"{web.url}/nowhere", thread=[{"text": "Two"}, {"text": "Three"}]))

    assert published.note.endswith("answered 404.")
    assert len(pds.records(grant.external_id)) == 3


def test_every_step_may_be_taken_twice(bluesky: Bluesky, pds: FakeBluesky, grant: Grant, web: WebPages, page: str) -> None:
    result: Progress | Published = START
    while isinstance(result, Progress):
        before = stored(result)
        bluesky.publish_step(grant, linking(page), before)
        result = bluesky.publish_step(grant, linking(page), before)

    assert (pds.writes, len(pds.blobs(grant.external_id))) == (1, 1)
    assert replace(result, note="") == result
