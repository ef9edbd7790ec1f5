"""Link cards in the composer's previews: what the linked page says, read after the preview is shown, and within limits."""

from __future__ import annotations

import base64
import html as markup
import io
import re
from collections.abc import Iterator
from typing import Any

import pytest
from PIL import Image
from pytest_django import Settings

from accounts.models import ConnectedAccount
from config.api.caller import system_caller
from posts.services import linked_pages
from tests.factories import AccountFactory, WorkspaceFactory
from tests.fakes.http_server import Answer, RawAnswer
from tests.fakes.web_pages import WebPages, html, open_graph, picture
from tests.posts.dashboard.dashboard import Dashboard, the_group, words
from tests.posts.dashboard.test_composer_tabs import preview_of
from workspaces.models import Member, User, Workspace

BREAD = open_graph("All about <b>bread", "How we bake it", "/oven.png")


@pytest.fixture
def web() -> Iterator[WebPages]:
    with WebPages() as server:
        server.put("/bread", html(BREAD))
        server.put("/oven.png", Answer(200, picture(1600, 800), {"Content-Type": "image/png"}))
        yield server


def address_of_card(preview: str) -> str:
    """The address at which a preview's card is completed; empty if there is none."""
    found = re.search(r'hx-get="([^"]*)"', preview)
    return markup.unescape(found[1]) if found else ""


def address_for(dashboard: Dashboard, account: ConnectedAccount, url: str) -> str:
    return address_of_card(preview_of(dashboard.compose("check", account, text=f"See {url}"), account))


def with_options(dashboard: Dashboard, account: ConnectedAccount, text: str, **options: Any) -> str:
    """The preview of a post with options that the form does not show."""
    dashboard.compose("save", account, text=text)
    group = the_group()
    group.targets.update(options=options)
    return preview_of(dashboard.get("post-edit", group), account)


@pytest.mark.parametrize("platform", ["bluesky", "mastodon", "x", "threads", "telegram"])
def test_a_card_shows_what_the_page_says(dashboard: Dashboard, workspace: Workspace, web: WebPages, platform: str) -> None:
    account = AccountFactory(workspace=workspace, platform=platform)
    address = address_for(dashboard, account, f"{web.url}/bread")
    assert web.asked == []

    card = dashboard.http.get(address)

    assert words(card) == "All about <b>bread How we bake it 127.0.0.1"
    assert address_of_card(card.content.decode()) == ""
    [shown] = re.findall(r'<img src="data:image/jpeg;base64,([^"]*)"', card.content.decode())
    with Image.open(io.BytesIO(base64.b64decode(shown))) as small:
        assert (small.format, small.size) == ("JPEG", (600, 300))


def test_a_page_is_read_once_for_a_workspace(dashboard: Dashboard, accounts: list[ConnectedAccount], web: WebPages) -> None:
    cards = {
        dashboard.http.get(address_for(dashboard, account, f"{web.url}/bread")).content
        for account in accounts
        for _ in range(2)
    }

    assert len(cards) == 1
    assert web.asked == ["/bread", "/oven.png"]
    other = WorkspaceFactory().id
    linked_pages.read_linked_page(caller=system_caller(other), workspace_id=other, url=f"{web.url}/bread")
    assert len(web.asked) == 4  # another workspace does not see what was read before


@pytest.mark.parametrize(
    ("own", "shown"),
    [
        ({"title": "Mine"}, "Mine How we bake it 127.0.0.1"),
        ({"title": "Mine", "description": "My words"}, "Mine My words 127.0.0.1"),
        ({"title": "Mine", "description": ""}, "Mine 127.0.0.1"),
    ],
)
def test_a_title_and_a_description_of_the_post_win(
    dashboard: Dashboard, account: ConnectedAccount, web: WebPages, own: dict[str, str], shown: str
) -> None:
    preview = with_options(dashboard, account, "Hello", link_card={"url": f"{web.url}/bread", **own})
    assert "<strong>Mine</strong>" in preview

    card = dashboard.http.get(address_of_card(preview))

    assert words(card) == shown
    assert "<img" in card.content.decode()


def test_a_card_that_the_post_describes_alone_reads_no_page(
    dashboard: Dashboard, workspace: Workspace, web: WebPages
) -> None:
    account = AccountFactory(workspace=workspace, platform="linkedin")
    article = {"url": f"{web.url}/bread", "title": "Mine", "description": "My words"}

    preview = with_options(dashboard, account, "See https://example.com", article=article)

    assert "<strong>Mine</strong>" in preview
    assert "My words" in preview
    assert address_of_card(preview) == ""


def test_facebook_makes_a_card_of_the_link_in_the_options(dashboard: Dashboard, workspace: Workspace, web: WebPages) -> None:
    account = AccountFactory(workspace=workspace, platform="facebook")

    preview = with_options(dashboard, account, "See https://example.com", link=f"{web.url}/bread")

    assert f"Facebook adds a card of {web.url}/bread" in preview
    assert "All about" in words(dashboard.http.get(address_of_card(preview)))


