"""Actions on several posts that are chosen in the list: a preview of each, then all of it, and the undo."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from posts.models import PostGroup, PostTarget
from tests.conftest import ApiClient
from tests.factories import MediaAssetFactory
from tests.posts.dashboard.dashboard import Dashboard, fields, words
from tests.posts.media_rows import media_of
from tests.posts.rows import TOMORROW, create, group_with_target
from workspaces.models import User, Workspace


@pytest.fixture
def waiting(dashboard: Dashboard, workspace: Workspace) -> list[PostGroup]:
    """Five posts that await approval for the next day."""
    at = datetime.fromisoformat(TOMORROW)
    return [group_with_target(workspace, at, "pending_confirmation", text=f"Number {number}") for number in range(5)]


def statuses() -> list[str]:
    return list(PostGroup.objects.order_by("pk").values_list("status", flat=True))


def times() -> list[str]:
    found = PostGroup.objects.order_by("pk").values_list("scheduled_at", flat=True)
    return [f"{each:%d %H:%M}" if each else "" for each in found]


def confirm(dashboard: Dashboard, preview: Any, **form: Any) -> Any:
    """Press the button of a preview, with all posts that it has checked."""
    names = ("action", "back", "shown", "when", "days", "hours")
    sent: dict[str, Any] = {name: fields(preview, name)[0] for name in names if fields(preview, name)}
    sent = {"when": "", **sent, "post": fields(preview, "post"), "confirm": "yes", **form}
    return dashboard.http.post(dashboard.address("posts-chosen"), sent, follow=True, headers={"referer": "/dashboard/x"})


def undo(dashboard: Dashboard, page: Any) -> Any:
    address = re.findall(r'<form method="post" action="([^"]*/undo\?[^"]*)"', page.content.decode())[0]
    return dashboard.http.post(address.replace("&amp;", "&"), follow=True)


def test_five_posts_are_approved_with_three_clicks_from_home(dashboard: Dashboard, waiting: list[PostGroup]) -> None:
    page = dashboard.get("approvals")  # the first click, in the menu of the home page
    [form] = re.findall(r'<form method="post" action="[^"]*/posts/chosen">.*?</form>', page.content.decode(), re.S)
    preview = dashboard.post("posts-chosen", action="approve", post=re.findall(r'value="(pgr_[^"]*)"', form))
    assert "5 posts will be approved" in words(preview)
    assert "Scheduled for Thu 11 Mar 2027, 12:00" in words(preview)

    done = confirm(dashboard, preview)

    assert "5 posts approved." in words(done)
    assert statuses() == ["scheduled"] * 5
    assert AuditEntry.objects.filter(operation="posts.confirm", outcome="succeeded").count() == 5

    undone = undo(dashboard, done)
    assert "Undone for 5 posts." in words(undone)
    assert statuses() == ["pending_confirmation"] * 5


def test_a_preview_shows_the_pictures_of_the_accounts(dashboard: Dashboard, waiting: list[PostGroup]) -> None:
    [target] = waiting[0].targets.all()
    ConnectedAccount.objects.filter(pk=target.account_id).update(avatar_digest="0123456789abcdef", handle="@bakery")
    preview = dashboard.post("posts-chosen", action="approve", post=[waiting[0].id]).content.decode()
    assert f'/accounts/{target.account_id}/avatar/0123456789abcdef" alt="@bakery"' in preview
    assert f'<symbol id="mark-{target.platform}"' in preview


def test_a_preview_changes_nothing_and_says_what_cannot_be_done(dashboard: Dashboard, waiting: list[PostGroup]) -> None:
    draft = group_with_target(dashboard.workspace, None, "draft", text="A draft")
    preview = dashboard.post("posts-chosen", action="approve", post=[waiting[0].id, draft.id])

    assert "1 post will be approved" in words(preview)
    assert "1 cannot be approved" in words(preview)
    assert "It does not await approval." in words(preview)
    assert fields(preview, "post") == [f"{waiting[0].id} 1"]
    assert statuses() == [*["pending_confirmation"] * 5, "draft"]


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("Short", {"text": "An own text"}),
        ("Short", {"options": {"thread": [{"text": "And then"}]}}),
        ("Short", {"options": {"first_comment": "And then"}}),
        ("x" * 1001, {}),
    ],
)
def test_a_post_with_more_than_is_shown_is_approved_only_on_its_page(
    dashboard: Dashboard, waiting: list[PostGroup], text: str, own: dict[str, Any]
) -> None:
    PostGroup.objects.filter(pk=waiting[0].id).update(text=text)
    PostTarget.objects.filter(group=waiting[0]).update(**own)
    preview = dashboard.post("posts-chosen", action="approve", post=[each.id for each in waiting])

    assert "1 cannot be approved" in words(preview)
    assert "It has more than is shown here. Open it to read it all, and approve it there." in words(preview)
    assert f'href="{dashboard.address("post", waiting[0])}"' in preview.content.decode()

    done = confirm(dashboard, preview, post=[f"{each.id} 1" for each in waiting])
    assert "4 posts approved." in words(done)
    assert PostGroup.objects.get(pk=waiting[0].id).status == "pending_confirmation"


def test_a_preview_shows_the_number_of_files(dashboard: Dashboard, waiting: list[PostGroup]) -> None:
    pictures = [MediaAssetFactory(workspace=dashboard.workspace) for _ in range(2)]
    PostGroup.objects.filter(pk=waiting[0].id).update(media=media_of(*pictures))
    preview = dashboard.post("posts-chosen", action="approve", post=[waiting[0].id])

    assert "2 files · Scheduled for" in words(preview)


def test_a_post_that_was_changed_after_the_preview_is_refused_alone(dashboard: Dashboard, waiting: list[PostGroup]) -> None:
    preview = dashboard.post("posts-chosen", action="approve", post=[each.id for each in waiting])
    PostGroup.objects.filter(pk=waiting[1].id).update(content_version=2, text="Another text")

    done = confirm(dashboard, preview)

    assert "4 posts approved." in words(done)
    assert "1 post was not approved. Somebody has changed the post since you read it." in words(done)
    assert statuses().count("scheduled") == 4
    assert PostGroup.objects.get(pk=waiting[1].id).status == "pending_confirmation"


@pytest.mark.parametrize(
    ("sent", "moved"),
    [
        ({"when": "2027-03-12T08:30"}, ["12 08:30", "12 08:30"]),
        ({"when": "", "days": "2"}, ["13 12:00", "13 12:00"]),
        ({"when": "", "days": "-1", "hours": "5"}, ["10 17:00", "10 17:00"]),
    ],
)
def test_posts_are_moved_and_moved_back(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount, sent: dict[str, Any], moved: list[str]
) -> None:
    groups = [create(api, account, text=f"Number {number}", scheduled_at=TOMORROW) for number in range(2)]
    chosen = [each["id"] for each in groups]
    first = dashboard.post("posts-chosen", action="move", post=chosen)
    assert 'name="confirm"' not in first.content.decode()
    preview = dashboard.post("posts-chosen", action="move", post=chosen, **sent)
    assert "2 posts will be moved" in words(preview)
    assert "Thu 11 Mar 2027, 12:00 →" in words(preview)
    assert times() == ["11 12:00", "11 12:00"]

    done = confirm(dashboard, preview)
    assert times() == moved

    assert "Undone for 2 posts." in words(undo(dashboard, done))
    assert times() == ["11 12:00", "11 12:00"]


def test_days_keep_the_time_of_day_when_clocks_change(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount
) -> None:
    Workspace.objects.update(default_timezone="Europe/Berlin")  # clocks are set forward on 28 March 2027
    group = create(api, account, scheduled_at="2027-03-27T11:00:00Z")
    preview = dashboard.post("posts-chosen", action="move", post=[group["id"]], when="", days="1")
    confirm(dashboard, preview)
    assert times() == ["28 10:00"]


def test_another_time_than_the_shown_one_is_shown_first(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount
) -> None:
    group = create(api, account, scheduled_at=TOMORROW)
    preview = dashboard.post("posts-chosen", action="move", post=[group["id"]], when="", days="1")
    again = confirm(dashboard, preview, days="3")
    assert "Thu 11 Mar 2027, 12:00 → Sun 14 Mar 2027, 12:00" in words(again)
    assert times() == ["11 12:00"]


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        ({"when": "2027-03-09T12:00"}, "This time has passed."),
        ({"when": "", "days": "-3"}, "This time has passed."),
        ({"when": "2027-03-12T12:00", "days": "1"}, "Enter either a day and time, or"),
        ({"when": ""}, "Enter either a day and time, or"),
        ({"when": "yesterday"}, "Enter a date and time"),
        ({"when": "", "days": "1000000"}, "366"),
    ],
)
def test_times_that_are_impossible_are_refused(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount, sent: dict[str, Any], reason: str
) -> None:
    group = create(api, account, scheduled_at=TOMORROW)
    page = dashboard.post("posts-chosen", action="move", post=[group["id"]], confirm="yes", shown="x", **sent)
    assert reason in words(page)
    assert times() == ["11 12:00"]


def test_posts_are_cancelled_and_scheduled_again(dashboard: Dashboard, api: ApiClient, account: ConnectedAccount) -> None:
    for number in range(3):
        create(api, account, text=f"Number {number}", scheduled_at=TOMORROW)
    PostGroup.objects.filter(text="Number 2").update(agent_id="agt_1")
    preview = dashboard.post("posts-chosen", action="cancel", post=[each.id for each in PostGroup.objects.all()])

    done = confirm(dashboard, preview)

    assert statuses() == ["cancelled"] * 3
    assert "3 posts cancelled." in words(done)
    address = re.findall(r'action="([^"]*/undo\?[^"]*)"', done.content.decode())[0].replace("&amp;", "&")
    assert "Undone for 3 posts." in words(dashboard.http.post(address, follow=True))
    assert statuses() == ["scheduled"] * 3
    assert PostGroup.objects.get(text="Number 2").agent_id == "agt_1"
    assert "This can no longer be undone." in words(dashboard.http.post(address, follow=True))
    assert statuses() == ["scheduled"] * 3


@pytest.mark.parametrize(("number", "reason"), [(0, "Choose some posts first."), (101, "Choose up to 100 posts.")])
def test_the_number_of_posts_is_limited(dashboard: Dashboard, number: int, reason: str) -> None:
    dashboard.post("posts-chosen", action="cancel", post=[f"pgr_{place}" for place in range(number)])
    assert reason in words(dashboard.get("posts"))


def test_posts_of_another_workspace_are_out_of_reach(dashboard: Dashboard, waiting: list[PostGroup], stranger: User) -> None:
    other = Workspace.objects.create(name="X", slug="x", owner_user=stranger)
    foreign = group_with_target(other, datetime.fromisoformat(TOMORROW))
    dashboard.post("posts-chosen", action="cancel", post=[foreign.id])
    dashboard.post("posts-chosen", action="cancel", post=[foreign.id], confirm="yes")
    assert PostGroup.objects.get(pk=foreign.id).status == "scheduled"
    assert dashboard.post("posts-chosen", action="delete", post=[waiting[0].id]).status_code == 303


def test_the_list_chooses_all_posts_without_scripts(dashboard: Dashboard, waiting: list[PostGroup]) -> None:
    page = dashboard.get("posts", all="1", status="pending_confirmation")
    assert page.content.decode().count(" checked>") == 5
    assert fields(page, "back") == ["status=pending_confirmation"]
    assert " checked>" not in dashboard.get("posts").content.decode()


def test_a_post_is_duplicated_from_the_list(dashboard: Dashboard, api: ApiClient, accounts: list[ConnectedAccount]) -> None:
    group = create(api, *accounts[:2], text="Copy me", scheduled_at=TOMORROW)
    page = dashboard.get("posts").content.decode()
    [address] = re.findall(r'formaction="([^"]*)"', page)
    [key] = re.findall(r'name="key" value="([^"]*)"', page)

    composer = dashboard.http.post(address, {"key": key}, follow=True)

    draft = PostGroup.objects.exclude(pk=group["id"]).get()
    assert composer.redirect_chain[0][0] == dashboard.address("post-edit", draft)
    assert (draft.status, draft.text, draft.scheduled_at) == ("draft", "Copy me", None)
    assert {each.account_id for each in draft.targets.all()} == {each.id for each in accounts[:2]}
