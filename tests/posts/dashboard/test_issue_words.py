"""What is wrong with a post is said in sentences for people, for every platform."""

from __future__ import annotations

import re
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from accounts.platforms.registry import PLATFORMS, get_adapter
from tests.conftest import ApiClient
from tests.factories import AccountFactory, MediaAssetFactory
from tests.posts.dashboard.dashboard import Dashboard, words
from tests.posts.media_rows import media_of
from workspaces.models import Workspace

TOO_MUCH = "word #tag @name $CASH http://example.com/a <b> " * 2000
# What the API says, and people do not.
API_WORDS = re.compile(
    r"graphemes|utf16|weighted|characters_emoji_bytes|code points|needs_reauth|POST /|targets\[|media\[|pgr_|_\w+:"
    rf"|\b({'|'.join(PLATFORMS)}) (takes|refuses|recommends|shows)"
)


def issues_on(page: Any) -> list[str]:
    """The text of each issue on the composer's page."""
    found = re.findall(r'<li class="(?:error|warning)">(.*?)</li>', page.content.decode(), re.DOTALL)
    return [" ".join(re.sub(r"<[^>]+>", " ", each).split()) for each in found]


@pytest.mark.parametrize("name", PLATFORMS)
def test_no_issue_uses_words_of_the_api(dashboard: Dashboard, workspace: Workspace, api: ApiClient, name: str) -> None:
    account = AccountFactory(workspace=workspace, platform=name)
    files = [
        MediaAssetFactory(workspace=workspace, kind="document", mime_type="application/pdf", size_bytes=10**10),
        MediaAssetFactory(workspace=workspace, size_bytes=10**9, width=30_000, height=400, alt_text="x" * 9000),
        MediaAssetFactory(workspace=workspace, kind="video", mime_type="video/webm", duration_ms=10**8, size_bytes=10**11),
        MediaAssetFactory(workspace=workspace, kind="video", mime_type="video/mp4", duration_ms=10, size_bytes=10),
        *(MediaAssetFactory(workspace=workspace, alt_text="") for _ in range(16)),
    ]
    poll = {"choices": ["", "x" * 300, "x", "x", *map(str, range(20))], "duration_minutes": 7}
    thread = [{"text": ""}, {"text": "twice"}, {"text": "twice"}, {"text": TOO_MUCH}]
    options = {"poll": poll, "thread": thread, "visibility": "nowhere", "nonsense": 1}
    target = {"platform": name, "connected_account_id": account.id}
    contents: list[dict[str, Any]] = [
        {"text": TOO_MUCH, "targets": [target]},
        {"text": "", "targets": [target]},
        {"text": TOO_MUCH, "targets": [target | {"options": options}], "media": media_of(*files)},
        {"text": "x", "targets": [target | {"options": options}]},
    ]
    said: list[str] = []
    for content in contents:
        answer = api.post("/posts", content | {"draft": True})
        assert answer.status_code == 201, answer.content
        said += issues_on(dashboard.get("post-edit", answer.json()["post_group"]))

    assert said
    assert [each for each in said if API_WORDS.search(each)] == []
    assert any(get_adapter(name).label in each for each in said)


@pytest.mark.parametrize(
    ("name", "text", "sentence", "advice"),
    [
        (
            "bluesky",
            "word " * 80,
            "The text is 100 characters too long for Bluesky, which allows 300.",
            "Cuts it at a word, to at most 300 characters, for this account only.",
        ),
        ("x", "$AA and $BB", "The text has 2 cashtags; X allows only 1.", "Cuts it at a word, to at most 1 cashtags"),
        ("youtube", "ä" * 2600, "The text is too long for YouTube: it takes 5,200 of 5,000 bytes.", "5,000 bytes"),
    ],
)
def test_a_text_that_is_too_long_is_explained(
    dashboard: Dashboard, workspace: Workspace, name: str, text: str, sentence: str, advice: str
) -> None:
    account = AccountFactory(workspace=workspace, platform=name)

    shown = words(dashboard.compose("check", account, text=text))

    assert sentence in shown
    assert advice in shown


def test_an_option_that_is_missing_is_named(dashboard: Dashboard, workspace: Workspace) -> None:
    board = AccountFactory(workspace=workspace, platform="pinterest")

    assert "In the options of Pinterest: “Board” is needed." in words(dashboard.compose("check", board))


def test_a_lost_account_is_named(dashboard: Dashboard, account: ConnectedAccount) -> None:
    ConnectedAccount.objects.update(status="needs_reauth")

    assert "Bluesky does not let us in any more." in words(dashboard.compose("check", account))
