"""Hold the Discord stand-in to Discord's documents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from tests.fakes.discord import EXECUTE, FakeDiscord, FakeWebhook

AGENT = {"User-Agent": "DiscordBot (https://service.example, 1.0)"}


@pytest.fixture
def server() -> Iterator[FakeDiscord]:
    with FakeDiscord() as fake:
        yield fake


@pytest.fixture
def webhook(server: FakeDiscord) -> FakeWebhook:
    return server.add_webhook("News")


def ask(method: str, url: str, **options: Any) -> requests.Response:
    with requests.Session() as http:
        http.trust_env = False
        options["headers"] = {**AGENT, **options.get("headers", {})}
        return http.request(method, url, timeout=5, **options)


def post(webhook: FakeWebhook, body: Any, **params: str) -> requests.Response:
    return ask("POST", webhook.url, json=body, params={"wait": "true", **params})


def error_of(answer: requests.Response) -> tuple[int, int]:
    return answer.status_code, answer.json()["code"]


def test_a_webhook_is_known_by_its_id_and_its_token(server: FakeDiscord, webhook: FakeWebhook) -> None:
    shown = ask("GET", f"{server.api_base}/webhooks/{webhook.id}/{webhook.token}").json()

    assert (shown["id"], shown["name"], shown["type"]) == (webhook.id, "News", 1)
    assert (shown["guild_id"], shown["channel_id"]) == (webhook.guild_id, webhook.channel_id)
    assert error_of(ask("GET", webhook.url + "x")) == (401, 50027)
    server.delete_webhook(webhook)
    assert error_of(ask("GET", webhook.url)) == (404, 10015)


def test_a_client_that_does_not_name_itself_as_asked_is_blocked(webhook: FakeWebhook) -> None:
    assert error_of(ask("GET", webhook.url, headers={"User-Agent": "python-requests/2"})) == (403, 40333)


def test_only_who_waits_is_shown_the_message(server: FakeDiscord, webhook: FakeWebhook) -> None:
    shown = post(webhook, {"content": "one"}).json()
    unseen = ask("POST", webhook.url, json={"content": "two"})

    assert (shown["content"], shown["channel_id"]) == ("one", webhook.channel_id)
    assert (unseen.status_code, unseen.content) == (204, b"")
    assert [message["content"] for message in server.messages(webhook)] == ["one", "two"]


@pytest.mark.parametrize(
    ("body", "path", "message"),
    [
        ({"content": "😀" * 2001}, ["content"], "Must be 2000 or fewer in length."),
        ({"content": "a", "username": ""}, ["username"], "Must be between 1 and 80 in length."),
        ({"content": "a", "username": "Discordia"}, ["username"], 'Username cannot contain "discord"'),
        ({"content": "a", "flags": 2}, ["flags"], 'Value "2" is not int.'),
    ],
)
def test_the_errors_of_a_form_stand_by_field(
    server: FakeDiscord, webhook: FakeWebhook, body: Any, path: list[str], message: str
) -> None:
    answer = post(webhook, body)

    assert error_of(answer) == (400, 50035)
    errors = answer.json()["errors"]
    for key in path:
        errors = errors[key]
    assert errors["_errors"][0]["message"] == message
    assert server.messages(webhook) == []


def test_emptiness_wrong_types_and_broken_json_are_refused(webhook: FakeWebhook) -> None:
    plain = {"Content-Type": "text/plain"}

    assert error_of(post(webhook, {"content": " "})) == (400, 50006)
    assert error_of(ask("POST", webhook.url, data=b"Hello", headers=plain)) == (400, 50035)
    assert error_of(ask("POST", webhook.url, data=b"{", headers={"Content-Type": "application/json"})) == (400, 50109)


def test_threads_are_the_channels_own_and_forums_take_nothing_else(server: FakeDiscord, webhook: FakeWebhook) -> None:
    forum = server.add_webhook("Forum", forum=True)
    thread_id = server.add_thread(webhook)

    assert post(webhook, {"content": "a"}, thread_id=thread_id).json()["channel_id"] == thread_id
    assert error_of(post(forum, {"content": "a"}, thread_id=thread_id)) == (404, 10003)
    assert error_of(post(forum, {"content": "a"})) == (400, 220001)
    assert error_of(post(forum, {"content": "a", "thread_name": "b"}, thread_id=thread_id)) == (400, 220002)
    assert error_of(post(webhook, {"content": "a", "thread_name": "b"})) == (400, 220003)
    assert post(forum, {"content": "a", "thread_name": "b"}).status_code == 200


def test_files_are_read_byte_by_byte_with_what_is_said_of_them(server: FakeDiscord, webhook: FakeWebhook) -> None:
    form = {"content": "a", "attachments": [{"id": 7, "filename": "x.bin", "description": "x"}]}
    data = b"\r\n--boundary\r\n\r\n" + bytes(range(256))
    files = {"payload_json": (None, json.dumps(form)), "files[7]": ("x.bin", data, "image/png")}

    shown = ask("POST", webhook.url, files=files, params={"wait": "true"}).json()

    assert [(one["filename"], one["description"], one["size"]) for one in shown["attachments"]] == [("x.bin", "x", len(data))]
    assert server.messages(webhook)[0]["attachments"][0]["data"] == data
    assert error_of(ask("POST", webhook.url, files={"files[0]": ("x", bytes(10_485_761))})) == (413, 40005)
    assert error_of(ask("POST", webhook.url, files={"file": ("x", b"x")})) == (400, 50035)


def test_a_limit_is_reported_in_the_body_and_in_the_headers(server: FakeDiscord, webhook: FakeWebhook) -> None:
    assert post(webhook, {"content": "a"}).headers["X-RateLimit-Limit"] == "5"
    server.rate_limit_next(EXECUTE, retry_after=64.57)
    server.rate_limit_next(EXECUTE, everywhere=True)

    mine, everybodys = post(webhook, {"content": "b"}), post(webhook, {"content": "b"})

    assert (mine.status_code, mine.json()["retry_after"], mine.json()["global"]) == (429, 64.57, False)
    assert (mine.headers["Retry-After"], mine.headers["X-RateLimit-Scope"]) == ("65", "user")
    assert (everybodys.json()["global"], everybodys.headers["X-RateLimit-Scope"]) == (True, "global")
    assert len(server.messages(webhook)) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"question": {"text": "a" * 301}},
        {"question": {"text": ""}},
        {"answers": []},
        {"answers": [{"poll_media": {"text": "a"}}] * 11},
        {"answers": [{"poll_media": {"text": "a" * 56}}]},
        {"duration": 0},
        {"duration": 769},
    ],
)
def test_polls_are_held_to_their_limits(server: FakeDiscord, webhook: FakeWebhook, changes: dict[str, Any]) -> None:
    poll = {"question": {"text": "What next?"}, "answers": [{"poll_media": {"text": "Tea"}}], "duration": 768}
    shown = post(webhook, {"poll": poll}).json()["poll"]
    assert (shown["question"], shown["allow_multiselect"]) == ({"text": "What next?"}, False)
    assert shown["answers"] == [{"answer_id": 1, "poll_media": {"text": "Tea"}}]

    assert error_of(post(webhook, {"poll": {**poll, **changes}})) == (400, 50035)
    assert len(server.messages(webhook)) == 1
