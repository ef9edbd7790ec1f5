"""The model of saved filters: names that a member has given to filters of the list of posts or of the calendar."""

from __future__ import annotations

from django.db import models

from workspaces.models import Member


class SavedFilter(models.Model):
    """The model of a filter of the list of posts or of the calendar that a member has saved under a name.

    `page` is the route of the page, `query` the query string with which it shows what the filter finds.
    """

    class FilteredPage(models.TextChoices):
        POSTS = "posts"
        CALENDAR = "calendar"

    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, related_name="saved_filters", db_index=False
    )  # no index of its own, because saved_filter_once covers this foreign key
    page = models.CharField(max_length=10, choices=FilteredPage.choices)
    name = models.CharField(max_length=40)
    query = models.CharField(max_length=1000)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["member", "page", "name"], name="saved_filter_once")]

    def __str__(self) -> str:
        return f"{self.name} of {self.page}"
