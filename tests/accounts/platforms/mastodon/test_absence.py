"""When a status that is not listed counts as absent: only where the list is known to hold statuses of its visibility."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.platforms.errors import OutcomeUnknown
from accounts.platforms.mastodon.adapter import Mastodon
from accounts.platforms.types import Absent, CompleteList, Content, Grant, Progress, Published
from tests.accounts.platforms.mastodon.scripted_server import ALICE, ScriptedServer
from tests.accounts.platforms.mastodon.steps import BEGUN, go_to, image, look, post, publish, step
from tests.accounts.platforms.mastodon.test_find import lose, status
from tests.fakes.http_server import Answer
from tests.fakes.mastodon import FakeMastodon
from tests.fakes.mastodon_methods import CREATE, LIST, SOURCE, VERIFY

hidden = pytest.mark.parametrize("visibility", ["private", "direct"])


def assert_nobody_can_tell(mastodon: Mastodon, grant: Grant, content: Content, progress: Progress) -> None:
    with pytest.raises(OutcomeUnknown) as caught:
        look(mastodon, grant, content, progress)
    assert caught.value.final


@hidden
@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize("files", [0, 1])
def test_a_server_that_lists_no_private_statuses_cannot_tell(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant, visibility: str, taken: bool, files: int
) -> None:
    server.list_no_private()
    for older in ("public", visibility):
        server.post("alice", "Before", visibility=older)
    content = post("" if files else "Hello", *[image()] * files, visibility=visibility)
    progress = lose(mastodon, server, grant, content, taken=taken)

    assert_nobody_can_tell(mastodon, grant, content, progress)


@hidden
def test_a_server_that_was_seen_to_list_such_statuses_can_tell(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant, visibility: str
) -> None:
    content = post("Hello", visibility=visibility)
    progress = lose(mastodon, server, grant, content, taken=False)
    assert_nobody_can_tell(mastodon, grant, content, progress)

    server.post("alice", "Something else", visibility="private" if visibility == "direct" else "direct")
    assert_nobody_can_tell(mastodon, grant, content, progress)

    seen = server.post("alice", "Another", visibility=visibility)
    absent = look(mastodon, grant, content, progress)
    assert isinstance(absent, Absent)
    assert isinstance(absent.proof, CompleteList)
    assert seen in absent.proof.kind_listed


@hidden
def test_such_a_status_that_is_listed_is_found(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant, visibility: str
) -> None:
    content = post("Hello", visibility=visibility)
    progress = lose(mastodon, server, grant, content)

    assert isinstance(look(mastodon, grant, content, progress), Published)


@pytest.mark.parametrize("lists_private", [True, False])
@pytest.mark.parametrize("visibility", ["public", "unlisted"])
def test_every_server_lists_what_is_public(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant, visibility: str, lists_private: bool
) -> None:
    if not lists_private:
        server.list_no_private()
    content = post("Hello", visibility=visibility)
    progress = lose(mastodon, server, grant, content, taken=False)

    assert isinstance(look(mastodon, grant, content, progress), Absent)
    step(mastodon, grant, content, progress)
    assert isinstance(look(mastodon, grant, content, progress), Published)


@pytest.mark.parametrize(
    ("setting", "tells"), [("public", True), ("unlisted", True), ("private", False), ("direct", False), (None, False)]
)
def test_a_status_that_names_no_visibility_has_the_accounts_own(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant, setting: str | None, tells: bool
) -> None:
    server.list_no_private()
    server.default_visibility("alice", setting)
    progress = lose(mastodon, server, grant, post(), taken=False)

    if tells:
        assert isinstance(look(mastodon, grant, post(), progress), Absent)
    else:
        assert_nobody_can_tell(mastodon, grant, post(), progress)


@pytest.mark.parametrize("sent", [0, 1, 2])
@pytest.mark.parametrize("taken", [True, False])
def test_no_segment_of_a_private_thread_is_sent_again_where_none_is_listed(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant, sent: int, taken: bool
) -> None:
    server.list_no_private()
    content = post("One", thread=[{"text": "Two"}, {"text": "Three"}], visibility="private")
    progress = go_to("create", mastodon, grant, content)
    for _ in range(sent):
        following = step(mastodon, grant, content, progress)
        assert isinstance(following, Progress)
        progress = following
    server.drop_next(CREATE, after_accept=taken)
    with pytest.raises(OutcomeUnknown):
        step(mastodon, grant, content, progress)

    assert_nobody_can_tell(mastodon, grant, content, progress)


@pytest.mark.parametrize("visibility", ["public", "private"])
def test_a_listed_segment_shows_that_the_next_one_would_be_listed(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant, visibility: str
) -> None:
    content = post("One", thread=[{"text": "Two"}], visibility=visibility)
    progress = step(mastodon, grant, content, go_to("create", mastodon, grant, content))
    assert isinstance(progress, Progress)

    assert isinstance(look(mastodon, grant, content, progress), Absent)

    server.delete(server.statuses("alice")[0]["id"])
    assert_nobody_can_tell(mastodon, grant, content, progress)


def test_a_list_from_which_everything_is_gone_proves_nothing(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant
) -> None:
    before = server.post("alice", "Before")
    progress = lose(mastodon, server, grant, post(), taken=False)
    assert isinstance(look(mastodon, grant, post(), progress), Absent)

    server.delete(before)

    assert_nobody_can_tell(mastodon, grant, post(), progress)


def test_a_pinned_status_at_the_top_does_not_end_the_list(
    mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant
) -> None:
    scripted.answers[LIST] = Answer.of_json([status("3", "<p>Pinned</p>"), status("10", "<p>Other</p>")])

    with pytest.raises(OutcomeUnknown, match="too many newer posts"):  # the pages go on, and repeat themselves
        look(mastodon, scripted_grant, post(), BEGUN)


@pytest.mark.parametrize("source", [None, "public", {}, {"privacy": None}])
def test_a_server_that_does_not_tell_the_accounts_visibility_cannot_tell(
    mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant, source: Any
) -> None:
    scripted.answers |= {LIST: Answer.of_json([status("5", "")]), VERIFY: Answer.of_json({**ALICE, "source": source})}

    assert_nobody_can_tell(mastodon, scripted_grant, post(), BEGUN)
    assert isinstance(look(mastodon, scripted_grant, post(visibility="public"), BEGUN), Absent)


def test_a_segment_without_what_it_replies_to_is_for_a_person_to_judge(
    mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant
) -> None:
    content = post("One", thread=[{"text": "Two"}])
    progress = Progress("create", {**BEGUN.state, "sent": ["7"]})
    scripted.answers[LIST] = Answer.of_json([status("8", "<p>Two</p>"), status("7", "<p>One</p>")])

    assert_nobody_can_tell(mastodon, scripted_grant, content, progress)


@pytest.mark.parametrize(
    ("text", "html", "source"),
    [
        (
            "Read https://example.com/a/very/long/path",
            '<p>Read <a href="https://example.com/a/very/long/path">example.com/a/very…</a></p>',
            "Read example.com/a/very…",
        ),
        ("Use <b>bold</b> words", "<p>Use bold words</p>", "Use bold words"),
        ("Use <b>bold</b> words", "<p>Use bold words</p>", None),
    ],
    ids=["a link cut short", "tags taken out", "tags taken out, without a source"],
)
def test_a_text_that_the_server_has_changed_is_for_a_person_to_judge(
    mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant, text: str, html: str, source: str | None
) -> None:
    scripted.answers[LIST] = Answer.of_json([status("10", html), status("5", "")])
    if source is not None:
        scripted.answers[SOURCE] = Answer.of_json({"id": "10", "text": source, "spoiler_text": ""})

    assert_nobody_can_tell(mastodon, scripted_grant, post(text), BEGUN)


def test_what_is_absent_is_sent_once_more(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    server.post("alice", "Before", visibility="private")
    content = post("Hello", visibility="private")
    progress = lose(mastodon, server, grant, content, taken=False)

    assert isinstance(look(mastodon, grant, content, progress), Absent)
    publish(mastodon, grant, content, progress)

    assert [each["text"] for each in server.statuses("alice")] == ["Before", "Hello"]
