"""What the composer inserts into a text by a button, as it works without scripts."""

from __future__ import annotations

import pytest

from accounts.models import ConnectedAccount
from tests.factories import WorkspaceFactory
from tests.posts.dashboard.dashboard import Dashboard, typed, words
from workspaces.models import Snippet, Workspace


def add_snippet(workspace: Workspace, kind: str, text: str) -> Snippet:
    return Snippet.objects.create(workspace=workspace, name=f"The {kind}", kind=kind, text=text)


def test_the_composer_lists_the_snippets_of_its_workspace(dashboard: Dashboard, workspace: Workspace) -> None:
    add_snippet(workspace, "hashtags", "#bread #rye")
    add_snippet(WorkspaceFactory(), "signature", "— Somebody else")

    page = dashboard.get("compose")

    assert "The hashtags" in words(page)
    assert 'name="action" value="insert: #bread #rye"' in page.content.decode()
    assert "Somebody else" not in page.content.decode()


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("hashtags", "Fresh bread", "Fresh bread #rye"),
        ("hashtags", "Fresh bread\n", "Fresh bread\n#rye"),
        ("hashtags", "", "#rye"),
        ("signature", "Fresh bread", "Fresh bread\n\n#rye"),
    ],
)
def test_a_snippet_is_appended_to_the_text(
    dashboard: Dashboard, workspace: Workspace, kind: str, before: str, after: str
) -> None:
    inserted = add_snippet(workspace, kind, "#rye").inserted_text.replace("\n", "\r\n")

    page = dashboard.compose(f"insert:{inserted}", text=before)

    assert typed(page, "text") == after


def test_a_snippet_is_appended_in_the_tab_that_is_open(dashboard: Dashboard, accounts: list[ConnectedAccount]) -> None:
    bluesky, mastodon, _ = accounts
    own = {f"own-{bluesky.id}": "on", f"text-{bluesky.id}": "For Bluesky"}

    page = dashboard.compose("insert: #rye", bluesky, mastodon, text="For all", tab=bluesky.id, extra=own)
    assert typed(page, "text") == "For all"
    assert typed(page, f"text-{bluesky.id}") == "For Bluesky #rye"

    page = dashboard.compose("insert: #rye", bluesky, mastodon, text="For all", tab=mastodon.id)
    assert typed(page, f"text-{mastodon.id}") == "For all #rye"
    assert f'name="own-{mastodon.id}" data-own="text-{mastodon.id}" checked' in page.content.decode()


def test_emoji_are_searched_by_name(dashboard: Dashboard) -> None:
    offered = dashboard.get("compose").content.decode()
    assert offered.count('value="insert:') > 140

    found = dashboard.compose("emoji", live=True, emoji_words="Face party").content.decode()
    assert found.count('value="insert:') == 1
    assert 'value="insert:🥳"' in found
    assert "No emoji here has this name." in dashboard.compose("emoji", live=True, emoji_words="nothing").content.decode()

    plain = dashboard.compose("emoji", emoji_words="rocket")
    assert 'value="insert:🚀"' in plain.content.decode()
    assert 'value="insert:🎉"' not in plain.content.decode()
    assert typed(dashboard.compose("insert:🚀", text="Off"), "text") == "Off🚀"
