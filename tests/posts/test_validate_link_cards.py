"""The option `link_card`: accepted values, issues, and the card that a post will get."""

from __future__ import annotations

from typing import Any

import pytest

from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.factories import AccountFactory, MediaAssetFactory
from tests.posts.media_rows import media_of
from tests.posts.rows import body_for
from workspaces.models import Workspace

OWN = {"url": "https://example.com/a", "title": "A bench"}


def body_with_card(workspace: Workspace, card: Any = None, platform: str = "bluesky", **fields: Any) -> dict[str, Any]:
    """The request body of a post to a sandbox account on the platform, with this card."""
    body = body_for(AccountFactory(workspace=workspace, platform=platform), **fields)
    body["targets"][0]["options"] = {} if card is None else {"link_card": card}
    return body


def check(api: ApiClient, body: dict[str, Any]) -> dict[str, Any]:
    answer = api.post("/posts/validate", body)
    assert answer.status_code == 200, answer.content
    [target] = answer.json()["targets"]
    return dict(target)


@pytest.mark.parametrize("card", ["auto", "none", OWN, {**OWN, "description": "How it was made"}])
def test_valid_link_cards_are_accepted(api: ApiClient, workspace: Workspace, card: Any) -> None:
    assert check(api, body_with_card(workspace, card))["issues"] == []


@pytest.mark.parametrize(
    ("card", "where", "words"),
    [
        ("always", "", "'always' is not one of ['auto', 'none']"),
        (7, "", "is not valid"),
        ({"url": "https://example.com/"}, "", "'title' is a required property"),
        ({**OWN, "picture": "x"}, "", "'picture' was unexpected"),
        ({**OWN, "url": "ftp://example.com/"}, ".url", "does not match"),
        ({**OWN, "url": "https://example.com/" + "a" * 2048}, ".url", "is too long"),
        ({**OWN, "title": " "}, ".title", "does not match"),
        ({**OWN, "title": "a" * 301}, ".title", "is too long"),
        ({**OWN, "description": "a" * 1001}, ".description", "is too long"),
        ({**OWN, "description": None}, ".description", "is not of type 'string'"),
    ],
)
def test_invalid_link_cards_are_refused_with_their_field(
    api: ApiClient, workspace: Workspace, card: Any, where: str, words: str
) -> None:
    body = body_with_card(workspace, card)

    [issue] = check(api, body)["issues"]

    assert (issue["code"], issue["field"]) == ("OPTIONS_INVALID", f"targets[0].options.link_card{where}")
    assert words in issue["message"] or len(issue["message"]) == 500
    assert_envelope(api.post("/posts", body), 422, "CONTENT_INVALID")


def test_a_link_card_with_media_has_an_applicable_repair(api: ApiClient, workspace: Workspace) -> None:
    body = body_with_card(workspace, OWN, media=media_of(MediaAssetFactory(workspace=workspace), alt_text="A bench"))
    [issue] = check(api, body)["issues"]
    hint = issue["repair_hint"]
    assert (issue["code"], issue["severity"], issue["auto_fixable"]) == ("LINK_CARD_WITH_MEDIA", "error", True)
    assert (issue["field"], hint["field"]) == ("targets[0].options.link_card",) * 2
    assert_envelope(api.post("/posts", body), 422, "CONTENT_INVALID")

    body["targets"][0]["options"]["link_card"] = hint["value"]

    assert check(api, body)["issues"] == []


@pytest.mark.parametrize(
    ("text", "card", "link"),
    [
        ("No link", None, None),
        ("See https://example.com/a and https://example.com/b", None, "https://example.com/a"),
        ("See example.com.", "auto", "https://example.com"),
        ("See https://example.com/b", "none", None),
        ("See https://example.com/b", OWN, OWN["url"]),
        ("See https://example.com/b", {"title": "No url"}, None),
    ],
)
def test_the_url_of_the_card_is_returned(
    api: ApiClient, workspace: Workspace, text: str, card: Any, link: str | None
) -> None:
    assert check(api, body_with_card(workspace, card, text=text))["link_card_url"] == link
    preview = api.post("/posts", {**body_with_card(workspace, "auto", text=text), "dry_run": True}).json()
    [target] = preview["validation"]["targets"]
    assert (target["link_card_url"] is None) is ("example" not in text)


def test_posts_with_media_and_other_platforms_have_no_link_card(api: ApiClient, workspace: Workspace) -> None:
    text, media = "See https://example.com/a", media_of(MediaAssetFactory(workspace=workspace))

    assert check(api, body_with_card(workspace, text=text, media=media))["link_card_url"] is None
    for platform in ("mastodon", "linkedin", "x"):
        assert check(api, body_with_card(workspace, text=text, platform=platform))["link_card_url"] is None
