"""Texts on the dashboard's media pages: labels of file kinds, durations, sizes, and platforms that refuse a file."""

from __future__ import annotations

from django.conf import settings

from accounts.platforms.issues import Issue
from accounts.platforms.media_check import asset_issues, media_list_issues
from accounts.platforms.registry import platforms
from media.models import MediaAsset

KIND_LABELS = {"image": "Image", "gif": "GIF", "video": "Video", "document": "PDF"}


def asset_errors_by_platform(asset: MediaAsset) -> dict[str, list[Issue]]:
    """Return, for each platform that accepts media, the errors that prevent posting a media asset with its alt text there.

    The keys are the platforms' labels; a platform that accepts the asset has an empty list.
    """
    properties, errors = asset.properties(), {}
    for each in platforms():
        rules = each.capabilities.media
        if not rules.max_count:
            continue
        alone = asset_issues(each.label, rules, properties, "file")
        described = [
            issue for issue in media_list_issues(each.label, rules, [properties]) if issue.field.endswith("alt_text")
        ]
        errors[each.label] = [issue for issue in (*alone, *described) if issue.severity == "error"]
    return errors


def format_duration(milliseconds: int | None) -> str:
    """Format a media asset's duration in milliseconds for the dashboard, as 1:02:03 or 0:07.5; "" for None."""
    if milliseconds is None:
        return ""
    minutes, rest = divmod(milliseconds, 60_000)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{rest // 1000:02d}" + (f".{rest % 1000 // 100}" if rest % 1000 >= 100 else "")
    return f"{hours}:{minutes:02d}:{seconds}" if hours else f"{minutes}:{seconds}"


def format_size(size: int) -> str:
    """Format a media asset's size in bytes for the dashboard, with decimal units as in 4.7 GB."""
    for unit, step in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= step:
            return f"{size / step:.1f}".removesuffix(".0") + f" {unit}"
    return f"{size} bytes"


def format_quota_usage(used: int) -> str:
    """Format a media library's use of its quota for the dashboard, such as "1.2 GB of 5 GB used"."""
    allowed = settings.MEDIA_QUOTA_BYTES
    return f"{format_size(used)} of {format_size(allowed)} used" if allowed else f"{format_size(used)} used"
