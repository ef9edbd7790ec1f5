"""Finding the Instagram post that an earlier attempt has published, also after workers have died at any step."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.platforms.errors import OutcomeUnknown, Transient
from accounts.platforms.instagram.adapter import Instagram
from accounts.platforms.types import Content, Grant, NotPublishedProof, Progress, Published
from tests.accounts.platforms.instagram.files import image, video
from tests.accounts.platforms.meta.steps import connect, find_post, go_to, post, step
from tests.fakes.http_server import Answer
from tests.fakes.instagram import MEDIA, OBJECT, PUBLISH, FakeInstagram

KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "image": ("image", {}),
    "reel": ("video", {}),
    "carousel": ("image video image", {}),
    "story": ("image", {"post_type": "story"}),
    "commented": ("image", {"first_comment": "More"}),
}


def content_of(server: FakeInstagram, kind: str) -> Content:
    files, options = KINDS[kind]
    media = [image(server) if each == "image" else video(server) for each in files.split()]
    return post("Hello #bread", *media, **options)


@pytest.mark.parametrize("kind", KINDS)
def test_a_post_is_published_once_although_workers_die_after_every_step(
    instagram: Instagram, server: FakeInstagram, grant: Grant, kind: str
) -> None:
    content = content_of(server, kind)
    server.process_media(checks=2)
    result: Progress | Published = Progress("start")
    while isinstance(result, Progress):
        step(instagram, grant, content, result)  # its worker dies before the result is stored
        if result.phase in instagram.irreversible:
            found = find_post(instagram, grant, content, result)
            assert not isinstance(found, NotPublishedProof)
            result = found
        else:
            result = step(instagram, grant, content, result)

    [made] = server.posts("alice")
    assert (result.external_id, result.permalink) == (made["id"], f"https://www.instagram.com/p/C{made['id']}/")
    assert len(made["files"]) == len(content.media)
    assert made["comments"] == [text for name, text in content.options.items() if name == "first_comment"]
    assert server.requests_to(PUBLISH) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_post_that_was_not_published_is_absent(
    instagram: Instagram, server: FakeInstagram, grant: Grant, kind: str
) -> None:
    content = content_of(server, kind)
    server.post("alice", "Hello #bread")
    progress = go_to("comment" if kind == "commented" else "create", instagram, grant, content)

    assert isinstance(find_post(instagram, grant, content, progress), NotPublishedProof)


@pytest.mark.parametrize("lists", ["two that fit", "cannot be read"])
def test_a_post_that_cannot_be_identified_is_published_with_a_note(
    instagram: Instagram, server: FakeInstagram, grant: Grant, lists: str
) -> None:
    content = content_of(server, "commented")
    progress = go_to("create", instagram, grant, content)
    step(instagram, grant, content, progress)
    server.post("alice", "Hello #bread") if lists == "two that fit" else server.fail_next(MEDIA)

    found = find_post(instagram, grant, content, progress)

    assert isinstance(found, Published)
    assert (found.external_id, found.permalink) == ("", "")
    assert "does not say which" in found.note


def test_unreadable_comments_leave_the_outcome_unknown(instagram: Instagram, server: FakeInstagram) -> None:
    scopes = ["instagram_business_basic", "instagram_business_content_publish"]
    grant = connect(instagram, server, scopes).grant
    content = content_of(server, "commented")
    progress = go_to("comment", instagram, grant, content)

    with pytest.raises(OutcomeUnknown) as caught:
        find_post(instagram, grant, content, progress)

    assert caught.value.final


def test_a_container_that_is_being_published_is_checked_again(
    instagram: Instagram, server: FakeInstagram, grant: Grant
) -> None:
    content = content_of(server, "image")
    progress = go_to("create", instagram, grant, content)
    server.refuse_next(OBJECT, Answer.of_json({"id": progress.state["container"], "status_code": "IN_PROGRESS"}))

    with pytest.raises(Transient, match="still publishing"):
        find_post(instagram, grant, content, progress)


@pytest.mark.parametrize("below", [100, 600])
def test_comments_are_searched_up_to_a_number_of_pages(
    instagram: Instagram, server: FakeInstagram, grant: Grant, below: int
) -> None:
    content = content_of(server, "commented")
    progress = go_to("comment", instagram, grant, content)
    assert progress.published
    for number in range(below):
        server.comment(progress.published.external_id, f"Comment {number}")
    step(instagram, grant, content, progress)

    if below > 500:
        with pytest.raises(OutcomeUnknown, match="too many comments"):
            find_post(instagram, grant, content, progress)
    else:
        assert isinstance(find_post(instagram, grant, content, progress), Published)


def test_a_published_container_that_has_expired_is_not_created_again(
    instagram: Instagram, server: FakeInstagram, grant: Grant
) -> None:
    content = content_of(server, "image")
    progress = go_to("create", instagram, grant, content)
    server.drop_next(PUBLISH)
    with pytest.raises(OutcomeUnknown):
        step(instagram, grant, content, progress)
    gone = {"message": "The media has expired.", "code": -2, "error_subcode": 2207020}
    server.refuse_next(PUBLISH, Answer.of_json({"error": gone}, 400))

    published = step(instagram, grant, content, progress)

    assert isinstance(published, Published)
    assert [made["id"] for made in server.posts("alice")] == [published.external_id]
