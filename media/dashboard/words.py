"""What is known of an asset, in the words of people."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

from accounts.platforms.issues import Issue
from accounts.platforms.media_check import album_issues, asset_issues
from accounts.platforms.registry import platforms
from media.models import MediaAsset


@dataclass(frozen=True)
class KindWords:
    one: str
    many: str


KINDS = {
    "image": KindWords("Image", "Images"),
    "gif": KindWords("GIF", "GIFs"),
    "video": KindWords("Video", "Videos"),
    "document": KindWords("PDF", "PDFs"),
}


@dataclass(frozen=True)
class Fit:
    """How an asset, with its alt text, stands at a platform."""

    platform: str
    issues: list[Issue]


def fits_told(asset: MediaAsset) -> list[Fit]:
    """Each platform that takes media, by the name that people know, with what it would refuse, in the registry's order."""
    facts, found = asset.facts(), []
    for each in platforms():
        rules = each.capabilities.media
        if not rules.max_count:
            continue
        alone = asset_issues(each.label, rules, facts, "file")
        described = [issue for issue in album_issues(each.label, rules, [facts]) if issue.field.endswith("alt_text")]
        found.append(Fit(each.label, [issue for issue in (*alone, *described) if issue.severity == "error"]))
    return found


def duration_told(milliseconds: int | None) -> str:
    """Such as 1:02:03 or 0:07.5; "" where it is not known."""
    if milliseconds is None:
        return ""
    minutes, rest = divmod(milliseconds, 60_000)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{rest // 1000:02d}" + (f".{rest % 1000 // 100}" if rest % 1000 >= 100 else "")
    return f"{hours}:{minutes:02d}:{seconds}" if hours else f"{minutes}:{seconds}"


def size_told(size: int) -> str:
    """Such as 4.7 GB, in powers of ten."""
    for unit, step in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= step:
            return f"{size / step:.1f}".removesuffix(".0") + f" {unit}"
    return f"{size} bytes"


def usage_told(used: int) -> str:
    """How much of its quota a library uses."""
    allowed = settings.MEDIA_QUOTA_BYTES
    return f"{size_told(used)} of {size_told(allowed)} used" if allowed else f"{size_told(used)} used"
