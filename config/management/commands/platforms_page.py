"""`manage.py platforms_page`: prints docs/platforms.md, which is generated from the platform adapters."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from accounts.platforms_page import platforms_markdown


class Command(BaseCommand):
    """The command `manage.py platforms_page`, which prints the document and changes nothing."""

    help = "Prints docs/platforms.md: what each platform accepts, and how operators set it up."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(platforms_markdown(), ending="")
