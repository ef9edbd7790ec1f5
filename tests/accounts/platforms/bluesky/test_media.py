from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import time_machine

from accounts.platforms.base import START
from accounts.platforms.bluesky.adapter import Bluesky
from accounts.platforms.errors import (
    ContentRejected,
    OutcomeUnknown,
    PlatformError,
    RateLimited,
    ReauthRequired,
    TokenExpired,
    Transient,
)
from accounts.platforms.types import Content, Grant, MediaFile
from tests.accounts.platforms.bluesky.scripted_server import DID, PUT_RECORD, RESOLVE_HANDLE, UPLOAD_BLOB, ScriptedServer
from tests.accounts.platforms.bluesky.steps import prepare, put, step
from tests.accounts.platforms.media_files import MP4, PDF, media_file, picture
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.http_server import Answer

RED, BLUE = picture(4, 3, colour="red"), picture(2, 5, form="JPEG", colour="blue")
IMAGE = media_file(RED, width=4, height=3, alt_text="A red field – «rouge»")
VIDEO = media_file(MP4, "video/mp4", width=640, height=360, alt_text="A film")
BLOB = {"$type": "blob", "ref": {"$link": "bafkrei" + "a" * 52}, "mimeType": "image/png", "size": 70}


def with_media(*files: MediaFile, text: str = "Hello") -> Content:
    return Content("tgt_1", text, media=files)


def embed_of(pds: FakeBluesky, grant: Grant) -> dict[str, Any]:
    (record,) = pds.records(grant.external_id)
    embed: dict[str, Any] = record["value"]["embed"]
    return embed


def test_each_picture_is_uploaded_in_a_step_of_its_own_and_shown_in_order(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant
) -> None:
    second = media_file(BLUE, "image/jpeg", width=2, height=5)
    content = with_media(IMAGE, second)

    uploading = step(bluesky, grant, content, START)
    assert (uploading.phase, pds.requests_to(UPLOAD_BLOB)) == ("upload", 0)
    uploading = step(bluesky, grant, content, uploading)
    assert (uploading.phase, pds.requests_to(UPLOAD_BLOB)) == ("upload", 1)
    frozen = prepare(bluesky, grant, content, uploading)
    assert (pds.requests_to(UPLOAD_BLOB), pds.writes) == (2, 0)
    put(bluesky, grant, frozen)

    red, blue = pds.blobs(grant.external_id)
    assert embed_of(pds, grant) == {
        "$type": "app.bsky.embed.images",
        "images": [
            {"image": red.reference(), "alt": "A red field – «rouge»", "aspectRatio": {"width": 4, "height": 3}},
            {"image": blue.reference(), "alt": "", "aspectRatio": {"width": 2, "height": 5}},
        ],
    }
    assert [(blob.data, blob.mime_type) for blob in (red, blue)] == [(RED, "image/png"), (BLUE, "image/jpeg")]


