from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from accounts.platforms.errors import OutcomeUnknown, PlatformError, RateLimited, ReauthRequired, Transient
from accounts.platforms.mastodon.adapter import Mastodon
from accounts.platforms.types import Content, Grant, NotPublishedProof, Progress, Published
from tests.accounts.platforms.mastodon.scripted_server import ScriptedServer
from tests.accounts.platforms.mastodon.steps import BEGUN, find, go_to, image, post, publish, step
from tests.fakes.http_server import Answer
from tests.fakes.mastodon import FakeMastodon
from tests.fakes.mastodon_methods import CREATE, LIST, SOURCE

TEXTS = [
    "Hello",
    "  Hello\r\n\r\n\r\nWorld\n ",
    "Fish & chips < \"dinner\" > 'lunch' &amp; #food",
    "https://www.example.com/a/very/long/path/that/is/cut/short?when=shown&x=1#end, and www.example.com",
    "(https://example.com/wiki/Nested_(thing)) https://例え.jp/パス",
    "@bob@remote.example, @nobody@remote.example and @alice: #Hashtag #日本語 hello@example.com",
    "👩‍👩‍👧 🎉",
    "…!?",
    "Ünïcödé ﬁ ①",
]


@pytest.fixture(params=[True, False], ids=["by its source", "by its HTML"])
def server(request: pytest.FixtureRequest) -> Iterator[FakeMastodon]:
    with FakeMastodon(honours_idempotency_key=False, returns_source=request.param) as running:
        yield running


def lose_response(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant, content: Content, *, published: bool = True
) -> Progress:
    """The progress after an attempt to create a Mastodon status whose response was lost."""
    progress = go_to("create", mastodon, grant, content)
    server.drop_next(CREATE, after_accept=published)
    with pytest.raises(OutcomeUnknown):
        step(mastodon, grant, content, progress)
    return progress


@pytest.mark.parametrize("text", TEXTS)
def test_a_published_status_is_found_among_others(mastodon: Mastodon, server: FakeMastodon, grant: Grant, text: str) -> None:
    server.post("alice", text)
    progress = lose_response(mastodon, server, grant, post(text))
    ours = server.statuses("alice")[-1]["id"]
    server.post("alice", text + " once more")

    assert find(mastodon, grant, post(text), progress) == Published(ours, f"{server.url}/@alice/{ours}")


@pytest.mark.parametrize("text", TEXTS)
def test_a_status_that_was_not_published_is_not_found_and_sent_again(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant, text: str
) -> None:
    server.post("alice", text)
    progress = lose_response(mastodon, server, grant, post(text), published=False)
    server.post("alice", text + " once more")
    server.post("alice", text, in_reply_to_id="1")
    server.post("alice", text, media=[server.upload("alice")])
    server.post("alice", "", reblog_of=server.post("alice", "Of somebody else"))

    assert isinstance(find(mastodon, grant, post(text), progress), NotPublishedProof)

    published = publish(mastodon, grant, post(text), progress)
    assert published.external_id == server.statuses("alice")[-1]["id"]


@pytest.mark.parametrize(
    "content", [post("Hello", spoiler_text="Greeting"), post("", spoiler_text="Greeting"), post("Hi", visibility="direct")]
)
def test_a_status_is_found_whatever_its_warning_and_audience(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant, content: Content
) -> None:
    progress = lose_response(mastodon, server, grant, content)

    found = find(mastodon, grant, content, progress)

    assert isinstance(found, Published)
    assert [each["id"] for each in server.statuses("alice")] == [found.external_id]


