"""The platforms that accept a media asset, and the asset's issues on each platform."""

from __future__ import annotations

from dataclasses import dataclass

from accounts.platforms.issues import Issue
from accounts.platforms.media_check import asset_issues
from accounts.platforms.registry import platforms
from accounts.platforms.types import MediaInfo


@dataclass(frozen=True)
class PlatformFit:
    platform: str
    issues: list[Issue]

    @property
    def ok(self) -> bool:
        return not any(issue.severity == "error" for issue in self.issues)


def platform_fits(asset: MediaInfo) -> list[PlatformFit]:
    """The media asset's issues on each platform that accepts media, in the registry's order."""
    return [
        PlatformFit(each.name, asset_issues(each.name, each.capabilities.media, asset, "file"))
        for each in platforms()
        if each.capabilities.media.max_count
    ]