@pytest.mark.parametrize(
    ("platform", "options"),
    [
        ("telegram", {"link_preview": False}),
        ("discord", {"suppress_embeds": True}),
        ("slack", {"unfurl_links": False}),
        ("bluesky", {"link_card": "none"}),
        ("linkedin", {}),
        ("facebook", {}),
    ],
)
def test_a_post_without_a_card_shows_none(
    dashboard: Dashboard, workspace: Workspace, platform: str, options: dict[str, Any]
) -> None:
    account = AccountFactory(workspace=workspace, platform=platform)

    assert "link-card" not in with_options(dashboard, account, "See https://example.com", **options)


@pytest.mark.parametrize("fault", ["slow", "gone", "not a page", "nothing said", "internal", "endless redirect"])
def test_a_page_that_cannot_be_read_leaves_the_plain_card(
    dashboard: Dashboard,
    account: ConnectedAccount,
    web: WebPages,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
) -> None:
    answers: dict[str, Answer | RawAnswer] = {
        "slow": web.slow(),
        "gone": Answer(404, BREAD, {"Content-Type": "text/html"}),
        "not a page": html(BREAD, "application/pdf"),
        "nothing said": html(b"<p>Hello</p>"),
        "internal": Answer(302, b"", {"Location": "http://169.254.169.254/latest/meta-data/"}),
        "endless redirect": Answer(302, b"", {"Location": "/bread"}),
    }
    url = web.put("/bread", answers[fault])
    monkeypatch.setattr(linked_pages, "READ_SECONDS", 0.5)

    asked = []
    for _ in range(2):
        card = dashboard.http.get(address_for(dashboard, account, url))
        asked.append(len(web.asked))
        assert (card.status_code, words(card)) == (200, f"127.0.0.1 With a link card of {url}")
        assert address_of_card(card.content.decode()) == ""
    assert asked[0] == asked[1] > 0  # a failure is kept, too


def test_only_the_beginning_of_a_huge_page_is_read(dashboard: Dashboard, account: ConnectedAccount, web: WebPages) -> None:
    url = web.put("/huge", html(open_graph("Long", "Longer", "/huge.png") + b"x" * 3_000_000))
    web.put("/huge.png", Answer(200, picture() + bytes(6_000_000), {"Content-Type": "image/png"}))

    card = dashboard.http.get(address_for(dashboard, account, url))

    assert words(card) == "Long Longer 127.0.0.1"
    assert "<img" not in card.content.decode()


def test_an_internal_address_is_not_requested(
    dashboard: Dashboard, account: ConnectedAccount, web: WebPages, settings: Settings
) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = False

    card = dashboard.http.get(address_for(dashboard, account, f"{web.url}/bread"))

    assert words(card) == f"127.0.0.1 With a link card of {web.url}/bread"
    assert web.asked == []


def test_a_card_waits_a_little_while_the_workspace_reads_another_page(
    dashboard: Dashboard, account: ConnectedAccount, web: WebPages
) -> None:
    address = address_for(dashboard, account, f"{web.url}/bread")
    with linked_pages.page_thread_limit.hold_thread(dashboard.workspace.id):
        busy = dashboard.http.get(address).content.decode()
        assert 'hx-trigger="load delay:2s"' in busy
        again = address_of_card(busy)
        for _ in range(4):
            address = address_of_card(dashboard.http.get(address).content.decode())
        assert address_of_card(dashboard.http.get(address).content.decode()) == ""  # it gives up
    assert web.asked == []

    assert "All about" in words(dashboard.http.get(again))


def test_a_workspace_reads_only_so_many_pages_in_a_minute(
    dashboard: Dashboard, account: ConnectedAccount, web: WebPages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linked_pages, "PAGES_PER_MINUTE", 2)
    urls = [web.put(path, html(open_graph(path))) for path in ("/one", "/two", "/three")]

    shown = [words(dashboard.http.get(address_for(dashboard, account, url))) for url in urls]

    assert shown == ["/one 127.0.0.1", "/two 127.0.0.1", f"127.0.0.1 With a link card of {urls[2]}"]
    assert web.asked == ["/one", "/two"]


def test_cards_are_for_members_who_write(
    dashboard: Dashboard, account: ConnectedAccount, web: WebPages, teammate: User, stranger: User, workspace: Workspace
) -> None:
    address = address_for(dashboard, account, f"{web.url}/bread")
    Member.objects.filter(user=teammate).update(role="member")

    assert Dashboard(workspace, stranger).http.get(address).status_code == 404
    assert Dashboard(workspace, teammate).http.get(address).status_code == 403
    assert Dashboard(workspace, None).http.get(address).status_code == 302
    assert web.asked == []


def test_only_cards_of_the_workspaces_previews_are_completed(
    dashboard: Dashboard, account: ConnectedAccount, web: WebPages, stranger: User
) -> None:
    path, _, token = address_for(dashboard, account, f"{web.url}/bread").partition("?card=")
    foreign = Member.objects.filter(user=stranger).values_list("workspace_id", flat=True).get()
    elsewhere = path.replace(dashboard.workspace.id, foreign)

    assert dashboard.http.get(path).status_code == 404
    assert dashboard.http.get(path, {"card": token[:-1] + ("a" if token[-1] != "a" else "b")}).status_code == 404
    assert Dashboard(dashboard.workspace, stranger).http.get(elsewhere, {"card": token}).status_code == 404
    assert web.asked == []
