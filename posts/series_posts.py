"""Builds the request for each post of a series from its texts in turn, with the post's number and date filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from django.utils.translation import gettext_noop

from config.api.errors import ValidationFailed
from posts.content import PostInput
from posts.models import Series

MAX_TEXTS = 20  # beside the first one
TEXT_COOLDOWN = timedelta(hours=24)  # a content that is sent again within this time gets the warning DUPLICATE_CONTENT
CHECKED_OCCURRENCES = 100
NUMBER, DATE = "{n}", "{date}"


def texts_of_series(post: Mapping[str, Any]) -> list[str]:
    """Return all texts of a series' post in the order in which they are used."""
    return [post["text"], *post.get("texts", ())]


def post_input_of_occurrence(series: Series, at: datetime, *, number: int, local: str) -> PostInput:
    """Return the request for the post with this `number` in a series, scheduled at the instant `at`, local time `local`."""
    texts, post = texts_of_series(series.post), dict(series.post)
    post.pop("texts", None)
    post["text"] = _filled_in(texts[(number - 1) % len(texts)], number, local)
    post["targets"] = [{**each, "text": each["text"] and _filled_in(each["text"], number, local)} for each in post["targets"]]
    write = PostInput.from_request({name: value for name, value in post.items() if value is not None})
    return replace(write, workspace_id=series.workspace_id, scheduled_at=at)


def refuse_early_reuse_of_alternating_texts(series: Series, now: datetime) -> None:
    """Raise ValidationFailed if a series with several texts would use one of them again within 24 hours."""
    texts = texts_of_series(series.post)
    if len(texts) == 1 or all(NUMBER in text for text in texts):
        return
    if len(set(texts)) < len(texts):
        raise ValidationFailed.for_field("post.texts", gettext_noop("Each text may be given once."), "repeated")
    coming = series.recurrence.occurrences(now, now + timedelta(days=366))
    times = [each.local for each in islice(coming, CHECKED_OCCURRENCES)]  # local, so that clock changes do not matter
    if any(later - earlier < TEXT_COOLDOWN for earlier, later in zip(times, times[len(texts) :], strict=False)):
        message = "The rule would use a text again within 24 hours. Give more texts, or use `{n}` in each."
        raise ValidationFailed.for_field("post.texts", message, "too_few")


def _filled_in(text: str, number: int, local: str) -> str:
    return text.replace(NUMBER, str(number)).replace(DATE, local[:10])
