"""The Bluesky adapter against a real PDS on loopback with open registration (BLUESKY_PDS_URL)."""

from __future__ import annotations

import os
import secrets
import time
from dataclasses import replace
from typing import Any

import pytest
from pytest_django import Settings

from accounts.platforms.bluesky.adapter import Bluesky
from accounts.platforms.errors import ContentRejected, CredentialsRejected, TokenExpired
from accounts.platforms.types import Content, Grant, Progress
from config.outbound import request
from tests.accounts.platforms.bluesky.steps import prepare, put, start
from tests.accounts.platforms.media_files import media_file, picture
from tests.fakes.http_server import Answer
from tests.fakes.web_pages import WebPages, html, open_graph

PDS = os.environ.get("BLUESKY_PDS_URL", "").rstrip("/")
POSTS = "app.bsky.feed.post"

pytestmark = [pytest.mark.peer, pytest.mark.skipif(not PDS, reason="BLUESKY_PDS_URL names no PDS to test against")]


@pytest.fixture(autouse=True)
def _loopback(settings: Settings) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = True


@pytest.fixture
def bluesky() -> Bluesky:
    return Bluesky()


@pytest.fixture
def credentials() -> dict[str, str]:
    """Create a new account with an app password and return its credentials."""
    name = f"u{secrets.token_hex(6)}"
    account = {"email": f"{name}@example.com", "handle": f"{name}.test", "password": secrets.token_hex(12)}
    owner = call("com.atproto.server.createAccount", body=account)
    made = call("com.atproto.server.createAppPassword", body={"name": "service"}, token=owner["accessJwt"])
    return {"identifier": account["handle"], "app_password": made["password"], "service": PDS}


@pytest.fixture
def grant(bluesky: Bluesky, credentials: dict[str, str]) -> Grant:
    return bluesky.connect_with_credentials(credentials).grant


def call(method: str, *, body: Any = None, params: Any = None, token: str = "") -> Any:
    """Call the PDS itself, without the adapter."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    verb = "POST" if body is not None else "GET"
    response = request(verb, f"{PDS}/xrpc/{method}", json=body, params=params, headers=headers)
    assert response.status == 200, response.body
    return response.json()


def posts(did: str) -> list[Any]:
    """Return the account's records, newest first."""
    records: list[Any] = call("com.atproto.repo.listRecords", params={"repo": did, "collection": POSTS})["records"]
    return records


def test_a_post_with_links_and_mentions_is_published_once_with_correct_facets(
    bluesky: Bluesky, credentials: dict[str, str], grant: Grant
) -> None:
    handle = credentials["identifier"]
    text = f"👩‍👩‍👧 @{handle} and @nobody.test: voilà https://ex.com/é, bsky.app #日本語! $AAPL"
    progress = start(bluesky, grant, text, langs=["en", "pt-BR"])

    published = {put(bluesky, grant, progress) for _ in range(3)}

    (record,) = posts(grant.external_id)
    assert {one.external_id for one in published} == {record["uri"]}
    assert record["value"] == progress.state["record"]
    encoded = record["value"]["text"].encode()
    assert [
        (encoded[facet["index"]["byteStart"] : facet["index"]["byteEnd"]].decode(), facet["features"][0])
        for facet in record["value"]["facets"]
    ] == [
        (f"@{handle}", {"$type": "app.bsky.richtext.facet#mention", "did": grant.external_id}),
        ("https://ex.com/é", {"$type": "app.bsky.richtext.facet#link", "uri": "https://ex.com/é"}),
        ("bsky.app", {"$type": "app.bsky.richtext.facet#link", "uri": "https://bsky.app"}),
        ("#日本語", {"$type": "app.bsky.richtext.facet#tag", "tag": "日本語"}),
        ("$AAPL", {"$type": "app.bsky.richtext.facet#tag", "tag": "$AAPL"}),
    ]


def test_another_record_with_the_same_key_is_refused(bluesky: Bluesky, grant: Grant) -> None:
    first, second = start(bluesky, grant, "First"), start(bluesky, grant, "Second")
    put(bluesky, grant, first)

    with pytest.raises(ContentRejected):
        put(bluesky, grant, Progress("put", {**second.state, "rkey": first.state["rkey"]}))

    assert [record["value"]["text"] for record in posts(grant.external_id)] == ["First"]


