"""The composer's buttons that save, schedule, approve or publish a post. Each says what it does, and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from config.pages.language import format_date
from posts.states import GroupStatus

SAVE, SCHEDULE, PUBLISH = "save", "schedule", "publish"


@dataclass(frozen=True)
class SubmitButton:
    """A button that submits the composer: it saves, schedules, approves or publishes the post. One button is primary."""

    action: str
    label: str
    primary: bool = False


def submit_buttons(
    status: str, when: datetime | None, *, moved: bool, needs_approval: bool = False, may_approve: bool = True
) -> list[SubmitButton]:
    """Return the composer's buttons for a post with this status, or for a new post, whose status is an empty string.

    `when` is the local time that is filled in. It makes scheduling the primary action, and publishing says that it ignores
    the time. `moved`: the time is another one than the post has. `needs_approval`: what the person publishes waits for
    approval. `may_approve`: the person may approve posts that wait for it.
    """
    if status == GroupStatus.PENDING_CONFIRMATION and not may_approve:
        return [SubmitButton(SAVE, _("Save changes"), primary=True)]
    if needs_approval:
        return _buttons_that_ask(status, when)
    if when is None:
        return _buttons_without_time(status)
    named = {"time": short_time_words(when)}
    match status:
        case GroupStatus.SCHEDULED:
            schedule = _("Save and move to %(time)s") if moved else _("Save and publish on %(time)s")
            publish = _("Publish now, not on %(time)s")
        case GroupStatus.PENDING_CONFIRMATION:
            schedule, publish = _("Approve for %(time)s"), _("Approve and publish now, not on %(time)s")
        case _:
            schedule, publish = _("Schedule for %(time)s"), _("Publish now, not on %(time)s")
    first, second = SubmitButton(SCHEDULE, schedule % named, primary=True), SubmitButton(PUBLISH, publish % named)
    return [first, second, *_save_button(status)]


def short_time_words(when: datetime) -> str:
    """Return a post's local time in words for a composer button, such as "Tue 24 Nov 09:00"; a year only if needed."""
    return format_date(when, "D j M H:i" if when.year == timezone.localtime().year else "D j M Y H:i")


def _buttons_that_ask(status: str, when: datetime | None) -> list[SubmitButton]:
    if status == GroupStatus.SCHEDULED:
        return [SubmitButton(SCHEDULE, _("Save and ask for approval"), primary=True)]
    publish = SubmitButton(PUBLISH, _("Ask to publish once approved"), primary=when is None)
    if when is None:
        return [publish, SubmitButton(SCHEDULE, _("Ask to publish later")), *_save_button(status)]
    ask = _("Ask to publish on %(time)s") % {"time": short_time_words(when)}
    schedule = SubmitButton(SCHEDULE, ask, primary=True)
    return [schedule, publish, *_save_button(status)]


def _buttons_without_time(status: str) -> list[SubmitButton]:
    match status:
        case GroupStatus.SCHEDULED:
            return [SubmitButton(SCHEDULE, _("Save changes"), primary=True), SubmitButton(PUBLISH, _("Publish now"))]
        case GroupStatus.PENDING_CONFIRMATION:
            publish, schedule = _("Approve and publish now"), _("Approve for later")
        case _:
            publish, schedule = _("Publish now"), _("Schedule for later")
    return [SubmitButton(PUBLISH, publish, primary=True), SubmitButton(SCHEDULE, schedule), *_save_button(status)]


def _save_button(status: str) -> list[SubmitButton]:
    match status:
        case GroupStatus.SCHEDULED:
            return []
        case GroupStatus.PENDING_CONFIRMATION:
            return [SubmitButton(SAVE, _("Save without approving"))]
    return [SubmitButton(SAVE, _("Save as a shared draft"))]
