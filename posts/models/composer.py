"""Models of the dashboard's composer: its drafts, and each person's preference."""

from __future__ import annotations

from django.db import models

from posts.models.posts import PostGroup
from workspaces.models import User, Workspace


class ComposerDraft(models.Model):
    """The model of a composer draft: what one person has entered in the dashboard's composer and not yet saved as a post.

    Nobody else sees it, and the API does not know it. `key` identifies it in the composer's URL and is the idempotency key of
    the post that is made of it. `fields` are the form's fields with their values. `group` is the post that is being edited,
    or None for a new post. `editor` is the open browser page that saved it last.
    """

    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="composer_drafts", db_index=False
    )  # no index of its own, because composer_draft_once covers this foreign key
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="composer_drafts")
    group = models.ForeignKey(PostGroup, on_delete=models.CASCADE, null=True, related_name="composer_drafts")
    key = models.CharField(max_length=64)
    fields = models.JSONField(default=dict)
    editor = models.CharField(max_length=64, blank=True)
    saved_at = models.DateTimeField(db_index=True)
    discarded_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "user", "key"], name="composer_draft_once")]

    def __str__(self) -> str:
        return f"Composer draft {self.pk} of {self.user_id}"

    @property
    def text(self) -> str:
        """Return the text for all accounts that a composer draft contains."""
        return next(iter(self.fields.get("text", ())), "")


class PublishingPreference(models.Model):
    """The model of a person's choice that posts published in the dashboard do not wait ten seconds for an undo."""

    user = models.OneToOneField(User, on_delete=models.CASCADE, primary_key=True, related_name="publishing_preference")
    skips_undo_delay = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"{self.user_id} publishes {'at once' if self.skips_undo_delay else 'after ten seconds'}"
