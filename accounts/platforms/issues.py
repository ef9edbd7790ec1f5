"""Types of validation issues and of their repair hints, which API clients can apply to a post.

Media, posts and dashboard pages use them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from dataclasses import field as dataclass_field
from typing import Any


@dataclass(frozen=True)
class RepairHint:
    """The repair hint of a validation issue: what to do with `field`, and a new value if the service knows one."""

    action: str
    field: str
    explanation: str
    value: str | None = None


@dataclass(frozen=True)
class Issue:
    """A validation issue of a post or of media: its code, severity (error or warning), field path and repair hint.

    `facts` are the numbers and names of the message, from which pages make sentences for people. They are not in the API.
    """

    code: str
    severity: str
    field: str
    message: str
    auto_fixable: bool = False
    repair_hint: RepairHint | None = None
    facts: Mapping[str, Any] = dataclass_field(default_factory=dict, compare=False)

    def as_json(self) -> dict[str, Any]:
        """Return this validation Issue as a dict for the API's JSON responses."""
        body = asdict(self)
        del body["facts"]
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
    **facts: Any,
) -> Issue:
    """Return a validation issue that has a repair hint, both about the input field at the path `field`.

    If a value is given, a client can apply the hint itself. `facts` are those of the issue.
    """
    hint = RepairHint(action, field, explanation, value)
    return Issue(code, severity, field, message, auto_fixable=value is not None, repair_hint=hint, facts=facts)


def number_with_noun(count: int, noun: str) -> str:
    """Return a count of things, such as `2 choices`, for the English message of an API Issue."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
