"""What a person does next about a failed post, by the errors of its targets: reconnect, fix and send again, or try again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from django.utils.text import get_text_list
from django.utils.translation import gettext as _

from accounts.models import ConnectedAccount
from posts.dashboard.shown_groups import ShownGroup, ShownTarget
from posts.states import TargetStatus

# The errors of a target after which only other content helps, or a new connection of the account.
REJECTED, NEEDS_REAUTH = "PLATFORM_REJECTED", "ACCOUNT_NEEDS_REAUTH"


@dataclass(frozen=True)
class StepAfterFailure:
    """A step that a person can take after a post has failed, as a button with the reason for it; the first is primary."""

    action: Literal["reconnect", "fix", "retry"]
    label: str
    reason: str
    account: ConnectedAccount | None = None


def steps_after_failure(shown: ShownGroup) -> list[StepAfterFailure]:
    """Return what a person can do about a post's failed targets, the most helpful step first; empty if none has failed."""
    failed = [each for each in shown.targets if each.target.status == TargetStatus.FAILED]
    if not failed:
        return []
    lost = [each for each in failed if _is_lost(each)]
    rejected = [each for each in failed if each not in lost and _code(each) == REJECTED]
    others = [each for each in failed if each not in lost and each not in rejected]
    steps = [
        StepAfterFailure(
            "reconnect", _("Reconnect %(platform)s") % {"platform": each.label}, _lost_reason(each), each.account
        )
        for each in lost
    ]
    if rejected:
        words = _("%(platforms)s did not accept the post. The same post would be refused again, so change it first.")
        reason = words % {"platforms": _names(rejected)}
        steps.append(StepAfterFailure("fix", _("Fix and send again"), reason))
    if others:
        reason = _("Sending failed at %(platforms)s, and may succeed now.") % {"platforms": _names(others)}
        steps.append(StepAfterFailure("retry", _("Try again"), reason))
    elif rejected and not lost:
        steps.append(StepAfterFailure("retry", _("Send again unchanged"), ""))
    return steps


def _is_lost(each: ShownTarget) -> bool:
    """Return whether a failed target\'s account must be connected again; a later connection or check of it ends this."""
    if each.account.status != ConnectedAccount.Status.ACTIVE:
        return True
    checked_at = each.account.last_checked_at
    return _code(each) == NEEDS_REAUTH and (checked_at is None or checked_at <= each.target.updated_at)


def _lost_reason(each: ShownTarget) -> str:
    return _("%(platform)s has to be connected again. Then send the post again.") % {"platform": each.label}


def _code(each: ShownTarget) -> str:
    return str((each.target.error or {}).get("code", ""))


def _names(targets: list[ShownTarget]) -> str:
    return get_text_list(list(dict.fromkeys(each.label for each in targets)), _("and"))
