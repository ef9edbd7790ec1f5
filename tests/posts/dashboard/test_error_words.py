"""Errors are shown in sentences for people, made from their codes."""

from __future__ import annotations

import pytest

from accounts.models import ConnectedAccount
from config.api.caller import WorkspaceStatus
from config.api.errors import ApiError, InvalidState, ScopeMissing, ValidationFailed
from config.pages.sentences import error_sentences
from posts.dashboard.target_error_sentences import target_error_advice, target_error_sentence
from posts.models import PostGroup
from tests.conftest import ApiClient
from tests.posts.dashboard.dashboard import Dashboard, words
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, create
from workspaces.models import Workspace

PASSED = "This time has passed. Choose a later one."


def test_a_time_in_the_past_is_explained_where_it_was_entered(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount
) -> None:
    group = create(api, account, scheduled_at=TOMORROW)
    pages = [
        dashboard.compose("schedule", account, when="2027-03-09T09:00", shown_when="2027-03-09T09:00"),
        dashboard.post("post-reschedule", group, when="2027-03-09T09:00"),
    ]

    for page in pages:
        assert (page.status_code, words(page).count(PASSED)) == (422, 1)
        assert "scheduled_at" not in words(page)


def test_an_action_that_comes_too_late_is_explained(dashboard: Dashboard, api: ApiClient, account: ConnectedAccount) -> None:
    group = create(api, account)
    run_until_idle()

    page = dashboard.http.post(dashboard.address("post-cancel", group), follow=True)

    assert "The post can no longer be cancelled: it is being published, or it is finished." in words(page)
    assert "Only drafts, scheduled groups" not in words(page)


def test_a_paused_workspace_is_explained(dashboard: Dashboard, account: ConnectedAccount) -> None:
    Workspace.objects.update(status=WorkspaceStatus.PAUSED)

    assert "This workspace is paused, so nothing can be changed." in words(dashboard.compose("publish", account))
    assert not PostGroup.objects.exists()


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ScopeMissing(), ["Your role in this workspace does not allow this. Ask an owner or admin."]),
        (
            ValidationFailed(
                details=[
                    {"field": "targets[0].text", "code": "max_length", "message": "Ensure this field has no more than 9."},
                    {"field": "targets[1].text", "code": "max_length", "message": "Ensure this field has no more than 9."},
                    {"field": "default_timezone", "code": "invalid_choice", "message": "This is not a time zone."},
                ]
            ),
            ["The text is too long. It may have at most 100,000 characters.", "Default timezone: This is not a time zone."],
        ),
        (InvalidState("It is broken.", suggested_action="Send `file` with POST /media."), ["It is broken."]),
        (InvalidState("It has ended.", suggested_action="Begin again."), ["It has ended.", "Begin again."]),
    ],
)
def test_sentences_follow_the_code_and_leave_out_what_is_for_programs(error: ApiError, expected: list[str]) -> None:
    assert error_sentences(error) == expected


def test_the_error_of_a_target_follows_its_code() -> None:
    lost = {"code": "ACCOUNT_NEEDS_REAUTH", "message": "The account is needs_reauth.", "suggested_action": "Read the setup."}
    assert target_error_sentence(lost, "Mastodon") == "Mastodon does not let us in any more."
    assert target_error_advice(lost, "failed") == "Read the setup."  # what the adapter says about this case
    refused = {
        "code": "PLATFORM_REJECTED",
        "message": "The picture is too dark.",
        "suggested_action": "Change the content, then make a new post.",
    }
    assert target_error_sentence(refused, "X") == "The picture is too dark."
    assert target_error_advice(refused, "failed") == "Change the post, then send it again."
    assert target_error_advice(refused, "retrying") == "Nothing: the service tries again by itself."


@pytest.mark.parametrize(
    ("code", "message", "advice", "sentence", "shown_advice"),
    [
        (
            "PLATFORM_REJECTED",
            "Only a reel, which is one video, has `share_to_feed` and `thumb_offset`.",
            "Leave them out.",
            "Instagram did not accept the post.",
            "Leave them out.",
        ),
        (
            "PLATFORM_REJECTED",
            "A reel is one video.",
            "Attach one video, or leave `post_type` out.",
            "A reel is one video.",
            "Change the post, then send it again.",
        ),
        (
            "PLATFORM_REJECTED",
            "The creator cannot post SELF_ONLY now, but nothing.",
            "Make a new post with a privacy_level that the creator may choose.",
            "Instagram did not accept the post.",
            "Change the post, then send it again.",
        ),
        (
            "PLATFORM_UNAVAILABLE",
            "The operator of this service has not set LINKEDIN_CLIENT_ID.",
            "Ask the operator of the service to set TIKTOK_VERIFIED_PREFIX.",
            "Sending to Instagram failed.",
            "Send it again later.",
        ),
        ("UNHEARD_OF", "It is broken.", "Send `file` again.", "It is broken.", ""),
    ],
)
def test_words_of_the_api_in_the_error_of_a_target_are_not_shown(
    code: str, message: str, advice: str, sentence: str, shown_advice: str
) -> None:
    error = {"code": code, "message": message, "suggested_action": advice}

    assert target_error_sentence(error, "Instagram") == sentence
    assert target_error_advice(error, "failed") == shown_advice
