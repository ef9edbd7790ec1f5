"""The Mastodon stand-in behaves as docs.joinmastodon.org says."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import requests
import time_machine

from tests.fakes.mastodon import FakeMastodon
from tests.fakes.mastodon_methods import CREATE

BLANK = (422, {"error": "Validation failed: Text can't be blank"})


class Client:
    """A client of the Mastodon stand-in with an account and an application."""

    def __init__(self, server: FakeMastodon, username: str = "alice", scopes: tuple[str, ...] = ("read", "write")) -> None:
        self.api = f"{server.url}/api/"
        self.token = server.add_account(username, scopes)
        self.http = requests.Session()
        self.http.trust_env = False

    def call(self, method: str, path: str, **options: Any) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {self.token}", **options.pop("headers", {})}
        answer = self.http.request(method, self.api + path, headers=headers, timeout=5, **options)
        return answer.status_code, answer.json()

    def create(self, key: str = "", **fields: Any) -> tuple[int, Any]:
        return self.call("POST", "v1/statuses", json=fields, headers={"Idempotency-Key": key} if key else {})

    def upload(self, mime_type: str = "image/png", **fields: str) -> tuple[int, Any]:
        return self.call("POST", "v2/media", files={"file": ("a", b"bytes", mime_type)}, data=fields)

    def statuses(self, account_id: str, **query: str) -> list[str]:
        return [each["id"] for each in self.call("GET", f"v1/accounts/{account_id}/statuses", params=query)[1]]


@pytest.fixture
def server() -> Iterator[FakeMastodon]:
    with FakeMastodon() as running:
        yield running


@pytest.fixture
def alice(server: FakeMastodon) -> Client:
    return Client(server)


def test_tokens_and_scopes_are_checked(server: FakeMastodon, alice: Client) -> None:
    reader = Client(server, "reader", ("profile",))

    assert reader.call("GET", "v1/accounts/verify_credentials")[0] == 200
    assert reader.create(status="Hi") == (403, {"error": "This action is outside the authorized scopes"})
    server.disable("alice")
    assert alice.create(status="Hi") == (403, {"error": "Your login is currently disabled"})
    alice.token = "x"
    assert alice.create(status="Hi") == (401, {"error": "The access token is invalid"})


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("👩‍👩‍👧" * 500, 200),
        ("a" * 501, 422),
        ("https://example.com/" + "a" * 1000 + " " + "b" * 476, 200),
        ("https://example.com/" + "a" * 1000 + " " + "b" * 477, 422),
        ("@bob@remote.example " + "b" * 495, 200),
        ("@bob@remote.example " + "b" * 496, 422),
    ],
)
def test_text_is_counted_as_a_reader_sees_it(alice: Client, text: str, status: int) -> None:
    assert alice.create(status=text)[0] == status
    assert alice.create(status=text, spoiler_text="x" * 500)[0] == 422


MENTION = '<span class="h-card" translate="no"><a href="https://remote.example/@bob" class="u-url mention">'
LINK = '<a href="https://www.example.com/a/very/long/path/here" target="_blank" rel="nofollow noopener" translate="no">'
SHOWN = '<span class="ellipsis">example.com/a/very/long/path/h</span><span class="invisible">ere</span>'


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("One\nTwo\n\nThree & <more>", "<p>One<br />Two</p><p>Three &amp; &lt;more&gt;</p>"),
        (
            "https://www.example.com/a/very/long/path/here.",
            f'<p>{LINK}<span class="invisible">https://www.</span>{SHOWN}</a>.</p>',
        ),
        ("@bob@remote.example @carol@x.example", f"<p>{MENTION}@<span>bob</span></a></span> @carol@x.example</p>"),
    ],
)
def test_text_is_shown_as_html(alice: Client, text: str, html: str) -> None:
    assert alice.create(status=text)[1]["content"] == html


def test_a_hashtag_leads_to_its_page(server: FakeMastodon, alice: Client) -> None:
    assert alice.create(status="#Tag")[1]["content"] == (
        f'<p><a href="{server.url}/tags/tag" class="mention hashtag" rel="tag">#<span>Tag</span></a></p>'
    )


def test_a_status_needs_something_and_a_warning_alone_becomes_its_text(alice: Client) -> None:
    assert alice.create(status=" ") == BLANK
    assert alice.create(spoiler_text="Warning")[1]["spoiler_text"] == ""
    assert alice.create(status="Hi", spoiler_text="Warning")[1]["sensitive"] is True
    assert alice.create(status="Hi", visibility="everybody")[0] == 422


def test_a_form_is_read_as_json_is(server: FakeMastodon, alice: Client) -> None:
    ids = [alice.upload()[1]["id"] for _ in range(2)]

    assert alice.call("POST", "v1/statuses", data={"status": "Hi", "media_ids[]": ids})[0] == 200
    assert server.statuses("alice")[0]["media"] == ids


def test_a_key_makes_one_status_for_an_hour(server: FakeMastodon, alice: Client) -> None:
    with time_machine.travel(datetime(2026, 11, 20, tzinfo=UTC), tick=False) as clock:
        first = alice.create(key="k", status="Hi")[1]["id"]
        clock.shift(timedelta(minutes=59))
        assert alice.create(key="k", status="Else")[1]["id"] == first
        clock.shift(timedelta(minutes=2))
        assert alice.create(key="k", status="Hi")[1]["id"] != first
    assert len(server.statuses("alice")) == 2


def test_a_server_may_ignore_idempotency_keys() -> None:
    with FakeMastodon(honours_idempotency_key=False) as server:
        alice = Client(server)

        assert alice.create(key="k", status="Hi")[1]["id"] != alice.create(key="k", status="Hi")[1]["id"]


def test_a_file_needs_an_accepted_type(alice: Client) -> None:
    invalid = (422, {"error": "Validation failed: File content type is invalid, File is invalid"})

    assert alice.upload("text/html") == invalid
    assert alice.call("POST", "v2/media", files={"file": ("a", b"bytes")}) == invalid
    assert alice.upload(description="x" * 1501)[0] == 422
    assert alice.upload(description="A flower")[1]["description"] == "A flower"


def test_a_video_is_processed_while_its_status_is_checked(server: FakeMastodon, alice: Client) -> None:
    server.process_videos(checks=1)

    status, upload = alice.upload("video/mp4")
    assert (status, upload["url"]) == (202, None)
    assert alice.create(media_ids=[upload["id"]])[1]["error"].startswith("Cannot attach files that have not finished")
    checks = [alice.call("GET", f"v1/media/{upload['id']}") for _ in range(2)]
    assert [status for status, _ in checks] == [206, 200]
    assert checks[1][1]["url"]
    assert alice.create(media_ids=[upload["id"]])[0] == 200


def test_media_are_attached_once_by_their_owner(server: FakeMastodon, alice: Client) -> None:
    mine, theirs = alice.upload()[1]["id"], Client(server, "bob").upload()[1]["id"]
    videos = [alice.upload("video/mp4")[1]["id"] for _ in range(2)]
    missing = "Media {} not found or already attached to another post"

    assert alice.create(media_ids=[theirs]) == (422, {"error": missing.format(theirs)})
    assert alice.create(media_ids=["1"]) == (422, {"error": missing.format("1")})
    assert alice.create(media_ids=[mine])[0] == 200
    assert alice.create(media_ids=[mine]) == (422, {"error": missing.format(mine)})
    assert alice.call("GET", f"v1/media/{mine}")[0] == 404
    assert alice.create(media_ids=videos)[0] == alice.create(media_ids=["1"] * 5)[0] == 422


def test_statuses_are_listed_newest_first_in_pages(server: FakeMastodon, alice: Client) -> None:
    account = server.account_id("alice")
    ids = [server.post("alice", str(number)) for number in range(45)][::-1]
    boost = server.post("alice", "", reblog_of=ids[0])

    assert alice.statuses(account) == [boost, *ids[:19]]
    assert alice.statuses(account, limit="99", exclude_reblogs="true") == ids[:40]
    assert alice.statuses(account, since_id=ids[42], max_id=ids[40]) == ids[41:42]
    assert alice.statuses(account, since_id=ids[30], limit="3", exclude_reblogs="true") == ids[:3]
    assert alice.statuses(account, min_id=ids[30], limit="3") == ids[27:30]


def test_others_see_what_is_public_and_no_source(server: FakeMastodon, alice: Client) -> None:
    account, bob = server.account_id("alice"), Client(server, "bob")
    public = alice.create(status="Hi")[1]["id"]
    private = alice.create(status="Psst", visibility="private")[1]["id"]

    assert (alice.statuses(account), bob.statuses(account)) == ([private, public], [public])
    source = {"id": public, "text": "Hi", "spoiler_text": ""}
    assert alice.call("GET", f"v1/statuses/{public}/source") == (200, source)
    assert bob.call("GET", f"v1/statuses/{public}/source")[0] == 404


def test_every_response_names_the_rate_limit(server: FakeMastodon, alice: Client) -> None:
    server.rate_limit_next(timedelta(seconds=90))
    with time_machine.travel(datetime(2026, 11, 20, 12, 0, tzinfo=UTC), tick=False):
        limited, served = (alice.http.get(alice.api + "v2/instance", timeout=5) for _ in range(2))

    assert (limited.status_code, limited.json()) == (429, {"error": "Too many requests"})
    assert limited.headers["X-RateLimit-Reset"] == "2026-11-20T12:01:30.000000Z"
    assert "Retry-After" not in limited.headers
    assert (served.status_code, served.headers["X-RateLimit-Limit"]) == (200, "300")


def test_a_status_may_be_published_despite_an_error_response(server: FakeMastodon, alice: Client) -> None:
    server.fail_next(CREATE, status=503, after_accept=True)

    assert alice.create(status="Hi")[0] == 503
    assert len(server.statuses("alice")) == server.requests_to(CREATE) == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"options": ["a"]}, "more than one item"),
        ({"options": ["a", "b", "c", "d", "e"]}, "more than 4 items"),
        ({"options": ["a", " a "]}, "duplicate"),
        ({"options": ["a", "b" * 51]}, "longer than 50"),
        ({"options": ["a", ""]}, "more than one item"),
        ({"expires_in": 299}, "too soon"),
        ({"expires_in": 2_700_000}, "too far"),
        ({"expires_in": None}, "too far"),
    ],
)
def test_polls_must_fit_the_announced_limits(alice: Client, changes: dict[str, Any], words: str) -> None:
    poll = {"options": ["Tea", "Coffee"], "expires_in": 300}
    status, made = alice.create(status="What next?", poll={**poll, "multiple": True})
    assert (status, made["poll"]["multiple"]) == (200, True)
    assert [option["title"] for option in made["poll"]["options"]] == ["Tea", "Coffee"]
    announced = alice.call("GET", "v2/instance")[1]["configuration"]["polls"]
    assert (announced["max_options"], announced["max_characters_per_option"]) == (4, 50)

    status, refused = alice.create(status="What next?", poll={**poll, **changes})

    assert status == 422
    assert words in refused["error"]


def test_a_poll_needs_a_text_and_accepts_no_media(alice: Client) -> None:
    poll = {"options": ["Tea", "Coffee"], "expires_in": 300}

    assert alice.create(status="What next?", media_ids=[alice.upload()[1]["id"]], poll=poll)[0] == 422
    assert alice.create(poll=poll) == BLANK
