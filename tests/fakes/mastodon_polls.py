"""Polls of the Mastodon stand-in: their limits, and their entity in the API.

Source: docs.joinmastodon.org, methods/statuses and entities/Poll. As Mastodon's own server does: choices are trimmed, empty
ones are dropped, they are counted in grapheme clusters, and none may repeat another.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.fakes.mastodon_text import length


@dataclass(frozen=True)
class PollLimits:
    """The limits of polls that a Mastodon server accepts and announces."""

    max_options: int = 4
    max_characters_per_option: int = 50
    min_expiration: int = 300
    max_expiration: int = 2_629_746


@dataclass(frozen=True)
class Poll:
    """A poll that the Mastodon stand-in has accepted."""

    options: tuple[str, ...]
    expires_in: int
    multiple: bool
    hide_totals: bool

    def entity(self, poll_id: str) -> dict[str, Any]:
        """The entity of the poll in Mastodon's API."""
        ends = datetime.now(UTC) + timedelta(seconds=self.expires_in)
        return {
            "id": poll_id,
            "expires_at": ends.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "expired": False,
            "multiple": self.multiple,
            "votes_count": 0,
            "voters_count": 0,
            "options": [{"title": title, "votes_count": None if self.hide_totals else 0} for title in self.options],
            "emojis": [],
        }


def read_poll(given: Any, limits: PollLimits) -> Poll | str:
    """The poll in a request to Mastodon, or the server's message about what is wrong with it."""
    if not isinstance(given, dict) or not isinstance(given.get("options"), list):
        return "Options can't be blank"
    options = tuple(stripped for option in given["options"] if (stripped := str(option).strip()))
    if len(options) < 2:
        return "Options must have more than one item"
    if len(options) > limits.max_options:
        return f"Options can't contain more than {limits.max_options} items"
    if any(length(option, "") > limits.max_characters_per_option for option in options):
        return f"Options cannot be longer than {limits.max_characters_per_option} characters each"
    if len(set(options)) < len(options):
        return "Options contain duplicate items"
    seconds = given.get("expires_in")
    if seconds is None or int(seconds) > limits.max_expiration:
        return "Expires at is too far into the future"
    if int(seconds) < limits.min_expiration:
        return "Expires at is too soon"
    return Poll(options, int(seconds), bool(given.get("multiple")), bool(given.get("hide_totals")))
