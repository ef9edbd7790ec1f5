"""Failures of a publication that only servers with Mastodon's API have."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine

from accounts.platforms.errors import ContentRejected, PlatformError, RateLimited, ReauthRequired, Transient
from accounts.platforms.mastodon.adapter import Mastodon
from accounts.platforms.types import Grant, Progress, Published
from tests.accounts.platforms.mastodon.scripted_server import ScriptedServer
from tests.accounts.platforms.mastodon.steps import BEGUN, image, post, step
from tests.fakes.http_server import Answer
from tests.fakes.mastodon_methods import CREATE, LOOK_AT_MEDIA


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Answer.of_json({"error": "no"}, 403), ReauthRequired),
        (Answer.of_json({"error": "no"}, 400), ContentRejected),
        (Answer.of_json({"error": "no"}, 404), Transient),
        (Answer.of_json({"error": "no"}, 410), Transient),
        # Takahe answers an invalid token with plain text.
        (Answer(400, b"Invalid bearer token\n"), ReauthRequired),
        (Answer(400, b"Bad Request"), ContentRejected),
        (Answer(400, b"<p>Invalid Bearer token</p>"), ContentRejected),
        (Answer.of_json({"error": "Invalid Bearer token"}, 400), ContentRejected),
    ],
)
def test_the_error_of_each_refusal(
    mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant, answer: Answer, error: type[PlatformError]
) -> None:
    scripted.answers[CREATE] = answer

    with pytest.raises(PlatformError) as caught:
        step(mastodon, scripted_grant, post(), BEGUN)

    assert type(caught.value) is error
    assert scripted.calls == [CREATE]


@pytest.mark.parametrize(
    ("media", "error"), [(Answer(503), Transient), (Answer(200), ContentRejected), (Answer(422), ContentRejected)]
)
def test_a_refusal_without_a_cause_in_the_media_is_about_the_content(
    mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant, media: Answer, error: type[PlatformError]
) -> None:
    begun = Progress("create", {**BEGUN.state, "after": "", "media": ["5"]})
    scripted.answers |= {CREATE: Answer.of_json({"error": "zu lang"}, 422), LOOK_AT_MEDIA: media}

    with pytest.raises(error):
        step(mastodon, scripted_grant, post("Look", image()), begun)


@pytest.mark.parametrize(
    ("status", "permalink"),
    [
        ({"id": "7", "url": None, "uri": "https://social.example/users/a/7"}, "https://social.example/users/a/7"),
        ({"id": "01HXA", "url": "javascript:alert(1)"}, ""),
    ],
)
def test_a_status_without_a_valid_url_is_published(
    mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant, status: dict[str, Any], permalink: str
) -> None:
    scripted.answers[CREATE] = Answer.of_json(status)

    assert step(mastodon, scripted_grant, post(), BEGUN) == Published(status["id"], permalink)


def test_the_rate_limit_ends_at_its_reset_time(mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant) -> None:
    headers = {"X-RateLimit-Reset": "2026-11-20T12:01:30.250000Z"}
    scripted.answers[CREATE] = Answer.of_json({"error": "Too many requests"}, 429, headers)

    with time_machine.travel(datetime(2026, 11, 20, 12, 0, tzinfo=UTC), tick=False), pytest.raises(RateLimited) as caught:
        step(mastodon, scripted_grant, post(), BEGUN)

    assert caught.value.retry_after == 90.25
