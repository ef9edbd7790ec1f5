"""Composer drafts: what a person enters is saved for that person, continued, discarded, and deleted with the post."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import time_machine

from accounts.models import ConnectedAccount
from config.console.retention_run import run_retention
from media.models import MediaAsset
from posts.models import ComposerDraft, PostGroup
from posts.services.composer_drafts import MAX_DRAFTS_PER_PERSON
from tests.conftest import ApiClient
from tests.factories import MediaAssetFactory
from tests.posts.calls import patch
from tests.posts.dashboard.dashboard import Dashboard, fields, the_group, typed, words
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import create
from workspaces.models import Member, User, Workspace

KEY = "a-draft-of-the-composer"


def keep(dashboard: Dashboard, *accounts: ConnectedAccount, group: Any = None, **form: Any) -> Any:
    """Save what is entered, as the composer's script does; returns the JSON body of the answer."""
    chosen = [account.id for account in accounts]
    body = {"key": KEY, "text": "Hello", "editor": "a page", **form.pop("extra", {}), **form}
    address = dashboard.address("post-edit" if group else "compose", group)
    answer = dashboard.http.post(
        address, {"action": "keep", "account": chosen, **body}, headers={"Accept": "application/json"}
    )
    assert answer.status_code == 200, answer.content
    return answer.json()


def opened(dashboard: Dashboard, key: str = KEY, group: Any = None) -> Any:
    """The composer's page at the address of a draft."""
    return dashboard.get("post-edit" if group else "compose", group, draft=key)


def test_everything_that_was_entered_returns(
    dashboard: Dashboard, accounts: list[ConnectedAccount], workspace: Workspace
) -> None:
    bluesky, mastodon, _ = accounts
    picture = MediaAssetFactory(workspace=workspace)
    extra = {
        f"own-{mastodon.id}": "on",
        f"text-{mastodon.id}": "Only there",
        f"text-{bluesky.id}": "typed, but switched off",
        f"{mastodon.id}-visibility": "unlisted",
        f"alt-{picture.id}": "Six loaves",
    }
    said = keep(dashboard, bluesky, mastodon, text="One\r\ntwo", media=[picture.id], when="2027-03-12T09:00", extra=extra)

    assert (said["key"], said["said"]) == (KEY, "Saved 12:00")
    page = opened(dashboard)
    assert "Saved 12:00" in words(page)
    assert [typed(page, name) for name in ("text", f"text-{mastodon.id}", f"alt-{picture.id}")] == [
        "One\ntwo",
        "Only there",
        "Six loaves",
    ]
    assert typed(page, f"text-{bluesky.id}") == "typed, but switched off"
    assert (fields(page, "media"), fields(page, "when")) == ([picture.id], ["2027-03-12T09:00"])
    assert page.content.decode().count(" checked>") == 3  # two accounts, and the different text
    assert '<option value="unlisted" selected>' in page.content.decode()
    assert not PostGroup.objects.exists()


def test_an_account_that_is_chosen_again_has_its_text_and_options(
    dashboard: Dashboard, accounts: list[ConnectedAccount]
) -> None:
    bluesky, mastodon, _ = accounts
    extra = {f"own-{mastodon.id}": "on", f"text-{mastodon.id}": "Only\nthere", f"{mastodon.id}-visibility": "unlisted"}

    without = dashboard.compose("check", bluesky, extra=extra)

    assert "Only there" not in words(without)
    names = (f"own-{mastodon.id}", f"text-{mastodon.id}", f"{mastodon.id}-visibility")
    carried = {name: fields(without, name)[0] for name in names}
    assert carried == extra
    again = dashboard.compose("check", bluesky, mastodon, extra=carried)
    assert typed(again, f"text-{mastodon.id}") == "Only\nthere"


