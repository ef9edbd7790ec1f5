"""Validation issues of a post's content, and repair hints that a client can apply. Media, posts and pages share them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
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
        body = asdict(self)
        if self.repair_hint and self.repair_hint.value is None:
            del body["repair_hint"]["value"]
        return body


def issue_with_hint(
    code: str,
    field: str,
    message: str,
    action: str,
    explanation: str,
    value: str | None = None,
    severity: str = "error",
) -> Issue:
    """The validation issue of a field with a repair hint for this field; with a value, a client can apply the hint itself."""
    hint = RepairHint(action, field, explanation, value)
    return Issue(code, severity, field, message, auto_fixable=value is not None, repair_hint=hint)


def number_with_noun(count: int, noun: str) -> str:
    """A number with its noun for the message of a validation issue, such as 2 choices."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
