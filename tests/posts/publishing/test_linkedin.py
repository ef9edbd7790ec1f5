"""LinkedIn from the API to the post: the choice among several pages, and first comments that fail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import reverse
from pytest_django import Settings

from billing import selectors as billing
from tests.accounts.oauth_calls import Granted, begin, complete
from tests.conftest import ApiClient
from tests.fakes.http_server import Answer
from tests.fakes.linkedin import FakeLinkedIn
from tests.fakes.linkedin_methods import COMMENT, CREATE
from tests.fakes.linkedin_oauth import PAGES_CLIENT_ID, PAGES_CLIENT_SECRET
from tests.media.pictures import jpeg, png
from tests.posts.rows import publish_rounds, read
from workspaces.models import Workspace

PAGE = "urn:li:organization:2414183"
REFUSED = Answer.of_json({"status": 403, "message": "Not enough permissions to access: socialActions.CREATE"}, 403)


@pytest.fixture
def server(settings: Settings) -> Iterator[FakeLinkedIn]:
    with FakeLinkedIn() as running:
        running.register_redirect(settings.BASE_URL + reverse("connect-callback"))
        running.add_member("Alice", pages={"2414183": "Acme", "5": "Other"})
        settings.PLATFORM_SETTINGS = {
            "LINKEDIN_PAGES_CLIENT_ID": PAGES_CLIENT_ID,
            "LINKEDIN_PAGES_CLIENT_SECRET": PAGES_CLIENT_SECRET,
            "LINKEDIN_API_BASE": running.url,
            "LINKEDIN_AUTH_BASE": running.url,
        }
        yield running


@pytest.fixture
def page(api: ApiClient, workspace: Workspace, server: FakeLinkedIn, clock: Any) -> str:
    """The id of the page's account."""
    begun = begin(api, workspace, platform="linkedin").json()
    brought = Granted(begun["state"], server.grant(begun["authorization_url"], "Alice"))
    assert [each["handle"] for each in complete(api, brought).json()["choices"]] == ["acme", "other"]
    return str(complete(api, brought, choice=PAGE).json()["account"]["id"])


@pytest.fixture(autouse=True)
def _books_balance(db: None) -> Any:
    yield
    assert billing.find_wrong_month_counters() == []


def post(api: ApiClient, account_id: str, *files: tuple[str, bytes], **options: Any) -> dict[str, Any]:
    media = []
    for filename, content in files:
        answer = api.upload(content, filename=filename, alt_text="A bench")
        assert answer.status_code == 201, answer.content
        media.append({"media_id": answer.json()["media"]["id"]})
    target = {"platform": "linkedin", "connected_account_id": account_id, "options": options}
    answer = api.post("/posts", {"text": "Hello (all) #one", "targets": [target], "media": media})
    assert answer.status_code == 201, answer.content
    return dict(answer.json()["post_group"])


def target_of(api: ApiClient, group: dict[str, Any]) -> dict[str, Any]:
    [target] = read(api, group)["targets"]
    return dict(target)


def test_a_post_with_media_and_comment_is_published_to_a_page(
    api: ApiClient, server: FakeLinkedIn, page: str, clock: Any
) -> None:
    files = [("a.jpg", jpeg()), ("b.png", png())]
    group = post(api, page, *files, first_comment="More: https://example.com/a_b")

    publish_rounds(clock)

    target, [made] = target_of(api, group), server.posts(PAGE)
    assert (target["status"], target["error"], target["external_id"]) == ("published", None, made["urn"])
    assert (made["text"], made["media"]) == ("Hello (all) #one", [content for _, content in files])
    assert [text for _, text in made["comments"]] == ["More: https://example.com/a_b"]


@pytest.mark.parametrize("fault", ["refused", "dropped"])
def test_a_post_stays_published_if_its_comment_fails(
    api: ApiClient, server: FakeLinkedIn, page: str, clock: Any, fault: str
) -> None:
    group = post(api, page, first_comment="First!")
    if fault == "refused":
        server.refuse_next(COMMENT, REFUSED)
    else:
        server.drop_next(COMMENT)

    publish_rounds(clock)

    target, [made] = target_of(api, group), server.posts(PAGE)
    assert (target["status"], target["external_id"]) == ("published", made["urn"])
    assert target["error"]["code"] == "PUBLISHED_INCOMPLETE"
    assert "comment" in target["error"]["message"]
    assert (server.requests_to(CREATE), server.requests_to(COMMENT)) == (1, 1)
    assert api.get(f"/accounts/{page}/status").json()["account"]["status"] == "active"