def test_a_draft_is_offered_to_its_author_only(
    dashboard: Dashboard, workspace: Workspace, teammate: User, account: ConnectedAccount, api: ApiClient
) -> None:
    Member.objects.filter(user=teammate).update(role="admin")
    keep(dashboard, account, text="Not for other eyes")

    assert "You have 1 unfinished post" in words(dashboard.get("compose"))
    assert f"/compose?draft={KEY}" in dashboard.get("compose").content.decode()
    other = Dashboard(workspace, teammate)
    for page in (other.get("compose"), opened(other), other.get("posts")):
        assert "Not for other eyes" not in page.content.decode()
    other.post("compose-discard", draft=KEY)
    assert ComposerDraft.objects.get().discarded_at is None
    assert "Not for other eyes" not in api.get("/posts/search").content.decode()


def test_an_empty_form_is_not_saved_unless_it_was_filled_in_before(dashboard: Dashboard, account: ConnectedAccount) -> None:
    assert keep(dashboard, text=" ")["said"] == ""
    assert not ComposerDraft.objects.exists()

    keep(dashboard, account, text="Something")
    assert keep(dashboard, text="")["said"] == "Saved 12:00"
    assert ComposerDraft.objects.get().text == ""


@pytest.mark.parametrize("field", ["emoji_words", "people_words"])
def test_a_search_alone_is_not_saved(dashboard: Dashboard, field: str) -> None:
    assert keep(dashboard, text="", extra={field: "ada"})["said"] == ""
    assert not ComposerDraft.objects.exists()


@pytest.mark.parametrize("action", ["publish", "save"])
def test_the_draft_is_deleted_when_the_post_is_created(dashboard: Dashboard, account: ConnectedAccount, action: str) -> None:
    keep(dashboard, account)

    dashboard.compose(action, account, key=KEY)

    assert not ComposerDraft.objects.exists()
    address = dashboard.address("post", the_group())
    assert opened(dashboard)["location"] == address  # the composer's address now leads to the post
    assert keep(dashboard, account, text="too late") == {"finished": True}
    again = dashboard.compose(action, account, key=KEY, text="A second time")
    assert again["location"] == address
    assert "Nothing was done again." in words(dashboard.http.get(address))
    assert (PostGroup.objects.count(), ComposerDraft.objects.count()) == (1, 0)


def test_a_refused_post_stays_a_draft(dashboard: Dashboard, account: ConnectedAccount) -> None:
    assert dashboard.compose("publish", account, key=KEY, text="word " * 80).status_code == 422

    assert typed(opened(dashboard), "text") == "word " * 80


def test_two_windows_do_not_overwrite_each_other(dashboard: Dashboard, account: ConnectedAccount, clock: Any) -> None:
    keep(dashboard, account, text="First", editor="one")
    [seen] = fields(opened(dashboard), "seen")
    clock.shift(60)
    keep(dashboard, account, text="First and more", editor="one", seen="")

    other = keep(dashboard, account, text="First, but different", editor="two", seen=seen)

    assert other["key"] != KEY
    assert "as a second draft, because this one was changed in another window" in other["said"]
    assert {draft.text for draft in ComposerDraft.objects.all()} == {"First and more", "First, but different"}
    again = keep(dashboard, account, text="First, but even more different", editor="two", key=other["key"])
    assert again["key"] == other["key"]


def test_without_scripts_a_button_saves_the_draft(dashboard: Dashboard, account: ConnectedAccount) -> None:
    answer = dashboard.compose("keep", account, key=KEY, text="By hand")

    assert (answer.status_code, answer["location"]) == (303, f"{dashboard.address('compose')}?draft={KEY}")
    [seen] = fields(opened(dashboard), "seen")
    assert dashboard.compose("check", account, key=KEY, text="By hand, checked", seen=seen).status_code == 200
    assert [draft.text for draft in ComposerDraft.objects.all()] == ["By hand, checked"]