def test_a_text_under_another_warning_is_another_status(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    progress = lose_response(mastodon, server, grant, post("Hello", spoiler_text="Greeting"), published=False)
    server.post("alice", "Hello")

    assert isinstance(find(mastodon, grant, post("Hello", spoiler_text="Greeting"), progress), NotPublishedProof)


def test_the_servers_own_choice_of_audience_does_not_hide_a_status(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant
) -> None:
    progress = go_to("create", mastodon, grant, post("Hello", visibility="public"))
    limited = server.post("alice", "Hello", visibility="unlisted")  # as the server does for accounts it has limited

    found = find(mastodon, grant, post("Hello", visibility="public"), progress)

    assert isinstance(found, Published)
    assert found.external_id == limited


def test_the_first_of_two_equal_statuses_is_taken(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    progress = lose_response(mastodon, server, grant, post())
    ours = server.statuses("alice")[0]["id"]
    server.post("alice", "Hello")

    found = find(mastodon, grant, post(), progress)

    assert isinstance(found, Published)
    assert found.external_id == ours


def test_a_status_with_media_is_found_by_their_ids(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    content = post("Look", image(), image())
    progress = lose_response(mastodon, server, grant, content)
    (ours,) = server.statuses("alice")
    server.edit(ours["id"], "Looked")

    found = find(mastodon, grant, content, progress)

    assert isinstance(found, Published)
    assert found.external_id == ours["id"]


@pytest.mark.parametrize("with_media", [True, False])
def test_the_same_text_with_other_media_leaves_the_outcome_unknown(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant, with_media: bool
) -> None:
    content = post("Look", image())
    progress = lose_response(mastodon, server, grant, content, published=False)
    server.post("alice", "Look", media=[server.upload("alice")] if with_media else [])

    with pytest.raises(OutcomeUnknown) as caught:
        find(mastodon, grant, content, progress)

    assert caught.value.final


def test_an_edited_status_leaves_the_outcome_unknown(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    progress = lose_response(mastodon, server, grant, post())
    server.edit(server.statuses("alice")[0]["id"], "Good-bye")

    with pytest.raises(OutcomeUnknown) as caught:
        find(mastodon, grant, post(), progress)

    assert caught.value.final


@pytest.mark.parametrize("posted_before", [0, 1, 50])
def test_a_status_is_found_behind_a_page_of_later_ones(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant, posted_before: int
) -> None:
    for number in range(posted_before):
        server.post("alice", f"Before {number}")
    progress = lose_response(mastodon, server, grant, post())
    ours = server.statuses("alice")[-1]["id"]
    for number in range(45):
        server.post("alice", f"After {number}")

    found = find(mastodon, grant, post(), progress)

    assert isinstance(found, Published)
    assert found.external_id == ours


def test_too_many_newer_posts_leave_the_outcome_unknown(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    progress = lose_response(mastodon, server, grant, post(), published=False)
    for number in range(120):
        server.post("alice", f"After {number}")

    with pytest.raises(OutcomeUnknown) as caught:
        find(mastodon, grant, post(), progress)

    assert caught.value.final


def test_an_unreadable_list_leaves_the_outcome_unknown(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    blind = Progress("create", {**BEGUN.state, "after": None})

    with pytest.raises(OutcomeUnknown) as caught:
        find(mastodon, grant, post(), blind)

    assert caught.value.final


def status(identifier: str, html: str, **fields: Any) -> dict[str, Any]:
    return {"id": identifier, "content": html, "url": f"https://social.example/@alice/{identifier}", **fields}


def test_a_list_that_ignores_the_marker_is_read_to_the_same_point(
    mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant
) -> None:
    page = [status("3", "<p>Hello</p>", pinned=True), status("10", "<p>Other</p>"), status("6", "<p>Hello</p>")]
    scripted.answers[LIST] = Answer.of_json(page)

    assert isinstance(find(mastodon, scripted_grant, post(), BEGUN), NotPublishedProof)

    scripted.answers[LIST] = Answer.of_json([*page[:1], status("11", "<p>Hello</p>"), *page[1:]])
    found = find(mastodon, scripted_grant, post(), BEGUN)
    assert isinstance(found, Published)
    assert found.external_id == "11"


def test_a_server_that_repeats_its_pages_leaves_the_outcome_unknown(
    mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant
) -> None:
    scripted.answers[LIST] = Answer.of_json([status("10", "<p>Other</p>")])

    with pytest.raises(OutcomeUnknown):
        find(mastodon, scripted_grant, post(), BEGUN)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("See https://example.com/a/b now", '<p>See <a href="https://example.com/a/b">example.com/a…</a> now</p>'),
        ("*Bold* move", "<p><em>Bold</em> move</p>"),
        ("Hi @bob@remote.example!", '<p>Hi <a class="mention" href="https://remote.example/@bob">@bob</a>!</p>'),
    ],
)
def test_a_rendering_of_another_kind_is_read_by_its_letters(
    mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant, text: str, html: str
) -> None:
    scripted.answers[LIST] = Answer.of_json([status("10", html), status("5", "")])

    found = find(mastodon, scripted_grant, post(text), BEGUN)

    assert isinstance(found, Published)
    assert found.external_id == "10"


@pytest.mark.parametrize(
    ("text", "html", "warning"),
    [("🎉", "<p>🎈</p>", ""), ("Hello", "<p>Hello</p>", "Greeting"), ("Hello", "<p>Hello you</p>", "")],
)
def test_a_rendering_of_another_text_is_another_status(
    mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant, text: str, html: str, warning: str
) -> None:
    scripted.answers[LIST] = Answer.of_json([status("10", html, spoiler_text=warning), status("5", "")])

    assert isinstance(find(mastodon, scripted_grant, post(text), BEGUN), NotPublishedProof)


def test_the_source_outweighs_the_rendering(mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant) -> None:
    text = "1. one\n2. two"
    scripted.answers |= {
        LIST: Answer.of_json([status("10", "<ol><li>one</li><li>two</li></ol>"), status("5", "")]),
        SOURCE: Answer.of_json({"id": "10", "text": text, "spoiler_text": ""}),
    }

    assert isinstance(find(mastodon, scripted_grant, post(text), BEGUN), Published)
    with pytest.raises(OutcomeUnknown):  # some servers make the source out of the HTML
        find(mastodon, scripted_grant, post("one two"), BEGUN)
    assert isinstance(find(mastodon, scripted_grant, post("one and two"), BEGUN), NotPublishedProof)


@pytest.mark.parametrize("call", [LIST, SOURCE])
@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer.of_json({"error": "The access token was revoked"}, 401), ReauthRequired),
        (Answer.of_json({"error": "Too many requests"}, 429), RateLimited),
        (Answer(503), Transient),
    ],
)
def test_an_error_while_statuses_are_read_is_reported(
    mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant, call: str, answer: Answer, fault: type[PlatformError]
) -> None:
    scripted.answers |= {LIST: Answer.of_json([status("10", "<p>Hello</p>"), status("5", "")]), call: answer}

    with pytest.raises(PlatformError) as caught:
        find(mastodon, scripted_grant, post(), BEGUN)

    assert type(caught.value) is fault


@pytest.mark.parametrize("body", [b"", b"<html>", b"{}", b'[{"id": null}]', b'["10"]'])
def test_a_list_that_cannot_be_read_is_read_again_later(
    mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant, body: bytes
) -> None:
    scripted.answers[LIST] = Answer(200, body)

    with pytest.raises(Transient):
        find(mastodon, scripted_grant, post(), BEGUN)
