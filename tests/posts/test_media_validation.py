"""Validation of media against each platform, and of texts used as captions."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.platforms.registry import get_adapter
from media.models import MediaAsset
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.factories import AccountFactory, MediaAssetFactory
from tests.posts.calls import batch, confirm
from tests.posts.rows import body_for, create
from workspaces.models import Workspace

IMAGE: dict[str, Any] = {}
PNG = {"mime_type": "image/png"}
GIF = {"kind": "gif", "mime_type": "image/gif"}
VIDEO = {"kind": "video", "mime_type": "video/mp4", "size_bytes": 5_000_000, "duration_ms": 20_000, "alt_text": ""}
PDF = {"kind": "document", "mime_type": "application/pdf", "width": None, "height": None}
UNTOLD = {"alt_text": ""}
REQUIRED_OPTIONS = {"tiktok": {"privacy_level": "SELF_ONLY"}}


def body_with(workspace: Workspace, name: str, *assets: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """The request body of a post to a sandbox account on the platform, with new assets of these properties."""
    media = [{"media_id": MediaAssetFactory(workspace=workspace, **asset).id} for asset in assets]
    return body_for(AccountFactory(workspace=workspace, platform=name), media=media, **fields)


def check(api: ApiClient, body: dict[str, Any]) -> dict[str, Any]:
    """The only target of the validation result."""
    answer = api.post("/posts/validate", body)
    assert answer.status_code == 200, answer.content
    assert answer.json()["valid"] == all(target["valid"] for target in answer.json()["targets"])
    return dict(answer.json()["targets"][0])


@pytest.mark.parametrize(
    ("name", "assets"),
    [
        ("bluesky", [IMAGE] * 4),
        ("mastodon", [PNG, IMAGE]),
        ("instagram", [IMAGE, VIDEO, IMAGE]),
        ("discord", [VIDEO, IMAGE, PNG]),
        ("slack", [VIDEO, IMAGE, PNG, GIF, PDF]),
        ("x", [VIDEO]),
        ("youtube", [VIDEO]),
        ("tiktok", [IMAGE] * 20),
    ],
)
def test_media_within_the_platforms_rules_are_valid(
    api: ApiClient, workspace: Workspace, name: str, assets: list[dict[str, Any]]
) -> None:
    body = body_with(workspace, name, *assets)
    body["targets"][0]["options"] = REQUIRED_OPTIONS.get(name, {})

    target = check(api, body)

    assert (target["valid"], target["issues"]) == (True, [])


@pytest.mark.parametrize(
    ("name", "assets", "issues"),
    [
        ("mastodon", [IMAGE] * 5, [("MEDIA_TOO_MANY", "media")]),
        ("mastodon", [IMAGE, VIDEO], [("MEDIA_MIXED", "media")]),
        ("mastodon", [{"width": 8000, "height": 5000}], [("MEDIA_TOO_MANY_PIXELS", "media[0]")]),
        ("instagram", [IMAGE, PNG], [("MEDIA_TYPE_NOT_TAKEN", "media[1]")]),
        ("instagram", [], [("MEDIA_REQUIRED", "media")]),
        ("youtube", [IMAGE], [("MEDIA_KIND_NOT_TAKEN", "media[0]")]),
        ("x", [{**VIDEO, "duration_ms": 141_000}], [("MEDIA_TOO_LONG", "media[0]")]),
        ("x", [VIDEO, VIDEO], [("MEDIA_TOO_MANY", "media")]),
        ("facebook", [IMAGE, PDF], [("MEDIA_KIND_NOT_TAKEN", "media[1]")]),
        ("x", [IMAGE, {"size_bytes": 6_000_000}], [("MEDIA_TOO_LARGE", "media[1]")]),
    ],
)
def test_unsupported_media_are_reported_with_a_repair(
    api: ApiClient, workspace: Workspace, name: str, assets: list[dict[str, Any]], issues: list[tuple[str, str]]
) -> None:
    body = body_with(workspace, name, *assets)

    target = check(api, body)

    assert target["valid"] is False
    assert [(issue["code"], issue["field"]) for issue in target["issues"]] == issues
    for issue in target["issues"]:
        assert issue["repair_hint"]["action"] in ("convert_media", "remove_media", "add_media")
        assert (issue["repair_hint"]["field"], bool(issue["repair_hint"]["explanation"])) == (issue["field"], True)
    assert assert_envelope(api.post("/posts", body), 422, "CONTENT_INVALID")["details"] == target["issues"]


def test_the_options_may_choose_other_media_rules(api: ApiClient, workspace: Workspace) -> None:
    body = body_with(workspace, "instagram", {"width": 1080, "height": 1920})

    [issue] = check(api, body)["issues"]
    assert (issue["code"], issue["field"]) == ("MEDIA_SHAPE", "media[0]")
    assert issue["repair_hint"]["explanation"] == "Crop it to 1,080 × 1,350 pixels, or add borders."
    body["targets"][0]["options"] = {"post_type": "story"}
    assert check(api, body)["issues"] == []


def test_each_target_is_validated_by_its_own_platform(api: ApiClient, workspace: Workspace) -> None:
    body = body_with(workspace, "discord", *[PNG] * 5)
    body["targets"] += body_for(AccountFactory(workspace=workspace, platform="mastodon"))["targets"]

    validation = api.post("/posts/validate", body).json()

    assert [target["valid"] for target in validation["targets"]] == [True, False]
    assert [issue["code"] for issue in validation["targets"][1]["issues"]] == ["MEDIA_TOO_MANY"]


def test_the_refusal_of_a_batch_names_the_post(api: ApiClient, workspace: Workspace) -> None:
    fits, wrong = body_with(workspace, "instagram", IMAGE), body_with(workspace, "instagram", IMAGE, PNG)

    [issue] = assert_envelope(batch(api, fits, wrong), 422, "CONTENT_INVALID")["details"]

    assert (issue["field"], issue["repair_hint"]["field"]) == ("posts[1].media[1]", "posts[1].media[1]")


def test_a_draft_may_have_invalid_media_until_it_is_released(api: ApiClient, workspace: Workspace) -> None:
    body = body_with(workspace, "youtube", IMAGE, draft=True)
    group = api.post("/posts", body).json()["post_group"]

    [issue] = assert_envelope(confirm(api, group), 422, "CONTENT_INVALID")["details"]

    assert (issue["code"], issue["field"]) == ("MEDIA_KIND_NOT_TAKEN", "media[0]")


@pytest.mark.parametrize("own", [True, False], ids=["the asset's", "the post's"])
def test_the_repair_of_an_overlong_alt_text_fits(api: ApiClient, workspace: Workspace, own: bool) -> None:
    body = body_with(workspace, "mastodon", {"alt_text": "A bench in the sun. " * 100} if own else IMAGE)
    if not own:
        body["media"][0]["alt_text"] = "A bench in the sun. " * 100
    [issue] = check(api, body)["issues"]
    assert (issue["code"], issue["field"], issue["auto_fixable"]) == ("ALT_TEXT_TOO_LONG", "media[0].alt_text", True)
    assert (issue["repair_hint"]["action"], issue["repair_hint"]["field"]) == ("replace_text", "media[0].alt_text")

    body["media"][0]["alt_text"] = issue["repair_hint"]["value"]

    assert check(api, body)["issues"] == []
    assert 1400 < len(issue["repair_hint"]["value"]) <= 1500


def test_a_missing_alt_text_is_only_a_warning(api: ApiClient, workspace: Workspace) -> None:
    body = body_with(workspace, "mastodon", IMAGE, UNTOLD)

    target = check(api, body)

    assert [(issue["code"], issue["severity"], issue["field"]) for issue in target["issues"]] == [
        ("ALT_TEXT_MISSING", "warning", "media[1].alt_text")
    ]
    assert (target["valid"], api.post("/posts", body).status_code) == (True, 201)


def test_a_caption_has_its_own_limit_and_the_repair_fits(api: ApiClient, workspace: Workspace) -> None:
    rules = get_adapter("telegram").capabilities.text
    body = body_with(workspace, "telegram", IMAGE, text="Grüße aus der Werkstatt 😀 " * 60)
    assert rules.max_length_with_media == 1024
    assert check(api, {**body, "media": []})["text_limit"] == rules.max_length == 4096

    target = check(api, body)
    [issue] = target["issues"]

    assert (target["text_limit"], target["text_length"], target["valid"]) == (1024, rules.count(body["text"]), False)
    assert (issue["code"], issue["field"]) == ("TEXT_TOO_LONG", "targets[0].text")
    assert issue["message"].endswith("takes 1024 beside media.")
    body["targets"][0]["text"] = issue["repair_hint"]["value"]
    repaired = check(api, body)
    assert (repaired["valid"], repaired["text_length"] <= 1024) == (True, True)
    assert len(issue["repair_hint"]["value"]) > 900


def test_a_text_with_images_may_have_another_limit(api: ApiClient, workspace: Workspace) -> None:
    body = body_with(workspace, "tiktok", IMAGE, text="a" * 4001)
    body["targets"][0]["options"] = {"privacy_level": "SELF_ONLY"}

    target = check(api, body)
    [issue] = [each for each in target["issues"] if each["code"] == "TEXT_TOO_LONG"]

    assert (target["text_limit"], target["text_length"]) == (4000, 4001)
    assert issue["message"] == "The text counts 4001 utf16; tiktok takes 4000 beside images."
    body["targets"][0]["text"] = "a" * 4000
    assert check(api, body)["valid"]
    body = body_with(workspace, "tiktok", VIDEO, text="a" * 2201)
    assert check(api, body)["text_limit"] == 2200


def test_content_that_a_platform_advises_against_is_only_a_warning(api: ApiClient, workspace: Workspace) -> None:
    body = body_with(workspace, "instagram", IMAGE, text="#one #two #three #four #five #six")

    target = check(api, body)

    [issue] = target["issues"]
    assert (issue["code"], issue["severity"], issue["field"]) == ("TEXT_ABOVE_ADVISED", "warning", "targets[0].text")
    assert issue["message"] == "The text counts 6 hashtags; instagram recommends 5 at most."
    assert (target["valid"], api.post("/posts", body).status_code) == (True, 201)


def test_an_edit_is_validated_with_the_unchanged_fields(api: ApiClient, workspace: Workspace, clock: Any) -> None:
    body = body_with(workspace, "mastodon", IMAGE, scheduled_at="2027-03-11T12:00:00Z")
    group = api.post("/posts", body).json()["post_group"]
    video: MediaAsset = MediaAssetFactory(workspace=workspace, **VIDEO)
    youtube = AccountFactory(workspace=workspace, platform="youtube")

    for changes, code in (
        ({"media": [*body["media"], {"media_id": video.id}]}, "MEDIA_MIXED"),
        ({"targets": body_for(youtube)["targets"]}, "MEDIA_KIND_NOT_TAKEN"),
        ({"text": "", "media": []}, "TEXT_REQUIRED"),
    ):
        answer = api.request("PATCH", f"/posts/{group['id']}", changes)
        assert [issue["code"] for issue in assert_envelope(answer, 422, "CONTENT_INVALID")["details"]] == [code]
    assert create(api, youtube, media=[{"media_id": video.id}])["media"] == [{"media_id": video.id}]
