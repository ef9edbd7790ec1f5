"""One platform of each kind of retry safety, from the API to the post: whatever breaks in between, it is there once at the
most, and never in silence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings as project

from accounts.models import ConnectedAccount
from billing import selectors as billing
from posts.models import PostTarget
from posts.publishing.duty import publish_due
from posts.publishing.engine import LEASE
from tests.conftest import ApiClient
from tests.media.pictures import jpeg, png
from tests.posts.publishing.platform_worlds import WORLDS, World, world_of
from tests.posts.publishing.steps import begin, do, take_first_step, take_up
from tests.posts.rows import create, publish_rounds, read
from workspaces.models import Workspace

CAN_BE_ASKED = ("bluesky", "mastodon")
ATTEMPTS = len(project.PUBLISH_RETRY_SCHEDULE) + 1


@pytest.fixture(params=WORLDS)
def world(request: Any) -> Iterator[World]:
    with world_of(request.param) as made:
        yield made


@pytest.fixture
def real_account(world: World, api: ApiClient, workspace: Workspace, settings: Any) -> ConnectedAccount:
    return world.connect(api, workspace.id, settings)


@pytest.fixture
def group(api: ApiClient, real_account: ConnectedAccount, clock: Any) -> dict[str, Any]:
    """A post that is due."""
    return create(api, real_account, text="Hello, world")


@pytest.fixture(autouse=True)
def _books_balance(db: None) -> Any:
    yield
    assert billing.drift() == []


def ended(api: ApiClient, group: dict[str, Any]) -> tuple[str, str | None]:
    """The target's status and its error's code."""
    [target] = read(api, group)["targets"]
    return target["status"], (target["error"] or {}).get("code")


def test_a_post_is_published(api: ApiClient, world: World, group: dict[str, Any]) -> None:
    publish_due()

    [target] = read(api, group)["targets"]
    assert (target["status"], target["attempts"], world.accepted()) == ("published", 1, ["Hello, world"])
    assert target["external_id"]
    assert target["permalink"].startswith(("https://", world.server.url))


@pytest.mark.parametrize("fault", ["drop", 500, 503])
def test_an_answer_that_is_lost_after_the_post_was_taken(
    api: ApiClient, world: World, group: dict[str, Any], clock: Any, fault: Any
) -> None:
    if fault == "drop":
        world.server.drop_next(world.send)
    else:
        world.server.fail_next(world.send, fault, after_accept=True)

    publish_rounds(clock)

    published, unknown = ("published", None), ("unconfirmed", "PUBLISH_OUTCOME_UNKNOWN")
    assert ended(api, group) == (published if world.platform in CAN_BE_ASKED else unknown)
    assert world.accepted() == ["Hello, world"]


@pytest.mark.parametrize("sent", [True, False], ids=["after it was sent", "before it was sent"])
def test_a_worker_that_dies_in_the_middle(
    api: ApiClient, world: World, group: dict[str, Any], clock: Any, sent: bool
) -> None:
    worker = take_up()
    take_first_step(worker)
    begin(worker)
    if sent:
        do(worker)
    clock.shift(LEASE)

    publish_rounds(clock)

    if world.platform in CAN_BE_ASKED:
        assert (ended(api, group), world.accepted()) == (("published", None), ["Hello, world"])
    else:
        assert ended(api, group) == ("unconfirmed", "PUBLISH_OUTCOME_UNKNOWN")
        assert len(world.accepted()) == sent


def test_what_ends_every_worker_is_ended_itself_after_three(
    api: ApiClient, world: World, group: dict[str, Any], clock: Any
) -> None:
    for _ in range(3):
        worker = take_up()
        worker.phase = ""
        begin(worker)
        clock.shift(LEASE)

    publish_due()

    assert (ended(api, group), world.accepted()) == (("failed", "PLATFORM_UNAVAILABLE"), [])


def test_a_server_that_goes_on_failing_before_it_takes_anything_never_doubles(
    api: ApiClient, world: World, group: dict[str, Any], clock: Any
) -> None:
    for _ in range(ATTEMPTS):
        world.server.drop_next(world.send, after_accept=False)

    publish_rounds(clock)

    assert ended(api, group) == ("unconfirmed", "PUBLISH_OUTCOME_UNKNOWN")
    assert world.accepted() == []


def test_pictures_go_out_with_their_alt_texts_and_in_their_order(
    api: ApiClient, world: World, real_account: ConnectedAccount, clock: Any
) -> None:
    pictures = [("image/jpeg", jpeg(), "A bench"), ("image/png", png(), "A lathe")]
    media = [{"media_id": _uploaded(api, name, content, alt)} for name, content, alt in pictures]
    media[1]["alt_text"] = "A lathe at work"
    group = create(api, real_account, text="Two pictures", media=media)

    publish_rounds(clock)

    assert ended(api, group) == ("published", None)
    alts = [None, None] if world.platform == "telegram" else ["A bench", "A lathe at work"]
    expected = [(name, content, alt) for (name, content, _), alt in zip(pictures, alts, strict=True)]
    assert world.media() == expected
    assert PostTarget.objects.get().attempts == 1


def _uploaded(api: ApiClient, mime_type: str, content: bytes, alt_text: str) -> str:
    answer = api.upload(content, filename=f"picture.{mime_type.rpartition('/')[2]}", alt_text=alt_text)
    assert answer.status_code == 201, answer.content
    return str(answer.json()["media"]["id"])
