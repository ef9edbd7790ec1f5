"""The models of media assets, pending files, quota usage and use in posts; the files themselves are in the media storage."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from accounts.platforms.types import MediaInfo
from config.db.ids import PrefixedIdField
from config.db.models import DueRow, TimestampedModel
from workspaces.models import Workspace


class MediaAsset(DueRow, TimestampedModel):
    """The model of an uploaded media file that passed all checks; `due_at` is set while its thumbnail is not made yet.

    `sha256` and `size_bytes` are those of the stored file. Assets of a workspace with equal bytes share one stored file,
    which is deleted with the last of these assets.
    """

    class Status(models.TextChoices):
        READY = "ready"
        DELETED = "deleted"

    class Kind(models.TextChoices):
        IMAGE = "image"
        GIF = "gif"
        VIDEO = "video"
        DOCUMENT = "document"

    class ScanStatus(models.TextChoices):
        CLEAN = "clean"
        NOT_SCANNED = "not_scanned"

    id = PrefixedIdField("med")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="media")
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.READY)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    filename = models.CharField(max_length=255)
    mime_type = models.CharField(max_length=100)
    size_bytes = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    width = models.PositiveIntegerField(null=True)
    height = models.PositiveIntegerField(null=True)
    duration_ms = models.PositiveBigIntegerField(null=True)
    alt_text = models.TextField(blank=True)
    scan_status = models.CharField(max_length=12, choices=ScanStatus.choices)
    scan_engine = models.CharField(max_length=100, blank=True)
    storage_key = models.CharField(max_length=255)
    thumbnail_key = models.CharField(max_length=255, blank=True)
    thumbnail_attempts = models.PositiveSmallIntegerField(default=0)
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(status__in=["ready", "deleted"]), name="media_status_known")]
        indexes = [
            models.Index(fields=["workspace", "-id"], name="media_newest"),
            models.Index(fields=["workspace", "sha256"], name="media_same_bytes"),
            models.Index(fields=["storage_key"], name="media_storage_key"),
            models.Index(fields=["due_at"], name="media_due", condition=models.Q(due_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.filename} ({self.id})"

    def media_info(self, alt_text: str | None = None) -> MediaInfo:
        """Return the properties of this MediaAsset row that platforms check; a given `alt_text` replaces the stored one."""
        return MediaInfo(
            kind=self.kind,  # type: ignore[arg-type]
            mime_type=self.mime_type,
            size_bytes=self.size_bytes,
            width=self.width,
            height=self.height,
            duration_ms=self.duration_ms,
            alt_text=self.alt_text if alt_text is None else alt_text,
        )


class PendingFile(models.Model):
    """The model of a file that is in the media storage, or is being stored there, but belongs to no MediaAsset yet.

    The row is created before the file. The row is deleted in the transaction in which an asset adopts the file. Rows of
    failed uploads remain, and the purge deletes their files. `abandoned` is set first, so that no asset can adopt the file
    any more.
    """

    storage_key = models.CharField(max_length=255, unique=True)
    workspace_id = models.CharField(max_length=30)  # no foreign key: the file must be deleted even after the workspace
    size_bytes = models.PositiveBigIntegerField(default=0)  # as counted in MediaUsage
    abandoned = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        indexes = [models.Index(fields=["created_at"], name="media_pending_oldest")]

    def __str__(self) -> str:
        return self.storage_key


class MediaUsage(models.Model):
    """The model of how much of its media quota a workspace uses: the bytes of its assets and pending files.

    The number is stored as a counter, because summing a large library for each upload would be slow. It is raised before a
    file is stored and lowered in the transaction that deletes the asset; `reconcile_media` recounts it.
    """

    workspace = models.OneToOneField(Workspace, primary_key=True, on_delete=models.CASCADE, related_name="media_usage")
    used_bytes = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.workspace_id}: {self.used_bytes} bytes"


class MediaUse(models.Model):
    """The model of a mark that an unfinished post (`holder_id`) uses a MediaAsset, so that it cannot be deleted."""

    media = models.ForeignKey(MediaAsset, on_delete=models.CASCADE, related_name="uses")
    holder_id = models.CharField(max_length=30)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["holder_id", "media"], name="media_use_once")]

    def __str__(self) -> str:
        return f"{self.holder_id} uses {self.media_id}"
