"""The posts of a workspace as an iCalendar object (RFC 5545)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils.text import Truncator

from accounts.platforms.registry import platform_label
from config.pages.templatetags.dashboard import status_in_words
from posts.models import PostTarget
from posts.post_group_json import post_page_url
from posts.states import GroupStatus, TargetStatus
from workspaces.models import Workspace

if TYPE_CHECKING:
    from icalendar import Event

SUMMARY_CHARACTERS, TEXT_CHARACTERS = 80, 500
REFRESH_INTERVAL = timedelta(hours=1)


def icalendar_of_targets(workspace: Workspace, targets: Iterable[PostTarget]) -> bytes:
    """Return an iCalendar object with an event for each target; each needs a loaded account, post group and `shown_at`."""
    from icalendar import Calendar  # noqa: PLC0415 - importing it takes a tenth of a second, and few processes need it

    calendar = Calendar()
    calendar.add("prodid", f"-//{settings.BASE_URL}//Social Publishing Service//EN")
    calendar.add("version", "2.0")
    for name in ("name", "x-wr-calname"):  # RFC 7986, and the older name that most programs read
        calendar.add(name, f"Posts of {workspace.name}")
    calendar.add("refresh-interval", REFRESH_INTERVAL, parameters={"VALUE": "DURATION"})
    calendar.add("x-published-ttl", "PT1H")
    for target in targets:
        calendar.add_component(_event(target))
    return bytes(calendar.to_ical())


def _event(target: PostTarget) -> Event:
    """Return the iCalendar event of a target: it keeps its UID for good, and does not show anybody as busy."""
    from icalendar import Event  # noqa: PLC0415

    group = target.group
    platform, account = platform_label(target.platform), target.account.handle or target.account.external_id
    text = target.shown_text
    status = status_in_words(group.status if target.status == TargetStatus.PENDING else target.status)
    marks = ["Series"] * bool(group.series_id) + ["Sandbox"] * target.sandbox
    summary = f"{platform} · {Truncator(' '.join(text.split())).chars(SUMMARY_CHARACTERS) or '(no text)'}"
    about = [
        f"{status} · {account} ({platform})",
        *["This post belongs to a series."] * bool(group.series_id),
        *["Sandbox: this is not published on the platform."] * target.sandbox,
        *["", Truncator(text).chars(TEXT_CHARACTERS)] * bool(text),
        *["", post_page_url(group)],
    ]
    fields: dict[str, Any] = {
        "uid": target.id,
        "dtstamp": max(target.updated_at, group.updated_at),
        "dtstart": vars(target)["shown_at"],
        "summary": f"[Sandbox] {summary}" if target.sandbox else summary,
        "description": "\n".join(about),
        "url": post_page_url(group),
        "status": "TENTATIVE" if group.status == GroupStatus.PENDING_CONFIRMATION else "CONFIRMED",
        "transp": "TRANSPARENT",
        "categories": [platform, *marks],
    }
    event = Event()
    for name, value in fields.items():
        event.add(name, value)
    return event
