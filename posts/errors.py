"""API errors of post requests, such as content that breaks a platform's rules."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from config.api.errors import ApiError, PlanChanged

__all__ = ["ContentInvalid", "PlanChanged", "PlanExpired", "prefixing_error_fields", "prefixing_error_fields_with_index"]


class ContentInvalid(ApiError):
    """API error for a post whose content breaks a platform's rules; `details` are its validation issues."""

    status, code = 422, "CONTENT_INVALID"
    message = "The content is not valid for all of its targets; details lists each issue and how to repair it."
    suggested_action = "Apply the repair_hint of each issue, or change the content. POST /posts/validate checks it again."
    auto_fixable = True


class PlanExpired(ApiError):
    status, code = 410, "PLAN_EXPIRED"
    message = "This plan has expired. Nothing was changed."
    suggested_action = "Make a new plan with POST /plans."


def prefixing_error_fields_with_index(index: int) -> AbstractContextManager[None]:
    """Return a context manager that prefixes API errors' field names with a post's place in a batch, such as `posts[2]`."""
    return prefixing_error_fields(f"posts[{index}]")


@contextmanager
def prefixing_error_fields(where: str) -> Iterator[None]:
    """Return a context manager that prefixes the field names in API errors with the place of a post in the request body."""
    try:
        yield
    except ApiError as error:
        if error.details:
            error.details = [_with_prefix(where, row) for row in error.details]
        raise


def _with_prefix(where: str, row: dict[str, Any]) -> dict[str, Any]:
    """Return an entry of an API error's `details` with a prefix, such as `posts[2]` in a batch, before its field names."""
    moved = {**row, "field": f"{where}.{row['field']}"}
    if hint := row.get("repair_hint"):
        moved["repair_hint"] = {**hint, "field": f"{where}.{hint['field']}"}
    return moved
