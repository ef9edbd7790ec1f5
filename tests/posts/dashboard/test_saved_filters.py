"""Saved filters of the list of posts and of the calendar."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from posts.models import SavedFilter
from tests.posts.dashboard.dashboard import Dashboard, words
from workspaces.models import Member, User, Workspace


def save(dashboard: Dashboard, name: str, query: str, page: str = "posts") -> Any:
    return dashboard.http.post(
        dashboard.address("filter-save"),
        {"page": page, "name": name, "query": query},
        follow=True,
        headers={"referer": f"http://testserver{dashboard.address(page)}?{query}"},
    )


def test_a_filter_is_saved_shown_and_deleted(dashboard: Dashboard) -> None:
    page = save(dashboard, "  To  approve ", "status=pending_confirmation&q=&tag=spring+sale&cursor=x&all=1")
    assert "The filter is saved as “To approve”." in words(page)
    [saved] = SavedFilter.objects.all()
    assert saved.query == "tag=spring+sale&status=pending_confirmation"
    address = f"{dashboard.address('posts')}?tag=spring+sale&amp;status=pending_confirmation"
    assert f'href="{address}"' in dashboard.get("posts").content.decode()
    assert "To approve" not in words(dashboard.get("calendar"))

    save(dashboard, "To approve", "status=failed")
    assert [each.query for each in SavedFilter.objects.all()] == ["status=failed"]
    deletion = reverse("filter-delete", args=[dashboard.workspace.id, saved.pk])
    assert "The saved filter was deleted." in words(dashboard.http.post(deletion, follow=True))
    assert not SavedFilter.objects.exists()


def test_a_filter_of_the_calendar_keeps_the_view(dashboard: Dashboard) -> None:
    save(dashboard, "Week", "view=week&date=2027-03-10&platform=bluesky", page="calendar")
    assert "view=week" in SavedFilter.objects.get().query
    assert "date" not in SavedFilter.objects.get().query
    assert "Week" in words(dashboard.get("calendar"))


@pytest.mark.parametrize(
    ("name", "query", "reason"),
    [
        ("", "q=x", "Enter a name of up to 40 characters."),
        ("x" * 41, "q=x", "Enter a name of up to 40 characters."),
        ("Long", f"q={'x' * 1001}", "Enter a name of up to 40 characters."),
        ("None", "view=week&q=", "Choose a filter and press Show first."),
    ],
)
def test_what_is_no_filter_is_refused(dashboard: Dashboard, name: str, query: str, reason: str) -> None:
    assert reason in words(save(dashboard, name, query))
    assert not SavedFilter.objects.exists()


def test_a_member_can_save_twenty_filters(dashboard: Dashboard) -> None:
    for number in range(20):
        save(dashboard, f"Filter {number}", "q=x")
    page = save(dashboard, "One more", "q=x")
    assert "You already have 20 saved filters. Delete one of them first." in words(page)
    save(dashboard, "Filter 3", "q=other")
    assert SavedFilter.objects.count() == 20
    assert SavedFilter.objects.get(name="Filter 3").query == "q=other"


def test_a_filter_is_its_members_own(dashboard: Dashboard, workspace: Workspace, teammate: User, stranger: User) -> None:
    save(dashboard, "Mine", "q=x")
    saved = SavedFilter.objects.get()
    deletion = reverse("filter-delete", args=[workspace.id, saved.pk])
    for user in (teammate, stranger):
        other = Dashboard(workspace, user)
        assert "Mine" not in words(other.get("posts"))
        other.http.post(deletion)
    assert save(Dashboard(workspace, stranger), "Theirs", "q=x").status_code == 404
    assert list(SavedFilter.objects.values_list("name", flat=True)) == ["Mine"]

    Member.objects.filter(user=dashboard.workspace.owner_user).delete()
    assert not SavedFilter.objects.exists()
