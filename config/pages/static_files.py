"""The storage of static files in production, which have hashes in their names and are cached for ever once collected."""

from __future__ import annotations

from django.contrib.staticfiles.storage import StaticFilesStorage
from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStaticFilesStorage(CompressedManifestStaticFilesStorage):
    """The storage to which `collectstatic` copies static files, compressed and with hashes of their content in their names.

    Until they are collected, pages link to the files by their own names, and WhiteNoise serves them from the packages.
    """

    def url(self, name: str | None, force: bool = False) -> str:
        """Return the URL of a static file: with a hash if the files are collected."""
        if not self.hashed_files:
            return str(StaticFilesStorage.url(self, name))
        return str(super().url(name, force))
