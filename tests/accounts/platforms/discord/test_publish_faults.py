from __future__ import annotations

import json
import socket
from typing import Any

import pytest
from pytest_django import Settings

from accounts.platforms.discord.adapter import Discord
from accounts.platforms.errors import (
    AccountDisconnected,
    ContentRejected,
    OutcomeUnknown,
    PlatformError,
    RateLimited,
    Transient,
)
from accounts.platforms.types import Grant
from tests.accounts.platforms.discord.steps import send
from tests.accounts.platforms.media_files import media_file, picture
from tests.fakes.discord import EXECUTE, FakeDiscord, FakeWebhook
from tests.fakes.http_server import Answer


def error_answer(status: int, code: int, message: str = "no") -> Answer:
    return Answer.of_json({"message": message, "code": code}, status)


@pytest.mark.parametrize("taken", [True, False])
def test_an_answer_that_never_comes_leaves_the_outcome_open_for_good(
    discord: Discord, server: FakeDiscord, webhook: FakeWebhook, grant: Grant, taken: bool
) -> None:
    server.drop_next(EXECUTE, after_accept=taken)

    with pytest.raises(OutcomeUnknown) as caught:
        send(discord, grant, "Hello")

    assert caught.value.final
    assert (len(server.messages(webhook)), server.requests_to(EXECUTE)) == (int(taken), 1)


@pytest.mark.parametrize("status", [500, 502, 503, 504])
@pytest.mark.parametrize("taken", [True, False])
def test_a_server_error_leaves_it_open_as_well(
    discord: Discord, server: FakeDiscord, webhook: FakeWebhook, grant: Grant, status: int, taken: bool
) -> None:
    server.fail_next(EXECUTE, status=status, after_accept=taken)

    with pytest.raises(OutcomeUnknown):
        send(discord, grant, "Hello", media_file(picture()))

    assert (len(server.messages(webhook)), server.requests_to(EXECUTE)) == (int(taken), 1)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(204),
        Answer(200, b"<html>Welcome</html>"),
        Answer(200, b"[]"),
        Answer.of_json({"channel_id": "1"}),
        Answer.of_json({"id": 5, "channel_id": "1"}),
        Answer.of_json({"id": "../5", "channel_id": "1"}),
        Answer.of_json({"id": "5", "channel_id": "1", "padding": "x" * 300_000}),
    ],
)
def test_success_that_names_no_message_is_an_open_outcome(
    discord: Discord, server: FakeDiscord, grant: Grant, answer: Answer
) -> None:
    server.refuse_next(EXECUTE, answer)

    with pytest.raises(OutcomeUnknown):
        send(discord, grant, "Hello")


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (error_answer(404, 10015, "Unknown Webhook"), AccountDisconnected),
        (error_answer(404, 10003, "Unknown Channel"), AccountDisconnected),
        (error_answer(400, 10003, "Unknown Channel"), AccountDisconnected),
        (error_answer(401, 50027, "Invalid Webhook Token"), AccountDisconnected),
        (error_answer(403, 50001, "Missing Access"), AccountDisconnected),
        (error_answer(403, 50013, "Missing Permissions"), AccountDisconnected),
        (error_answer(403, 0), AccountDisconnected),
        (error_answer(404, 0, "404: Not Found"), AccountDisconnected),
        (Answer(401), AccountDisconnected),
        (error_answer(400, 50006, "Cannot send an empty message"), ContentRejected),
        (error_answer(400, 50035, "Invalid Form Body"), ContentRejected),
        (error_answer(413, 40005, "Request entity too large"), ContentRejected),
        (Answer(413, b"<html>"), ContentRejected),
        (error_answer(400, 200000, "Message was blocked by automatic moderation"), ContentRejected),
        (error_answer(403, 240000, "Message blocked by harmful links filter"), ContentRejected),
        (error_answer(403, 160005, "Thread is locked"), ContentRejected),
        (error_answer(400, 20028), RateLimited),
        (error_answer(429, 40062), RateLimited),
        (Answer(429, b"<html>error code: 1015</html>"), RateLimited),
        (error_answer(403, 40333, "internal network error"), Transient),
        (error_answer(400, 40006, "This feature has been temporarily disabled"), Transient),
        (Answer(403, b"<html>Blocked</html>"), Transient),
        (Answer(404, b"<html>"), Transient),
        (Answer(405), Transient),
        (Answer(307, b"", {"Location": "https://example.com/"}), Transient),
    ],
)
def test_a_refusal_is_told_by_what_helps_and_nothing_is_sent_again(
    discord: Discord,
    server: FakeDiscord,
    webhook: FakeWebhook,
    grant: Grant,
    answer: Answer,
    fault: type[PlatformError],
) -> None:
    server.refuse_next(EXECUTE, answer)

    with pytest.raises(PlatformError) as caught:
        send(discord, grant, "Hello")

    assert type(caught.value) is fault
    assert (server.messages(webhook), server.requests_to(EXECUTE)) == ([], 1)


