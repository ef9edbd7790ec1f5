from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
import time_machine

from accounts.platforms.bluesky.adapter import Bluesky
from accounts.platforms.errors import RateLimited, Transient
from accounts.platforms.types import Grant
from tests.accounts.platforms.bluesky.conftest import HANDLE
from tests.accounts.platforms.bluesky.scripted_server import PUT_RECORD, RESOLVE_HANDLE
from tests.accounts.platforms.bluesky.steps import put, start
from tests.fakes.bluesky import FakeBluesky

MOMENT = datetime(2026, 11, 20, 15, 42, 7, 123_456, tzinfo=UTC)


def test_a_text_is_published_in_two_steps(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    progress = start(bluesky, grant, "Hello 👋")
    assert (progress.phase, pds.writes) == ("put", 0)

    published = put(bluesky, grant, progress)

    (record,) = pds.records(grant.external_id)
    assert record["value"] == progress.state["record"]
    assert record["rkey"] == progress.state["rkey"]
    assert published.external_id == record["uri"]
    assert published.permalink == f"https://bsky.app/profile/{grant.external_id}/post/{record['rkey']}"
    assert bluesky.irreversible == {"put"}


def test_the_record_is_frozen_with_its_moment_in_milliseconds(bluesky: Bluesky, grant: Grant) -> None:
    with time_machine.travel(MOMENT, tick=False):
        progress = start(bluesky, grant, "Hello")

    assert progress.state["record"] == {
        "$type": "app.bsky.feed.post",
        "text": "Hello",
        "createdAt": "2026-11-20T15:42:07.123Z",
    }
    assert re.fullmatch("[2-7a-j][2-7a-z]{12}", progress.state["rkey"])


def test_languages_are_those_of_the_options(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    put(bluesky, grant, start(bluesky, grant, "Olá", langs=["pt-BR", "en"]))

    assert pds.records(grant.external_id)[0]["value"]["langs"] == ["pt-BR", "en"]


def test_links_mentions_and_tags_are_clickable(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    bob = pds.add_account("bob.test", "x")
    text = "👋 @bob.test, @nobody.test: voilà https://ex.com/é (#tag nicht) #tag"

    put(bluesky, grant, start(bluesky, grant, text))

    facets = pds.records(grant.external_id)[0]["value"]["facets"]
    encoded = text.encode()
    assert [
        (encoded[facet["index"]["byteStart"] : facet["index"]["byteEnd"]].decode(), facet["features"]) for facet in facets
    ] == [
        ("@bob.test", [{"$type": "app.bsky.richtext.facet#mention", "did": bob}]),
        ("https://ex.com/é", [{"$type": "app.bsky.richtext.facet#link", "uri": "https://ex.com/é"}]),
        ("#tag", [{"$type": "app.bsky.richtext.facet#tag", "tag": "tag"}]),
    ]


def test_a_handle_is_resolved_once_and_a_text_without_handles_needs_no_request(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant
) -> None:
    start(bluesky, grant, "Hello https://ex.com #tag")
    assert pds.requests_to(RESOLVE_HANDLE) == 0

    progress = start(bluesky, grant, f"@{HANDLE} @{HANDLE.upper().replace('TEST', 'test')} @{HANDLE}")

    assert pds.requests_to(RESOLVE_HANDLE) == 1
    assert len(progress.state["record"]["facets"]) == 3


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_temporary_error_while_a_handle_is_resolved_postpones_the_post(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, status: int
) -> None:
    pds.fail_next(RESOLVE_HANDLE, status=status)
    with pytest.raises(Transient):
        start(bluesky, grant, f"@{HANDLE}")

    pds.drop_next(RESOLVE_HANDLE)
    with pytest.raises(Transient):
        start(bluesky, grant, f"@{HANDLE}")

    pds.rate_limit_next(1, retry_after=5)
    with pytest.raises(RateLimited):
        start(bluesky, grant, f"@{HANDLE}")


def test_puts_at_the_same_moment_make_one_post(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    progress = start(bluesky, grant, "Once")

    with ThreadPoolExecutor(8) as threads:
        published = list(threads.map(lambda _: put(bluesky, grant, progress), range(16)))

    assert len(set(published)) == 1
    assert pds.writes == 1


def test_two_posts_of_the_same_text_are_two_posts(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    first = put(bluesky, grant, start(bluesky, grant, "Again"))
    second = put(bluesky, grant, start(bluesky, grant, "Again"))

    assert first != second
    assert pds.writes == 2


def test_a_frozen_record_is_published_with_a_renewed_token(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    progress = start(bluesky, grant, "Late")
    pds.expire_access_tokens()

    published = put(bluesky, bluesky.refresh_grant(grant), progress)

    assert published.external_id == pds.records(grant.external_id)[0]["uri"]
    assert pds.requests_to(PUT_RECORD) == 1
