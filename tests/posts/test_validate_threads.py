"""Each segment of a thread is validated by the platform's counting, with repair hints."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.platforms.registry import PLATFORMS, get_adapter
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.factories import AccountFactory, MediaAssetFactory
from tests.fakes.mastodon import FakeMastodon
from tests.posts.media_rows import media_of
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import body_for, read
from workspaces.models import Workspace

THREADED = [name for name in PLATFORMS if get_adapter(name).capabilities.thread]
every_threaded = pytest.mark.parametrize("name", THREADED)


def thread_at(workspace: Workspace, name: str, *further: Any, **fields: Any) -> dict[str, Any]:
    """The request body of a post with these further segments to a sandbox account on the platform."""
    body = body_for(AccountFactory(workspace=workspace, platform=name), **fields)
    body["targets"][0]["options"] = {"thread": [{"text": text} for text in further]}
    return body


def issues_of(api: ApiClient, body: dict[str, Any]) -> list[dict[str, Any]]:
    answer = api.post("/posts/validate", body)
    assert answer.status_code == 200, answer.content
    [target] = answer.json()["targets"]
    return list(target["issues"])


def test_capabilities_describe_threads_where_supported() -> None:
    assert {"bluesky", "mastodon", "x"} <= set(THREADED)
    for name in PLATFORMS:
        capabilities = get_adapter(name).capabilities
        option = capabilities.options["properties"].get("thread")
        if capabilities.thread is None:
            assert (option, "threads" in capabilities.features) == (None, False)
        else:
            assert "threads" in capabilities.features
            assert option["maxItems"] == capabilities.thread.max_segments - 1


@every_threaded
def test_the_repair_of_an_overlong_segment_fits(api: ApiClient, workspace: Workspace, name: str) -> None:
    body = thread_at(workspace, name, "Two", "Grüße aus der Werkstatt, " * 50)
    [issue] = issues_of(api, body)
    hint = issue["repair_hint"]
    assert (issue["code"], issue["severity"], issue["auto_fixable"]) == ("TEXT_TOO_LONG", "error", True)
    assert issue["message"].startswith("Segment 3 counts ")
    assert (issue["field"], hint["field"]) == ("targets[0].options.thread[1].text",) * 2
    refused = assert_envelope(api.post("/posts", body), 422, "CONTENT_INVALID")
    assert [each["field"] for each in refused["details"]] == [issue["field"]]

    body["targets"][0]["options"]["thread"][1]["text"] = hint["value"]

    assert issues_of(api, body) == []
    assert api.post("/posts", body).status_code == 201
    assert len(hint["value"]) > 200


@every_threaded
def test_an_empty_segment_is_refused(api: ApiClient, workspace: Workspace, name: str) -> None:
    issues = issues_of(api, thread_at(workspace, name, " \n", ""))

    assert [(issue["code"], issue["field"]) for issue in issues] == [
        ("TEXT_REQUIRED", "targets[0].options.thread[0].text"),
        ("TEXT_REQUIRED", "targets[0].options.thread[1].text"),
    ]


@pytest.mark.parametrize("thread", ["Two", {}, ["Two"], [{"text": 2}], [{}], [{"text": "Two", "media": []}], []])
@every_threaded
def test_malformed_segments_are_refused_by_the_schema(api: ApiClient, workspace: Workspace, name: str, thread: Any) -> None:
    body = thread_at(workspace, name)
    body["targets"][0]["options"] = {"thread": thread}

    issues = issues_of(api, body)

    assert {issue["code"] for issue in issues} == {"OPTIONS_INVALID"}


def test_a_thread_has_a_maximum_length(api: ApiClient, workspace: Workspace) -> None:
    rules = get_adapter("x").capabilities.thread
    assert rules is not None
    further = [f"Segment {number}" for number in range(2, rules.max_segments + 1)]

    assert issues_of(api, thread_at(workspace, "x", *further)) == []
    [issue] = issues_of(api, thread_at(workspace, "x", *further, "One more"))
    assert (issue["code"], issue["field"]) == ("OPTIONS_INVALID", "targets[0].options.thread")


@pytest.mark.parametrize(
    ("name", "further", "codes"),
    [
        ("x", ["Hello"], ["SEGMENT_REPEATED"]),
        ("x", ["Two", "Two"], ["SEGMENT_REPEATED"]),
        ("x", ["$ABC and $DEF"], ["TEXT_TOO_LONG"]),
        ("x", ["日" * 141], ["TEXT_TOO_LONG"]),
        ("bluesky", ["Hello", "Hello"], []),
        ("mastodon", ["https://example.com/" + "a" * 600], []),
    ],
)
def test_segments_are_counted_by_the_platforms_rules(
    api: ApiClient, workspace: Workspace, name: str, further: list[str], codes: list[str]
) -> None:
    assert [issue["code"] for issue in issues_of(api, thread_at(workspace, name, *further))] == codes


def test_threads_with_the_same_first_text_are_not_duplicates(api: ApiClient, workspace: Workspace, clock: Any) -> None:
    body = thread_at(workspace, "bluesky", "Two")
    account_id = body["targets"][0]["connected_account_id"]
    assert api.post("/posts", body).status_code == 201
    other = {"thread": [{"text": "Another"}]}

    assert [issue["code"] for issue in issues_of(api, body)] == ["DUPLICATE_CONTENT"]
    target = {"platform": "bluesky", "connected_account_id": account_id, "options": other}
    assert issues_of(api, {"text": "Hello", "targets": [target]}) == []


def test_a_content_warning_counts_toward_each_segments_limit(api: ApiClient, workspace: Workspace) -> None:
    body = thread_at(workspace, "mastodon", "b" * 499, "c" * 490, text="a" * 491)
    body["targets"][0]["options"]["spoiler_text"] = "Beware now"

    answer = api.post("/posts/validate", body).json()

    [target] = answer["targets"]
    assert (target["text_length"], target["text_limit"]) == (491, 490)
    reported = [(issue["field"], issue["message"]) for issue in target["issues"]]
    assert reported == [
        ("targets[0].text", "The text counts 491 graphemes; mastodon takes 490 beside its options."),
        ("targets[0].options.thread[0].text", "Segment 2 counts 499 graphemes; mastodon takes 490 beside its options."),
    ]


@pytest.mark.parametrize(("most", "fits"), [(300, False), (1000, True)])
def test_the_text_limit_of_an_accounts_own_server_applies(
    api: ApiClient, workspace: Workspace, most: int, fits: bool
) -> None:
    with FakeMastodon() as server:
        server.set_max_characters(most)
        credentials = {"instance": server.url, "access_token": server.add_account("alice")}
        body = {"workspace_id": workspace.id, "platform": "mastodon", "credentials": credentials}
        account = api.post("/accounts/connect", body).json()["account"]
        target = {"platform": "mastodon", "connected_account_id": account["id"]}
        long = {"text": "a" * 700, "targets": [{**target, "options": {"thread": [{"text": "b" * 700}]}}]}

        assert api.get(f"/accounts/{account['id']}/capabilities").json()["capabilities"]["text"]["max_length"] == most
        issues = issues_of(api, long)
        assert [issue["field"] for issue in issues] == (
            [] if fits else ["targets[0].text", "targets[0].options.thread[0].text"]
        )

        server.set_max_characters(800)
        api.get(f"/accounts/{account['id']}/status")
        assert issues_of(api, long) == []
        server.answer_instance_at()  # none of them: what was last read stands
        api.get(f"/accounts/{account['id']}/status")
        assert issues_of(api, long) == []


def test_the_media_limit_of_an_accounts_own_server_applies(api: ApiClient, workspace: Workspace) -> None:
    account = AccountFactory(workspace=workspace, platform="mastodon", limits={"media": 1})
    pictures = MediaAssetFactory.create_batch(2, workspace=workspace)

    issues = issues_of(api, body_for(account, media=media_of(*pictures)))

    assert "MEDIA_TOO_MANY" in [issue["code"] for issue in issues]


def test_a_thread_is_published_in_the_sandbox_for_free(api: ApiClient, workspace: Workspace) -> None:
    answer = api.post("/posts", thread_at(workspace, "x", "Two", "More at example.com"))

    group = answer.json()["post_group"]
    run_until_idle()
    assert (read(api, group)["status"], group["cost_cents"]) == ("published", 0)