@pytest.mark.parametrize(
    ("body", "headers", "seconds"),
    [
        ({"retry_after": 1336.57}, {"Retry-After": "1337", "X-RateLimit-Reset-After": "64.57"}, 1336.57),
        ({}, {"Retry-After": "65", "X-RateLimit-Reset-After": "64.57"}, 65.0),
        ({}, {"X-RateLimit-Reset-After": "0.3"}, 0.3),
        ({"retry_after": 10**400}, {"Retry-After": "99999999"}, 86_400.0),
        ({"retry_after": -1}, {}, 0.0),
        ({"retry_after": None}, {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, None),
        ({"retry_after": []}, {"Retry-After": "nan"}, None),
    ],
)
def test_the_limit_says_when_to_come_again(
    discord: Discord,
    server: FakeDiscord,
    grant: Grant,
    body: dict[str, Any],
    headers: dict[str, str],
    seconds: float | None,
) -> None:
    server.refuse_next(EXECUTE, Answer.of_json({"message": "You are being rate limited.", **body}, 429, headers))

    with pytest.raises(RateLimited) as caught:
        send(discord, grant, "Hello")

    assert caught.value.retry_after == seconds


def test_the_limit_of_all_calls_is_kept_like_that_of_one(discord: Discord, server: FakeDiscord, grant: Grant) -> None:
    server.rate_limit_next(EXECUTE, retry_after=64.57, everywhere=True)

    with pytest.raises(RateLimited) as caught:
        send(discord, grant, "Hello")

    assert caught.value.retry_after == 64.57


@pytest.mark.parametrize(
    ("errors", "told"),
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
def test_the_first_error_of_a_form_is_told_with_its_field(
    discord: Discord, server: FakeDiscord, grant: Grant, errors: Any, told: str
) -> None:
    body = {"code": 50035, "message": "Invalid Form Body", "errors": errors}
    server.refuse_next(EXECUTE, Answer.of_json(body, 400))

    with pytest.raises(ContentRejected) as caught:
        send(discord, grant, "Hello")

    assert caught.value.message == f"Discord does not take this message: {told}"


@pytest.mark.parametrize(
    "body",
    [
        b'{"message": ' + json.dumps("x" * 100_000).encode() + b"}",
        b'{"message": "a\\u0000b\\nc\\ud800", "errors": null}',
        b'{"message": {"deep": []}}',
        b'{"errors": ' + b'{"a": ' * 400 + b"1" + b"}" * 401,
        b'{"errors": {"a\\nb": {"_errors": [{"message": "c\\u0000d"}]}}}',
        b"[" * 100_000,
    ],
)
def test_a_message_of_discord_is_one_bounded_line(
    discord: Discord, server: FakeDiscord, grant: Grant, body: bytes
) -> None:
    server.refuse_next(EXECUTE, Answer(400, body))

    with pytest.raises(ContentRejected) as caught:
        send(discord, grant, "Hello")

    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 400


@pytest.mark.parametrize("status", [200, 400, 401, 403, 404, 429, 500])
def test_no_fault_shows_the_token_or_the_text(
    discord: Discord, server: FakeDiscord, webhook: FakeWebhook, grant: Grant, status: int
) -> None:
    echo = {"message": f"no route for /webhooks/{webhook.id}/{webhook.token}"}
    server.refuse_next(EXECUTE, Answer.of_json(echo, status))

    with pytest.raises(PlatformError) as caught:
        send(discord, grant, "A quiet word")

    shown = f"{caught.value!r} {caught.value.__cause__!r}"
    assert webhook.token not in shown
    assert "A quiet word" not in shown


def test_a_server_that_cannot_be_reached_took_nothing(
    discord: Discord, webhook: FakeWebhook, grant: Grant, settings: Settings
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        settings.PLATFORM_SETTINGS = {"DISCORD_API_BASE": f"http://127.0.0.1:{unused.getsockname()[1]}"}
        away = Grant(
            {"webhook_url": f"https://discord.com/api/webhooks/{webhook.id}/{webhook.token}"}, grant.tokens, webhook.id
        )

        with pytest.raises(Transient):
            send(discord, away, "Hello")