def test_a_gif_is_a_picture_among_others(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    gif = media_file(picture(form="GIF"), "image/gif", kind="gif")

    put(bluesky, grant, prepare(bluesky, grant, with_media(gif, IMAGE)))

    assert [one["image"]["mimeType"] for one in embed_of(pds, grant)["images"]] == ["image/gif", "image/png"]


def test_the_record_has_the_media_type_that_the_server_detected(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    put(bluesky, grant, prepare(bluesky, grant, with_media(media_file(BLUE, "image/png"))))

    assert embed_of(pds, grant)["images"][0]["image"]["mimeType"] == "image/jpeg"


def test_the_same_picture_twice_is_one_blob_shown_twice(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    put(bluesky, grant, prepare(bluesky, grant, with_media(IMAGE, replace(IMAGE, alt_text="Again"))))

    assert [one["alt"] for one in embed_of(pds, grant)["images"]] == [IMAGE.alt_text, "Again"]
    assert len(pds.blobs(grant.external_id)) == 1


@pytest.mark.parametrize(
    "files",
    [
        [IMAGE] * 5,
        [VIDEO, VIDEO],
        [IMAGE, VIDEO],
        [media_file(PDF, "application/pdf")],
        [IMAGE, media_file(PDF, "application/pdf")],
    ],
    ids=["five pictures", "two videos", "picture and video", "document", "picture and document"],
)
def test_files_that_no_embed_accepts_are_rejected_before_anything_is_uploaded(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, files: list[MediaFile]
) -> None:
    with pytest.raises(ContentRejected):
        prepare(bluesky, grant, with_media(*files))

    assert pds.requests_to(UPLOAD_BLOB) == 0


def test_a_file_too_large_for_the_server_is_rejected(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    image = media_file(RED + bytes(5_242_880))

    with pytest.raises(ContentRejected, match="request entity too large"):
        prepare(bluesky, grant, with_media(image))

    assert (pds.blobs(grant.external_id), pds.writes) == ([], 0)


def test_an_upload_continues_after_the_token_was_renewed(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    content = with_media(IMAGE, media_file(BLUE, "image/jpeg"))
    uploading = step(bluesky, grant, content, step(bluesky, grant, content, START))
    pds.expire_access_tokens()
    with pytest.raises(TokenExpired):
        step(bluesky, grant, content, uploading)

    renewed = bluesky.refresh_grant(grant)
    put(bluesky, renewed, prepare(bluesky, renewed, content, uploading))

    assert len(embed_of(pds, grant)["images"]) == 2
    assert pds.requests_to(UPLOAD_BLOB) == 3


@pytest.mark.parametrize("fault", ["drop", "drop after", 500, 503, 429])
def test_a_temporary_error_postpones_an_upload_which_may_be_repeated(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, fault: Any
) -> None:
    content = with_media(IMAGE)
    uploading = step(bluesky, grant, content, START)
    if isinstance(fault, str):
        pds.drop_next(UPLOAD_BLOB, after_accept=fault == "drop after")
    elif fault == 429:
        pds.rate_limit_next(1, retry_after=9)
    else:
        pds.fail_next(UPLOAD_BLOB, status=fault, after_accept=True)

    with pytest.raises(Transient) as caught:
        step(bluesky, grant, content, uploading)
    put(bluesky, grant, prepare(bluesky, grant, content, uploading))

    assert (type(caught.value), caught.value.retry_after) == ((RateLimited, 9.0) if fault == 429 else (Transient, None))
    assert (len(pds.blobs(grant.external_id)), pds.writes) == (1, 1)


def test_an_error_after_the_uploads_repeats_none_of_them(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    content = with_media(IMAGE, text="@alice.test")
    uploaded = step(bluesky, grant, content, step(bluesky, grant, content, START))
    pds.fail_next(RESOLVE_HANDLE, status=503)
    with pytest.raises(Transient):
        step(bluesky, grant, content, uploaded)

    put(bluesky, grant, prepare(bluesky, grant, content, uploaded))

    assert pds.requests_to(UPLOAD_BLOB) == 1


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer.of_json({"error": "InvalidRequest", "message": "no"}, 400), ContentRejected),
        (Answer.of_json({"error": "AccountTakedown"}, 401), ReauthRequired),
        (Answer(200, b"<html>"), Transient),
        (Answer.of_json({}), Transient),
        (Answer.of_json({"blob": "bafkrei"}), Transient),
        (Answer.of_json({"blob": {**BLOB, "ref": "bafkrei"}}), Transient),
        (Answer.of_json({"blob": {**BLOB, "size": "70"}}), Transient),
    ],
)
def test_the_error_of_each_response_to_an_upload(
    bluesky: Bluesky, scripted: ScriptedServer, answer: Answer, fault: type[PlatformError]
) -> None:
    scripted.answers[UPLOAD_BLOB] = answer
    grant = Grant(tokens={"access": "access", "refresh": "refresh", "pds": scripted.url}, external_id=DID)

    with pytest.raises(PlatformError) as caught:
        prepare(bluesky, grant, with_media(IMAGE))

    assert type(caught.value) is fault
    assert scripted.calls == [UPLOAD_BLOB]


@pytest.mark.parametrize("rows", [True, False], ids=["refused", "server error"])
def test_files_that_the_server_removed_are_uploaded_again_for_the_same_record(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, rows: bool
) -> None:
    content = with_media(IMAGE, media_file(BLUE, "image/jpeg"))
    frozen = prepare(bluesky, grant, content)
    pds.collect_blobs(rows=rows)

    again = step(bluesky, grant, content, frozen)
    assert (again.phase, pds.writes) == ("upload", 0)
    with time_machine.travel(timedelta(hours=1)):
        refrozen = prepare(bluesky, grant, content, again)
    published = put(bluesky, grant, refrozen)

    assert (refrozen.state["rkey"], refrozen.state["record"]) == (frozen.state["rkey"], frozen.state["record"])
    assert pds.requests_to(UPLOAD_BLOB) == 4
    assert (pds.writes, pds.records(grant.external_id)[0]["uri"]) == (1, published.external_id)


@pytest.mark.parametrize(("rows", "fault"), [(True, Transient), (False, OutcomeUnknown)])
def test_files_are_uploaded_again_a_limited_number_of_times(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, rows: bool, fault: type[PlatformError]
) -> None:
    content = with_media(IMAGE)
    progress = prepare(bluesky, grant, content)

    def lose_and_put() -> None:
        nonlocal progress
        while True:
            pds.collect_blobs(rows=rows)
            progress = prepare(bluesky, grant, content, step(bluesky, grant, content, progress))

    with pytest.raises(fault):
        lose_and_put()
    assert (pds.requests_to(UPLOAD_BLOB), pds.writes) == (4, 0)


def test_a_published_post_is_found_though_its_files_are_gone(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    frozen = prepare(bluesky, grant, with_media(IMAGE))
    pds.drop_next(PUT_RECORD, after_accept=True)
    first = put(bluesky, grant, frozen)
    pds.collect_blobs()

    assert put(bluesky, grant, frozen) == first
    assert (pds.writes, pds.requests_to(UPLOAD_BLOB)) == (1, 1)


@pytest.mark.parametrize("answer", [Answer.of_json({"error": "UpstreamFailure"}, 502), Answer(500, b"<html>"), Answer(504)])
def test_a_server_error_that_is_not_about_the_files_leaves_the_outcome_unknown(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, answer: Answer
) -> None:
    frozen = prepare(bluesky, grant, with_media(IMAGE))
    pds.refuse_next(PUT_RECORD, answer)

    with pytest.raises(OutcomeUnknown):
        put(bluesky, grant, frozen)

    put(bluesky, grant, frozen)
    assert (pds.writes, pds.requests_to(UPLOAD_BLOB)) == (1, 1)
