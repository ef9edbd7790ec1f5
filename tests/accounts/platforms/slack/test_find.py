"""Finding a Slack message by its files, also after a lost answer; it is never posted twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accounts.platforms.errors import OutcomeUnknown, Transient
from accounts.platforms.slack.adapter import Slack
from accounts.platforms.slack.files import MAX_CHECKS
from accounts.platforms.types import Grant, MediaFile, NotPublishedProof, Progress, Published, UploadNotPublishedProof
from tests.accounts.platforms.slack.steps import find, go_to, publish, refusal, step, with_files
from tests.fakes.slack import SHARE, Channel, FakeSlack


def test_slack_is_asked_until_it_shows_the_message(
    slack: Slack, server: FakeSlack, joined: Channel, app: Grant, image: MediaFile
) -> None:
    server.files.sharing = 2
    content = with_files(image)
    progress = go_to("settle", slack, app, content)
    assert progress.accepted

    first = step(slack, app, content, progress)
    assert isinstance(first, Progress)
    assert (first.phase, first.ready_at is not None) == ("settle", True)

    assert publish(slack, app, content, first).external_id == server.messages(joined)[0]["ts"]
    assert server.requests_to(SHARE) == 1


def test_a_message_that_slack_never_shows_leaves_the_outcome_unknown(
    slack: Slack, server: FakeSlack, app: Grant, image: MediaFile
) -> None:
    server.files.sharing = MAX_CHECKS + 10

    with pytest.raises(OutcomeUnknown, match="does not show") as caught:
        publish(slack, app, with_files(image))

    assert caught.value.final


@pytest.mark.parametrize("code", ["internal_error", "file_update_failed"])
@pytest.mark.parametrize("accepted", [True, False])
def test_an_unclear_answer_to_sharing_is_resolved_by_the_files(
    slack: Slack, server: FakeSlack, joined: Channel, app: Grant, image: MediaFile, code: str, accepted: bool
) -> None:
    content = with_files(image)
    progress = go_to("share", slack, app, content)
    server.refuse_next(SHARE, refusal(code), after_accept=accepted)

    with pytest.raises(OutcomeUnknown) as caught:
        step(slack, app, content, progress)
    found = find(slack, app, content, progress)

    assert not caught.value.final
    if accepted:
        assert isinstance(found, Published)
        assert found.external_id == server.messages(joined)[0]["ts"]
    else:
        assert found == NotPublishedProof(UploadNotPublishedProof("file_not_found"))


def test_files_that_are_not_shown_yet_are_not_shared_again(
    slack: Slack, server: FakeSlack, app: Grant, image: MediaFile
) -> None:
    server.files.sharing = 1
    content = with_files(image)
    progress = go_to("share", slack, app, content)
    step(slack, app, content, progress)

    found = find(slack, app, content, progress)

    assert isinstance(found, Progress)
    assert (found.phase, found.accepted) == ("settle", True)


def test_sharing_twice_posts_one_message(
    slack: Slack, server: FakeSlack, joined: Channel, app: Grant, image: MediaFile
) -> None:
    """Slack accepts a file once; the second call finds that the first one was accepted."""
    content = with_files(image)
    progress = go_to("share", slack, app, content)

    step(slack, app, content, progress)
    again = step(slack, app, content, progress)

    assert isinstance(again, Progress)
    assert (again.phase, len(server.messages(joined))) == ("settle", 1)


def test_discarded_uploads_are_repeated_once(
    slack: Slack, server: FakeSlack, joined: Channel, app: Grant, image: MediaFile
) -> None:
    content = with_files(image)
    progress = go_to("share", slack, app, content)
    server.files.discard()

    again = step(slack, app, content, progress)
    assert isinstance(again, Progress)
    assert again.phase == "upload"
    shared = step(slack, app, content, again)
    assert isinstance(shared, Progress)
    server.files.discard()
    with pytest.raises(Transient):
        step(slack, app, content, shared)
    assert server.messages(joined) == []

    publish(slack, app, content, again)
    assert len(server.messages(joined)) == 1


def test_discarded_uploads_are_not_repeated_after_a_lost_answer_to_sharing(
    slack: Slack, server: FakeSlack, joined: Channel, app: Grant, image: MediaFile
) -> None:
    """The earlier call may have used the uploads and show its message later."""
    content = with_files(image)
    progress = go_to("share", slack, app, content)
    server.files.discard()

    with pytest.raises(OutcomeUnknown) as caught:
        step(slack, app, replace(content, attempt=2), progress)

    assert caught.value.final
    assert server.messages(joined) == []


def test_a_deleted_file_leaves_the_outcome_unknown(slack: Slack, server: FakeSlack, app: Grant, image: MediaFile) -> None:
    content = with_files(image)
    progress = go_to("share", slack, app, content)
    step(slack, app, content, progress)
    for file in server.files.files.values():
        file.deleted = True

    with pytest.raises(OutcomeUnknown, match="file_deleted") as caught:
        find(slack, app, content, progress)

    assert caught.value.final
