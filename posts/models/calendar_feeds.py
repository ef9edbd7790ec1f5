"""The model of calendar feeds: secret addresses at which calendar programs read a workspace's posts."""

from __future__ import annotations

from django.db import models

from config.db.ids import PrefixedIdField
from config.db.models import TimestampedModel
from workspaces.models import Member


class CalendarFeed(TimestampedModel):
    """The model of a calendar feed, whose secret address was given to a member of the workspace.

    Only the SHA-256 of the token in the address is stored. A feed ends with the membership of the person who created it.
    """

    id = PrefixedIdField("cal")
    member = models.ForeignKey(Member, on_delete=models.CASCADE, related_name="calendar_feeds")
    token_sha256 = models.CharField(max_length=64, unique=True)

    def __str__(self) -> str:
        return self.id
