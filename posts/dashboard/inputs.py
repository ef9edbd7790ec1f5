"""Reads the input of the dashboard's post pages and validates it with the serializers of the API."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils.dateparse import parse_datetime
from rest_framework import serializers

from config.api.error_handlers import log_and_convert_to_api_error
from config.api.errors import missing_or_foreign_id_error
from config.api.serializers import StrictSerializer
from posts import selectors
from posts.models import PostGroup
from workspaces.workspace_page import WorkspacePage


def validated_page_input(serializer: type[StrictSerializer], body: Mapping[str, Any]) -> dict[str, Any]:
    """Validate the input of a dashboard page with an API serializer and return the data. Raises ValidationFailed."""
    form = serializer(data=dict(body))
    try:
        form.is_valid(raise_exception=True)
    except serializers.ValidationError as error:
        raise log_and_convert_to_api_error(error) from error
    return dict(form.validated_data)


def get_post_group_of_workspace(page: WorkspacePage, post_group_id: str) -> PostGroup:
    """Return the post group whose id is in a dashboard page's URL. Raises NotFound for a post group of another workspace."""
    group = selectors.get_post_group(caller=page.caller, post_group_id=post_group_id)
    if group.workspace_id != page.workspace.id:
        raise missing_or_foreign_id_error(None, "post group")
    return group


def normalize_newlines_and_nul(text: str) -> str:
    """Convert line ends in the text input of a dashboard page to LF, and remove NUL, which PostgreSQL cannot store."""
    return text.replace("\r\n", "\n").replace("\0", "")


def parse_iso_moment_with_zone_or_none(text: str) -> datetime | None:
    """Return the moment in the input of a dashboard page, ISO 8601 with a zone; None if it is missing or invalid."""
    try:
        moment = parse_datetime(text[:40])
    except ValueError:
        return None
    return moment if moment and moment.tzinfo else None


def submitted_content_version_or_zero(page: WorkspacePage) -> int:
    """Return the content_version in the input of a dashboard page, or 0 if it is missing; no post has version 0."""
    sent = page.request.POST.get("content_version", "")
    return int(sent) if sent.isdecimal() and len(sent) < 10 else 0
