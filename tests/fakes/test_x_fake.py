"""The X stand-in behaves as X's documents say."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
import requests
import time_machine

from tests.fakes.x import FakeX
from tests.fakes.x_methods import CREATE
from tests.fakes.x_oauth import CLIENT_ID, CLIENT_SECRET

CALLBACK = "https://service.example/callback"
VERIFIER = "v" * 43
SCOPES = "tweet.read tweet.write users.read media.write offline.access"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)


@pytest.fixture
def server() -> Iterator[FakeX]:
    with FakeX() as running:
        running.register_redirect(CALLBACK)
        running.add_person("alice")
        yield running


class Client:
    """The app at the X stand-in, with the token of a connected account."""

    def __init__(self, server: FakeX, token: str = "") -> None:
        self.server, self.token = server, token

    def ask(self, method: str, path: str, **options: Any) -> requests.Response:
        headers = {"Authorization": f"Bearer {self.token}"} if "auth" not in options else {}
        with requests.Session() as http:
            http.trust_env = False
            return http.request(method, self.server.url + path, headers=headers, timeout=5, **options)

    def consent(self, **changes: str) -> str:
        challenge = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
        asked = {
            "response_type": "code",
            "client_id": CLIENT_ID,
            "redirect_uri": CALLBACK,
            "scope": SCOPES,
            "state": "s",
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            **changes,
        }
        return self.server.grant(f"{self.server.url}/i/oauth2/authorize?{urlencode(asked)}", "alice")

    def exchange(self, code: str, **changes: str) -> requests.Response:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": CALLBACK,
            "code_verifier": VERIFIER,
            **changes,
        }
        return self.tokens(form)

    def tokens(self, form: dict[str, str], secret: str = CLIENT_SECRET) -> requests.Response:
        return self.ask("POST", "/2/oauth2/token", data=form, auth=(CLIENT_ID, secret))

    def post(self, text: str, **more: Any) -> requests.Response:
        return self.ask("POST", "/2/tweets", json={"text": text, **more})

    def upload(self, content: bytes = PNG, category: str = "tweet_image") -> requests.Response:
        form = {"media_category": category}
        return self.ask("POST", "/2/media/upload", data=form, files={"media": ("a", content)})


@pytest.fixture
def alice(server: FakeX) -> Client:
    client = Client(server)
    client.token = client.exchange(client.consent()).json()["access_token"]
    return client


def status_and_message(answer: requests.Response) -> tuple[int, str]:
    body = answer.json()
    return answer.status_code, body.get("errors", [{"message": body.get("detail", "")}])[0]["message"]


@pytest.mark.parametrize(
    "change",
    [
        {"response_type": "token"},
        {"client_id": "another"},
        {"redirect_uri": "https://evil.example/"},
        {"scope": "everything"},
        {"state": "s" * 501},
        {"code_challenge": "short"},
        {"code_challenge_method": "plain"},
    ],
)
def test_a_consent_is_asked_for_as_x_wants_it(server: FakeX, change: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=next(iter(change))):
        Client(server).consent(**change)


def test_tokens_need_the_secrets_and_codes_are_valid_once(server: FakeX) -> None:
    client = Client(server)
    for wrong in ({"code_verifier": "w" * 43}, {"redirect_uri": "https://evil.example/"}):
        assert client.exchange(client.consent(), **wrong).json()["error"] == "invalid_request"
    code = client.consent()
    issued = client.exchange(code).json()
    assert (issued["token_type"], issued["expires_in"], issued["scope"]) == ("bearer", 7200, SCOPES)
    assert client.exchange(code).status_code == 400
    renewal = {"grant_type": "refresh_token", "refresh_token": issued["refresh_token"]}
    assert client.tokens(renewal, secret="wrong").status_code == 401
    assert client.tokens(renewal).status_code == 200
    assert client.tokens(renewal).json()["error_description"] == "Value passed for the token was invalid."


def test_a_token_gives_the_granted_access_for_two_hours(server: FakeX, alice: Client) -> None:
    reader = Client(server)
    reader.token = reader.exchange(reader.consent(scope="tweet.read users.read")).json()["access_token"]
    assert reader.ask("GET", "/2/users/me").json()["data"]["username"] == "alice"
    assert reader.post("Hello").status_code == reader.upload().status_code == 403

    with time_machine.travel(datetime.now(UTC) + timedelta(hours=2)):
        assert alice.ask("GET", "/2/users/me").status_code == 401
    assert server.posts("alice") == []


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"text": "a" * 281}, 403, "not permitted"),
        ({"text": " "}, 400, "blank"),
        ({"text": "$ABC $DEF"}, 403, "1 cashtag"),
        ({"text": "Hello", "quote_tweet_id": "1"}, 400, "not defined"),
        ({"text": "Hello", "reply_settings": "everyone"}, 400, "known settings"),
        ({"text": "Hello", "made_with_ai": "yes"}, 400, "boolean"),
        ({"text": "Hello", "media": {"media_ids": ["1"]}}, 400, "media IDs are invalid"),
        ({"text": "Hello", "media": {"media_ids": []}}, 400, "one to four"),
        ({"text": "Hello", "reply": {"in_reply_to_tweet_id": "1"}}, 400, "not there"),
    ],
)
def test_an_invalid_post_is_refused(server: FakeX, alice: Client, body: dict[str, Any], status: int, message: str) -> None:
    answer = alice.post(**body)

    assert status_and_message(answer)[0] == status
    assert message in status_and_message(answer)[1]
    assert server.posts("alice") == []


def test_the_same_text_is_refused_within_a_day_but_not_beside_media(server: FakeX, alice: Client) -> None:
    media = {"media_ids": [alice.upload().json()["data"]["id"]]}

    assert alice.post("Hello").status_code == 201
    assert status_and_message(alice.post("Hello")) == (403, "You are not allowed to create a Tweet with duplicate content.")
    assert [alice.post("Hello", media=media).status_code for _ in range(2)] == [201, 201]


def test_replies_are_to_oneself_and_can_be_forbidden(server: FakeX, alice: Client) -> None:
    server.add_person("bob")
    own, foreign = server.post("alice", "Mine"), server.post("bob", "His")

    assert alice.post("Two", reply={"in_reply_to_tweet_id": own}).status_code == 201
    assert alice.post("Three", reply={"in_reply_to_tweet_id": foreign}).status_code == 403
    server.refuse_replies()
    assert alice.post("Four", reply={"in_reply_to_tweet_id": own}).status_code == 403


def test_posts_are_listed_newest_first_as_x_writes_them(server: FakeX, alice: Client) -> None:
    me = alice.ask("GET", "/2/users/me").json()["data"]["id"]
    first = server.post("alice", "Fish & chips at example.com")
    for number in range(6):
        server.post("alice", f"More {number}")
    fields = {"tweet.fields": "entities,attachments,referenced_tweets"}

    page = alice.ask("GET", f"/2/users/{me}/tweets", params={"max_results": 5, **fields}).json()
    rest = {"max_results": 5, "pagination_token": page["meta"]["next_token"], **fields}
    last = alice.ask("GET", f"/2/users/{me}/tweets", params=rest).json()
    since = {"since_id": page["data"][0]["id"]}

    assert [post["text"] for post in page["data"]] == ["More 5", "More 4", "More 3", "More 2", "More 1"]
    [url] = last["data"][1]["entities"]["urls"]
    assert (last["meta"], last["data"][1]["id"]) == ({"result_count": 2}, first)
    assert last["data"][1]["text"] == f"Fish &amp; chips at {url['url']}"
    assert (url["expanded_url"], url["url"][:13]) == ("http://example.com", "https://t.co/")
    assert alice.ask("GET", f"/2/users/{me}/tweets", params=since).json() == {"meta": {"result_count": 0}}
    assert server.posts_read == 7
    for wrong in ({"max_results": 4}, {"start_time": "yesterday"}, {"tweet.fields": "secrets"}, {"limit": 5}):
        assert alice.ask("GET", f"/2/users/{me}/tweets", params=wrong).status_code == 400


def test_a_video_is_whole_when_its_segments_are(server: FakeX, alice: Client) -> None:
    server.process_media(checks=1)
    begun = {"media_type": "video/mp4", "total_bytes": 6, "media_category": "tweet_video"}
    media_id = alice.ask("POST", "/2/media/upload/initialize", json=begun).json()["data"]["id"]
    path, look = f"/2/media/upload/{media_id}", {"command": "STATUS", "media_id": media_id}

    def append(index: int, content: bytes) -> int:
        form, files = {"segment_index": str(index)}, {"media": ("a", content)}
        return alice.ask("POST", f"{path}/append", data=form, files=files).status_code

    assert [append(0, b"abc"), append(1, b"xxx"), append(1, b"def"), append(1000, b"x")] == [200, 200, 200, 400]
    assert alice.ask("GET", "/2/media/upload", params=look).status_code == 400
    finalized = alice.ask("POST", f"{path}/finalize").json()["data"]
    assert finalized["processing_info"] == {"state": "pending", "check_after_secs": 2, "progress_percent": 50}
    assert alice.ask("POST", f"{path}/finalize").status_code == append(2, b"x") == 400
    assert alice.post("Look", media={"media_ids": [media_id]}).status_code == 400
    assert alice.ask("GET", "/2/media/upload", params=look).json()["data"]["processing_info"]["state"] == "succeeded"
    assert alice.post("Look", media={"media_ids": [media_id]}).status_code == 201
    assert server.posts("alice")[0]["media"] == [("tweet_video", b"abcdef", None)]
    described = {"id": media_id, "metadata": {"alt_text": {"text": "A dance"}}}
    assert alice.ask("POST", "/2/media/metadata", json=described).status_code == 400


def test_only_still_images_go_in_one_call(alice: Client) -> None:
    assert alice.upload(b"GIF89a").status_code == alice.upload(category="tweet_gif").status_code == 400
    assert alice.upload(PNG + bytes(5_242_880)).status_code == 413


def test_credits_suspension_and_limits_are_checked_first(server: FakeX, alice: Client) -> None:
    server.rate_limit_next(CREATE, 60)
    limited = alice.post("Hello")
    assert (limited.status_code, limited.headers["x-rate-limit-remaining"]) == (429, "0")
    server.use_up_credits()
    assert alice.post("Hello").status_code == 402
    server.suspend("alice")
    assert alice.post("Hello").status_code == 403
    assert server.posts("alice") == []


@pytest.mark.parametrize(
    "changes",
    [
        {"options": ["Tea"]},
        {"options": ["a", "b", "c", "d", "e"]},
        {"options": ["a", "b" * 26]},
        {"options": ["a", ""]},
        {"duration_minutes": 4},
        {"duration_minutes": 10_081},
        {"hide_totals": True},
    ],
)
def test_polls_must_fit_the_schema_of_the_call(server: FakeX, alice: Client, changes: dict[str, Any]) -> None:
    poll = {"options": ["Tea", "Coffee"], "duration_minutes": 5}
    assert alice.post("What next?", poll=poll).status_code == 201

    assert alice.post("And then?", poll={**poll, **changes}).status_code == 400
    media = {"media_ids": [alice.upload().json()["data"]["id"]]}
    assert status_and_message(alice.post("And then?", poll=poll, media=media)) == (400, "is mutually exclusive from media")
    assert [made["poll"] for made in server.posts("alice")] == [poll]


def test_a_list_names_the_posts_with_polls(server: FakeX, alice: Client) -> None:
    alice.post("What next?", poll={"options": ["Tea", "Coffee"], "duration_minutes": 5})
    server.post("alice", "Hello")
    me = alice.ask("GET", "/2/users/me").json()["data"]["id"]

    posts = alice.ask("GET", f"/2/users/{me}/tweets", params={"tweet.fields": "attachments"}).json()["data"]

    assert [bool(post.get("attachments", {}).get("poll_ids")) for post in posts] == [False, True]
