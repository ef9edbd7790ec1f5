from __future__ import annotations

from typing import Any

import pytest

from accounts.platforms.discord.adapter import Discord
from accounts.platforms.errors import ContentRejected, PlatformError, RateLimited, ReauthRequired, Transient
from accounts.platforms.types import Grant
from tests.accounts.platforms.discord.steps import send
from tests.fakes.discord import EXECUTE, FakeDiscord, FakeWebhook
from tests.fakes.http_server import Answer


def error_answer(status: int, code: int, message: str = "no") -> Answer:
    return Answer.of_json({"message": message, "code": code}, status)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (error_answer(404, 10015, "Unknown Webhook"), ReauthRequired),
        (error_answer(404, 10003, "Unknown Channel"), ReauthRequired),
        (error_answer(400, 10003, "Unknown Channel"), ReauthRequired),
        (error_answer(401, 50027, "Invalid Webhook Token"), ReauthRequired),
        (error_answer(403, 50001, "Missing Access"), ReauthRequired),
        (error_answer(403, 50013, "Missing Permissions"), ReauthRequired),
        (error_answer(403, 0), ReauthRequired),
        (error_answer(404, 0, "404: Not Found"), ReauthRequired),
        (error_answer(400, 50006, "Cannot send an empty message"), ContentRejected),
        (error_answer(400, 50035, "Invalid Form Body"), ContentRejected),
        (error_answer(413, 40005, "Request entity too large"), ContentRejected),
        (error_answer(400, 200000, "Message was blocked by automatic moderation"), ContentRejected),
        (error_answer(403, 240000, "Message blocked by harmful links filter"), ContentRejected),
        (error_answer(403, 160005, "Thread is locked"), ContentRejected),
        (error_answer(400, 20028), RateLimited),
        (error_answer(429, 40062), RateLimited),
        (Answer(429, b"<html>error code: 1015</html>"), RateLimited),
        (error_answer(403, 40333, "internal network error"), Transient),
        (error_answer(400, 40006, "This feature has been temporarily disabled"), Transient),
        (Answer(400, b"<html>"), ContentRejected),
    ],
)
def test_each_refusal_raises_the_matching_error(
    discord: Discord, server: FakeDiscord, grant: Grant, answer: Answer, error: type[PlatformError]
) -> None:
    server.refuse_next(EXECUTE, answer)

    with pytest.raises(PlatformError) as caught:
        send(discord, grant, "Hello")

    assert type(caught.value) is error


@pytest.mark.parametrize(
    ("body", "headers", "seconds"),
    [
        ({"retry_after": 1336.57}, {"Retry-After": "1337", "X-RateLimit-Reset-After": "64.57"}, 1336.57),
        ({}, {"Retry-After": "65", "X-RateLimit-Reset-After": "64.57"}, 65.0),
        ({"retry_after": None}, {"X-RateLimit-Reset-After": "0.3"}, 0.3),
    ],
)
def test_the_waiting_time_is_read_from_the_body_first(
    discord: Discord, server: FakeDiscord, grant: Grant, body: dict[str, Any], headers: dict[str, str], seconds: float
) -> None:
    server.refuse_next(EXECUTE, Answer.of_json({"message": "You are being rate limited.", **body}, 429, headers))

    with pytest.raises(RateLimited) as caught:
        send(discord, grant, "Hello")

    assert caught.value.retry_after == seconds


@pytest.mark.parametrize(
    ("errors", "reason"),
    [
        ({"content": {"_errors": [{"code": "X", "message": "Too long."}]}}, "content: Too long."),
        (
            {"attachments": {"0": {"filename": {"_errors": [{"message": "Bad."}, {"message": "Worse."}]}}}, "b": {}},
            "attachments.0.filename: Bad.",
        ),
        ({"_errors": [{"code": "X", "message": "Too large."}]}, "Too large."),
        ({"content": {"_errors": []}}, "Invalid Form Body"),
        ({"content": {"_errors": "all"}}, "Invalid Form Body"),
        ({}, "Invalid Form Body"),
        ([], "Invalid Form Body"),
        ({"a": 5}, "Invalid Form Body"),
    ],
)
def test_the_reason_is_the_first_error_with_its_field(
    discord: Discord, server: FakeDiscord, grant: Grant, errors: Any, reason: str
) -> None:
    body = {"code": 50035, "message": "Invalid Form Body", "errors": errors}
    server.refuse_next(EXECUTE, Answer.of_json(body, 400))

    with pytest.raises(ContentRejected) as caught:
        send(discord, grant, "Hello")

    assert caught.value.message == f"Discord does not accept this message: {reason}"


def test_no_error_shows_the_token(discord: Discord, server: FakeDiscord, webhook: FakeWebhook, grant: Grant) -> None:
    echo = {"message": f"no route for /webhooks/{webhook.id}/{webhook.token}"}
    server.refuse_next(EXECUTE, Answer.of_json(echo, 400))

    with pytest.raises(ContentRejected) as caught:
        send(discord, grant, "Hello")

    assert webhook.token not in f"{caught.value!r} {caught.value.__cause__!r}"
