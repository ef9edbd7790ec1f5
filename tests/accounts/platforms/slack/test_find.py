"""Where the message with its files stands is asked of Slack, after a lost answer as well; there is never a second one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accounts.platforms.errors import OutcomeUnknown, Transient
from accounts.platforms.slack.adapter import Slack
from accounts.platforms.slack.files import MAX_LOOKS
from accounts.platforms.types import TAKEN, Absent, AskedById, Grant, MediaFile, Progress, Published
from tests.accounts.platforms.slack.steps import go_to, look, publish, step, with_files
from tests.fakes.http_server import Answer
from tests.fakes.slack import FILE_INFO, SHARE, Channel, FakeSlack


def refusal(code: str) -> Answer:
    return Answer.of_json({"ok": False, "error": code})


def test_the_message_is_waited_for_until_slack_tells_where_it_is(
    slack: Slack, server: FakeSlack, joined: Channel, app: Grant, image: MediaFile
) -> None:
    server.files.sharing = 2
    content = with_files(image)
    progress = go_to("settle", slack, app, content)
    assert progress.state[TAKEN] is True

    first = step(slack, app, content, progress)
    assert isinstance(first, Progress)
    assert (first.phase, first.ready_at is not None) == ("settle", True)

    assert publish(slack, app, content, first).external_id == server.messages(joined)[0]["ts"]
    assert server.requests_to(SHARE) == 1


def test_a_message_that_slack_never_shows_is_left_to_a_person(
    slack: Slack, server: FakeSlack, app: Grant, image: MediaFile
) -> None:
    server.files.sharing = MAX_LOOKS + 10

    with pytest.raises(OutcomeUnknown, match="does not show") as caught:
        publish(slack, app, with_files(image))

    assert caught.value.final


@pytest.mark.parametrize("fault", ["drop", "500", "internal_error", "file_update_failed"])
@pytest.mark.parametrize("taken", [True, False])
def test_an_unanswered_share_is_settled_by_its_files(
    slack: Slack, server: FakeSlack, joined: Channel, app: Grant, image: MediaFile, fault: str, taken: bool
) -> None:
    content = with_files(image)
    progress = go_to("share", slack, app, content)
    if fault == "drop":
        server.drop_next(SHARE, after_accept=taken)
    elif fault == "500":
        server.fail_next(SHARE, 500, after_accept=taken)
    else:
        server.refuse_next(SHARE, refusal(fault), after_accept=taken)

    with pytest.raises(OutcomeUnknown) as caught:
        step(slack, app, content, progress)
    found = look(slack, app, content, progress)

    assert not caught.value.final
    if taken:
        assert isinstance(found, Published)
        assert found.external_id == server.messages(joined)[0]["ts"]
    else:
        assert found == Absent(AskedById("file_not_found"))
        publish(slack, app, content, progress)
    assert len(server.messages(joined)) == 1


def test_files_that_are_not_shown_yet_are_no_reason_to_share_them_again(
    slack: Slack, server: FakeSlack, app: Grant, image: MediaFile
) -> None:
    server.files.sharing = 1
    content = with_files(image)
    progress = go_to("share", slack, app, content)
    step(slack, app, content, progress)

    found = look(slack, app, content, progress)

    assert isinstance(found, Progress)
    assert (found.phase, found.state[TAKEN]) == ("settle", True)


def test_sharing_twice_makes_one_message(
    slack: Slack, server: FakeSlack, joined: Channel, app: Grant, image: MediaFile
) -> None:
    """Slack takes a file once; the second call finds that the first one was taken."""
    content = with_files(image)
    progress = go_to("share", slack, app, content)

    step(slack, app, content, progress)
    again = step(slack, app, content, progress)

    assert isinstance(again, Progress)
    assert (again.phase, len(server.messages(joined))) == ("settle", 1)


def test_uploads_that_slack_has_discarded_are_made_again_once(
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


def test_uploads_that_are_gone_after_an_unanswered_share_are_not_made_again(
    slack: Slack, server: FakeSlack, joined: Channel, app: Grant, image: MediaFile
) -> None:
    """Slack takes the call for a file once only: the earlier call may have used the uploads up, and show its message late."""
    content = with_files(image)
    progress = go_to("share", slack, app, content)
    server.files.discard()

    with pytest.raises(OutcomeUnknown) as caught:
        step(slack, app, replace(content, attempt=2), progress)

    assert caught.value.final
    assert server.messages(joined) == []


def test_a_file_that_was_deleted_since_is_nobodys_to_tell(
    slack: Slack, server: FakeSlack, app: Grant, image: MediaFile
) -> None:
    content = with_files(image)
    progress = go_to("share", slack, app, content)
    step(slack, app, content, progress)
    for file in server.files.files.values():
        file.deleted = True

    with pytest.raises(OutcomeUnknown, match="file_deleted") as caught:
        look(slack, app, content, progress)

    assert caught.value.final


def test_a_look_that_slack_does_not_answer_is_taken_again(
    slack: Slack, server: FakeSlack, app: Grant, image: MediaFile
) -> None:
    content = with_files(image)
    progress = go_to("settle", slack, app, content)
    for answer in (Answer(503), Answer.of_json({"ok": True, "file": {"id": "F2"}}), Answer(200, b"<html>")):
        server.refuse_next(FILE_INFO, answer)
        with pytest.raises(Transient):
            step(slack, app, content, progress)

    assert isinstance(step(slack, app, content, progress), Published)