def test_changes_of_a_post_are_kept_apart_from_it(dashboard: Dashboard, account: ConnectedAccount, api: ApiClient) -> None:
    group = create(api, account, draft=True)
    keep(dashboard, account, group=group, text="Better", content_version="1")

    assert the_group().text == "Hello"
    assert "You have changes to this post that are not saved in it" in words(dashboard.get("post-edit", group))
    assert typed(opened(dashboard, group=group), "text") == "Better"
    patch(api, group, text="Meanwhile")
    page = opened(dashboard, group=group)
    assert "Somebody else has changed this post since you began." in words(page)
    assert fields(page, "content_version") == ["1"]


def test_changes_of_a_post_that_was_published_meanwhile_become_a_new_post(
    dashboard: Dashboard, account: ConnectedAccount, api: ApiClient
) -> None:
    group = create(api, account, draft=True)
    keep(dashboard, account, group=group, text="Better", content_version="1")
    api.post(f"/posts/{group['id']}/confirm", {"content_version": 1})
    run_until_idle()

    answer = opened(dashboard, group=group)

    assert answer["location"] == f"{dashboard.address('compose')}?draft={KEY}"
    page = opened(dashboard)
    assert typed(page, "text") == "Better"
    assert "Here are your changes, as a new post." in words(page)


def test_a_file_that_was_deleted_meanwhile_is_named(dashboard: Dashboard, workspace: Workspace) -> None:
    picture = MediaAssetFactory(workspace=workspace)
    keep(dashboard, text="With a picture", media=[picture.id])
    MediaAsset.objects.update(status="deleted")

    page = opened(dashboard)

    assert "was deleted from the library" in words(page)
    assert fields(page, "media") == []


def test_drafts_are_limited_in_number_and_age(
    dashboard: Dashboard, clock: time_machine.Traveller, owner: User, account: ConnectedAccount
) -> None:
    for number in range(MAX_DRAFTS_PER_PERSON + 2):
        clock.shift(1)
        keep(dashboard, account, key=f"{KEY}-{number}", text=f"Number {number}")
    assert ComposerDraft.objects.count() == MAX_DRAFTS_PER_PERSON
    assert not ComposerDraft.objects.filter(key=f"{KEY}-0").exists()

    dashboard.post("compose-discard", draft=f"{KEY}-9")
    assert "Number 9 " not in words(dashboard.get("compose"))
    clock.shift(timedelta(days=2))
    keep(dashboard, account, key=f"{KEY}-8", text="Still at it")
    assert run_retention().rows["composer_drafts"] == 1
    clock.shift(timedelta(days=29))
    run_retention()
    assert [draft.text for draft in ComposerDraft.objects.all()] == ["Still at it"]
    User.objects.filter(pk=owner.pk).update(is_active=False)
    run_retention()
    assert not ComposerDraft.objects.exists()


@pytest.mark.parametrize("key", ["short", "x" * 65, "with a space in it", "null\0null\0null\0null"])
def test_a_malformed_key_is_ignored(dashboard: Dashboard, account: ConnectedAccount, key: str) -> None:
    keep(dashboard, account, text="Mine")

    assert typed(opened(dashboard, key), "text") == ""
    keep(dashboard, account, key=key, text="Other")
    assert [draft.text for draft in ComposerDraft.objects.all()] == ["Mine"]


def test_characters_that_the_database_cannot_store_are_left_out(dashboard: Dashboard, account: ConnectedAccount) -> None:
    keep(dashboard, account, text="a\0b", editor="one\0", extra={"na\0me": "value"})

    draft = ComposerDraft.objects.get()
    assert (draft.text, draft.editor, "value" in str(draft.fields)) == ("ab", "one", False)


def test_a_member_who_may_only_read_saves_nothing(workspace: Workspace, teammate: User) -> None:
    reader = Dashboard(workspace, teammate)

    page = reader.compose("keep", key=KEY, text="Hello")

    assert "read-only access" in words(page)
    assert not ComposerDraft.objects.exists()
