"""Validation issues of a post's content, and repair hints that a client can apply. Media, posts and pages share them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RepairHint:
    """A repair hint of a validation issue: setting `field` to `value` (if there is one) removes the issue."""

    action: str
    field: str
    explanation: str
    value: str | None = None


@dataclass(frozen=True)
class Issue:
    """A validation issue. `field` is a path in the request, such as `targets[0].text`; `severity` is error or warning."""

    code: str
    severity: str
    field: str
    message: str
    auto_fixable: bool = False
    repair_hint: RepairHint | None = None

    def body(self) -> dict[str, Any]:
        """The validation issue as JSON for the API."""
        hint = self.repair_hint
        shown = {"action": hint.action, "field": hint.field, "explanation": hint.explanation} if hint else None
        if hint and shown and hint.value is not None:
            shown["value"] = hint.value
        return {
            "code": self.code,
            "severity": self.severity,
            "field": self.field,
            "message": self.message,
            "auto_fixable": self.auto_fixable,
            "repair_hint": shown,
        }
