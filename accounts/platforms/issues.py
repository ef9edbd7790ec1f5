"""What is wrong with content, and a repair that can be applied as it stands. Shared by media, posts and pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RepairHint:
    """`field` set to `value` (where there is one) removes the issue."""

    action: str
    field: str
    explanation: str
    value: str | None = None


@dataclass(frozen=True)
class Issue:
    """`field` is a path in the request, such as `targets[0].text`; `severity` is error or warning."""

    code: str
    severity: str
    field: str
    message: str
    auto_fixable: bool = False
    repair_hint: RepairHint | None = None

    def body(self) -> dict[str, Any]:
        """ISSUE as it stands on the wire."""
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
