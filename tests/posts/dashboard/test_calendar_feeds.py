"""The dashboard page of calendar feeds."""

from __future__ import annotations

import re
from typing import Any

from django.test import Client

from auditlog.models import AuditEntry
from posts.models import CalendarFeed
from tests.pages import Pages, form_of, words
from workspaces.models import User, Workspace


def address_on(page: Any) -> str:
    [found] = re.findall(r"http\S+/calendar/sps_cal_\w+\.ics", page.content.decode())
    return str(found)


def served(address: str) -> int:
    return Client().get(address[address.index("/calendar/") :]).status_code


def test_a_feed_is_created_shown_once_and_deleted(workspace: Workspace, owner: User) -> None:
    pages = Pages(workspace, owner)
    assert "There is no calendar feed yet" in words(pages.get("calendar-feeds"))
    assert pages.address("calendar-feeds") in pages.get("calendar").content.decode()
    form = form_of(pages.get("calendar-feeds"))

    address = address_on(pages.post("calendar-feeds", form))

    assert served(address) == 200
    again = pages.post("calendar-feeds", form, follow=True)
    assert "already created" in again.content.decode()
    assert address not in again.content.decode()
    feed = CalendarFeed.objects.get()
    page = pages.post(
        "calendar-feed-delete",
        form_of(again, pages.address("calendar-feed-delete", feed_id=feed.id)),
        follow=True,
        feed_id=feed.id,
    )
    assert "Its address no longer works" in page.content.decode()
    assert served(address) == 404


def test_a_member_has_feeds_of_their_own_only(workspace: Workspace, owner: User, teammate: User) -> None:
    pages, of_owner = Pages(workspace, teammate), Pages(workspace, owner)
    of_owner.post("calendar-feeds", form_of(of_owner.get("calendar-feeds")))
    feed = CalendarFeed.objects.get()

    assert "Delete" not in words(pages.get("calendar-feeds"))
    refused = pages.post("calendar-feed-delete", follow=True, feed_id=feed.id)

    assert "owner or admin" in refused.content.decode()
    assert AuditEntry.objects.filter(operation="calendar_feeds.delete", outcome="refused").count() == 1
    assert served(address_on(pages.post("calendar-feeds", form_of(pages.get("calendar-feeds"))))) == 200


def test_strangers_see_and_delete_nothing(workspace: Workspace, owner: User, stranger: User) -> None:
    of_owner, pages = Pages(workspace, owner), Pages(workspace, stranger)
    of_owner.post("calendar-feeds", form_of(of_owner.get("calendar-feeds")))
    feed = CalendarFeed.objects.get()
    elsewhere = Pages(Workspace.objects.get(owner_user=stranger), stranger)

    assert pages.get("calendar-feeds").status_code == 404
    assert pages.post("calendar-feeds", {"key": "k"}).status_code == 404
    assert pages.post("calendar-feed-delete", feed_id=feed.id).status_code == 404
    elsewhere.post("calendar-feed-delete", feed_id=feed.id)
    assert CalendarFeed.objects.get() == feed
