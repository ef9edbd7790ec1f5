"""API errors of post requests, such as content that breaks a platform's rules."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from config.api.errors import ApiError


class ContentInvalid(ApiError):
    """API error for a post whose content breaks a platform's rules; `details` are its validation issues."""

    status, code = 422, "CONTENT_INVALID"
    message = "The content is not valid for all of its targets; details lists each issue and how to repair it."
    suggested_action = "Apply the repair_hint of each issue, or change the content. POST /posts/validate checks it again."
    auto_fixable = True


class PlanChanged(ApiError):
    """API error for a write that would do something else than the plan which the caller has seen."""

    status, code = 409, "PLAN_CHANGED"
    message = "The operation would now do something else than the plan with this hash. Nothing was changed."
    suggested_action = "Preview the operation again, check what it would do now, and send the new plan_hash."

    def __init__(self, *, details: list[dict[str, Any]] | None = None) -> None:
        super().__init__(details=details)
        self.changed_plan: Any = None  # the new stored plan, if a stored one was to be committed
        self.plan_body: dict[str, Any] | None = None  # the same, as the API shows it

    def envelope(self) -> dict[str, Any]:
        """Return the JSON body of the API error, with the new plan if there is one."""
        return super().envelope() | ({} if self.plan_body is None else {"plan": self.plan_body})


class PlanExpired(ApiError):
    status, code = 410, "PLAN_EXPIRED"
    message = "This plan has expired. Nothing was changed."
    suggested_action = "Make a new plan with POST /plans."


@contextmanager
def naming_post_in_errors(index: int) -> Iterator[None]:
    """Return a context manager that adds a post's index in the batch to API errors which are raised for the post."""
    try:
        yield
    except ApiError as error:
        if error.details:
            error.details = [_with_prefix(f"posts[{index}]", row) for row in error.details]
        raise


def _with_prefix(where: str, row: dict[str, Any]) -> dict[str, Any]:
    """Return an entry of an API error's `details` with a prefix, such as `posts[2]` in a batch, before its field names."""
    moved = {**row, "field": f"{where}.{row['field']}"}
    if hint := row.get("repair_hint"):
        moved["repair_hint"] = {**hint, "field": f"{where}.{hint['field']}"}
    return moved
