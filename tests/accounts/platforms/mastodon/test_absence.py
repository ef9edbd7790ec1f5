"""A status that Mastodon's list lacks is absent only if the list certainly includes statuses of its visibility."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from accounts.platforms.errors import OutcomeUnknown
from accounts.platforms.mastodon.adapter import Mastodon
from accounts.platforms.types import Content, Grant, MissingFromListProof, NotPublishedProof, Progress, Published
from tests.accounts.platforms.mastodon.scripted_server import ALICE, ScriptedServer
from tests.accounts.platforms.mastodon.steps import BEGUN, find, go_to, image, post, step
from tests.accounts.platforms.mastodon.test_find import lose_response, status
from tests.fakes.http_server import Answer
from tests.fakes.mastodon import FakeMastodon
from tests.fakes.mastodon_methods import CREATE, LIST, SOURCE, VERIFY

hidden = pytest.mark.parametrize("visibility", ["private", "direct"])


def assert_outcome_unknown(mastodon: Mastodon, grant: Grant, content: Content, progress: Progress) -> None:
    with pytest.raises(OutcomeUnknown) as caught:
        find(mastodon, grant, content, progress)
    assert caught.value.final


@hidden
@pytest.mark.parametrize("published", [True, False])
@pytest.mark.parametrize("files", [0, 1])
def test_a_private_status_is_unknown_if_the_server_lists_none(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant, visibility: str, published: bool, files: int
) -> None:
    server.list_no_private()
    for older in ("public", visibility):
        server.post("alice", "Before", visibility=older)
    content = post("" if files else "Hello", *[image()] * files, visibility=visibility)
    progress = lose_response(mastodon, server, grant, content, published=published)

    assert_outcome_unknown(mastodon, grant, content, progress)


@hidden
def test_a_private_status_is_absent_if_the_server_lists_others(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant, visibility: str
) -> None:
    content = post("Hello", visibility=visibility)
    progress = lose_response(mastodon, server, grant, content, published=False)
    assert_outcome_unknown(mastodon, grant, content, progress)

    server.post("alice", "Something else", visibility="private" if visibility == "direct" else "direct")
    assert_outcome_unknown(mastodon, grant, content, progress)

    seen = server.post("alice", "Another", visibility=visibility)
    absent = find(mastodon, grant, content, progress)
    assert isinstance(absent, NotPublishedProof)
    assert isinstance(absent.proof, MissingFromListProof)
    assert seen in absent.proof.kind_evidence


@pytest.mark.parametrize("lists_private", [True, False])
@pytest.mark.parametrize("visibility", ["public", "unlisted"])
def test_a_public_status_that_is_not_in_the_list_is_absent(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant, visibility: str, lists_private: bool
) -> None:
    if not lists_private:
        server.list_no_private()
    content = post("Hello", visibility=visibility)
    progress = lose_response(mastodon, server, grant, content, published=False)

    assert isinstance(find(mastodon, grant, content, progress), NotPublishedProof)
    step(mastodon, grant, content, progress)
    assert isinstance(find(mastodon, grant, content, progress), Published)


@pytest.mark.parametrize(
    ("setting", "is_public"), [("public", True), ("unlisted", True), ("private", False), ("direct", False), (None, False)]
)
def test_a_status_that_names_no_visibility_has_the_accounts_own(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant, setting: str | None, is_public: bool
) -> None:
    server.list_no_private()
    server.default_visibility("alice", setting)
    progress = lose_response(mastodon, server, grant, post(), published=False)

    if is_public:
        assert isinstance(find(mastodon, grant, post(), progress), NotPublishedProof)
    else:
        assert_outcome_unknown(mastodon, grant, post(), progress)


@pytest.mark.parametrize("sent", [0, 1, 2])
@pytest.mark.parametrize("published", [True, False])
def test_no_segment_of_a_private_thread_is_sent_again_if_the_list_has_none(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant, sent: int, published: bool
) -> None:
    server.list_no_private()
    content = post("One", thread=[{"text": "Two"}, {"text": "Three"}], visibility="private")
    progress = go_to("create", mastodon, grant, content)
    for _ in range(sent):
        following = step(mastodon, grant, content, progress)
        assert isinstance(following, Progress)
        progress = following
    server.drop_next(CREATE, after_accept=published)
    with pytest.raises(OutcomeUnknown):
        step(mastodon, grant, content, progress)

    assert_outcome_unknown(mastodon, grant, content, progress)


@pytest.mark.parametrize("visibility", ["public", "private"])
def test_a_segment_in_the_list_proves_that_the_next_one_is_absent(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant, visibility: str
) -> None:
    content = post("One", thread=[{"text": "Two"}], visibility=visibility)
    progress = step(mastodon, grant, content, go_to("create", mastodon, grant, content))
    assert isinstance(progress, Progress)

    assert isinstance(find(mastodon, grant, content, progress), NotPublishedProof)

    server.delete(server.statuses("alice")[0]["id"])
    assert_outcome_unknown(mastodon, grant, content, progress)


def test_an_empty_list_proves_nothing_if_the_account_had_posts(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant
) -> None:
    before = server.post("alice", "Before")
    progress = lose_response(mastodon, server, grant, post(), published=False)
    assert isinstance(find(mastodon, grant, post(), progress), NotPublishedProof)

    server.delete(before)

    assert_outcome_unknown(mastodon, grant, post(), progress)


def test_a_pinned_status_at_the_top_does_not_end_the_list(
    mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant
) -> None:
    scripted.answers[LIST] = Answer.of_json([status("3", "<p>Pinned</p>"), status("10", "<p>Other</p>")])

    with pytest.raises(OutcomeUnknown, match="too many newer posts"):  # the pages go on, and repeat themselves
        find(mastodon, scripted_grant, post(), BEGUN)


@pytest.mark.parametrize("source", [None, "public", {}, {"privacy": None}])
def test_the_outcome_is_unknown_if_the_server_does_not_name_the_default_visibility(
    mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant, source: Any
) -> None:
    scripted.answers |= {LIST: Answer.of_json([status("5", "")]), VERIFY: Answer.of_json({**ALICE, "source": source})}

    assert_outcome_unknown(mastodon, scripted_grant, post(), BEGUN)
    assert isinstance(find(mastodon, scripted_grant, post(visibility="public"), BEGUN), NotPublishedProof)


def test_a_segment_without_its_parent_leaves_the_outcome_unknown(
    mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant
) -> None:
    content = post("One", thread=[{"text": "Two"}])
    progress = replace(BEGUN, segments=("7",))
    scripted.answers[LIST] = Answer.of_json([status("8", "<p>Two</p>"), status("7", "<p>One</p>")])

    assert_outcome_unknown(mastodon, scripted_grant, content, progress)


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
    ids=["a link cut short", "tags removed", "tags removed, without a source"],
)
def test_a_text_that_the_server_has_changed_leaves_the_outcome_unknown(
    mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant, text: str, html: str, source: str | None
) -> None:
    scripted.answers[LIST] = Answer.of_json([status("10", html), status("5", "")])
    if source is not None:
        scripted.answers[SOURCE] = Answer.of_json({"id": "10", "text": source, "spoiler_text": ""})

    assert_outcome_unknown(mastodon, scripted_grant, post(text), BEGUN)