def test_300_graphemes_are_accepted_and_301_are_rejected(bluesky: Bluesky, grant: Grant) -> None:
    put(bluesky, grant, start(bluesky, grant, "é" * 300))

    with pytest.raises(ContentRejected):
        put(bluesky, grant, start(bluesky, grant, "é" * 301))

    assert len(posts(grant.external_id)) == 1


def test_images_are_published_with_their_alt_texts(bluesky: Bluesky, grant: Grant) -> None:
    files = [picture(64, 48), picture(30, 40, form="JPEG"), picture(form="GIF"), picture(form="WEBP")]
    types = ["image/png", "image/jpeg", "image/gif", "image/webp"]
    media = tuple(
        media_file(content, mime_type, width=64, height=48, alt_text=f"Picture {number} – «grün»")
        for number, (content, mime_type) in enumerate(zip(files, types, strict=True))
    )

    frozen = prepare(bluesky, grant, Content("tgt_1", "", media=media))
    published = {put(bluesky, grant, frozen) for _ in range(2)}

    (record,) = posts(grant.external_id)
    assert {one.external_id for one in published} == {record["uri"]}
    images = record["value"]["embed"]["images"]
    assert [image["alt"] for image in images] == [file.alt_text for file in media]
    assert [image["aspectRatio"] for image in images] == [{"width": 64, "height": 48}] * 4
    assert [image["image"]["mimeType"] for image in images] == types
    for image, content in zip(images, files, strict=True):
        params = {"did": grant.external_id, "cid": image["image"]["ref"]["$link"]}
        assert request("GET", f"{PDS}/xrpc/com.atproto.sync.getBlob", params=params).body == content


def test_a_file_above_the_servers_limit_is_rejected(bluesky: Bluesky, grant: Grant) -> None:
    with pytest.raises(ContentRejected):
        prepare(bluesky, grant, Content("tgt_1", "Look", media=(media_file(bytes(6_000_000)),)))


def test_the_session_is_identified_renewed_and_ended(bluesky: Bluesky, credentials: dict[str, str], grant: Grant) -> None:
    stale = replace(grant, tokens={**grant.tokens, "access": "stale"})
    with pytest.raises(TokenExpired):
        put(bluesky, stale, start(bluesky, stale, "Hello"))

    renewed = bluesky.refresh_grant(stale)
    assert bluesky.check_and_identify(renewed).handle == credentials["identifier"]

    bluesky.revoke_grant(renewed)
    assert bluesky.check_and_identify(bluesky.refresh_grant(renewed)).external_id == grant.external_id  # by the app password


def test_a_wrong_app_password_is_rejected(bluesky: Bluesky, credentials: dict[str, str]) -> None:
    with pytest.raises(CredentialsRejected):
        bluesky.connect_with_credentials({**credentials, "app_password": "aaaa-bbbb-cccc-dddd"})


def test_the_accounts_own_password_is_refused(bluesky: Bluesky) -> None:
    name = f"u{secrets.token_hex(6)}"
    account = {"email": f"{name}@example.com", "handle": f"{name}.test", "password": secrets.token_hex(12)}
    call("com.atproto.server.createAccount", body=account)

    with pytest.raises(CredentialsRejected, match="own password"):
        bluesky.connect_with_credentials(
            {"identifier": account["handle"], "app_password": account["password"], "service": PDS}
        )


def test_a_link_card_with_an_image_is_accepted(bluesky: Bluesky, grant: Grant) -> None:
    with WebPages() as web:
        web.put("/picture.png", Answer(200, picture(), {"Content-Type": "image/png"}))
        link = web.put("/page", html(open_graph("A bench", "How it was made", "/picture.png")))
        content = Content("tgt_1", f"Look: {link}")

        put(bluesky, grant, prepare(bluesky, grant, content))

    (record,) = posts(grant.external_id)
    card = record["value"]["embed"]["external"]
    assert (card["uri"], card["title"], card["description"]) == (link, "A bench", "How it was made")
    assert card["thumb"]["mimeType"] == "image/jpeg"


def test_the_server_issues_tokens_for_the_video_service_to_an_app_password(bluesky: Bluesky, grant: Grant) -> None:
    expires = str(int(time.time()) + 1800)
    for audience, method in (
        ("did:web:video.bsky.app", "app.bsky.video.getUploadLimits"),
        ("did:web:localhost", "com.atproto.repo.uploadBlob"),
    ):
        params = {"aud": audience, "lxm": method, "exp": expires}
        assert call("com.atproto.server.getServiceAuth", params=params, token=grant.tokens["access"])["token"]
