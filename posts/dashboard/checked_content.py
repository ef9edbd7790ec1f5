"""The composer's checks of a post: for each chosen account the validation result and a preview, as the page shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.dashboard.issue_sentences import advice_sentence, issue_sentence
from accounts.models import ConnectedAccount
from accounts.platforms.issues import Issue
from posts.dashboard.crop_offers import CropOffer, find_crop_that_repairs_issue
from posts.dashboard.issue_fields import FieldToFill, fields_to_mend_issue
from posts.dashboard.issue_repairs import IssueRepair, repair_that_leaves_account_out, repairs_of_issue
from posts.dashboard.post_preview import PostPreview, build_post_preview
from posts.dashboard.shown_groups import ShownAsset
from posts.validation import TargetValidation

MAX_CHARACTERS_OF_ALL_PREVIEWS = 30_000
NEAR_LIMIT_PERCENT = 90


@dataclass(frozen=True)
class ShownIssue:
    """A validation issue as the composer shows it: what explains it, and buttons that repair it or lead to its field."""

    issue: Issue
    sentence: str
    advice: str
    repairs: list[IssueRepair]
    fields: list[FieldToFill]
    crop: CropOffer | None = None

    @property
    def repair_changes_all_accounts(self) -> bool:
        """Return whether repairing this ShownIssue changes the post of all accounts, which have the same media."""
        return self.issue.field.startswith("media")


@dataclass(frozen=True)
class TargetCheckAndPreview:
    """The validation result for one chosen account, and the preview of its post, as the composer page shows them."""

    label: str
    account: ConnectedAccount
    validation: TargetValidation
    issues: list[ShownIssue]
    preview: PostPreview
    poll: str  # description of the poll; empty without a poll
    leave_out: IssueRepair | None  # takes the account out of the post

    @property
    def length_unit(self) -> str:
        """Return the unit in which this TargetCheckAndPreview counts the length of its text: bytes or characters."""
        return _("bytes") if self._counts_bytes else _("characters")

    @property
    def words_after_remaining_length(self) -> str:
        """Return the words after an account's remaining text length in the composer: characters left, or bytes left."""
        return _("bytes left") if self._counts_bytes else _("characters left")

    @property
    def _counts_bytes(self) -> bool:
        return self.validation.target.capabilities.text.counted_as == "bytes"

    @property
    def remaining_length(self) -> int:
        """Return how much longer the account's text, or a part of its thread, may be; negative if too long."""
        further = [self.further_post_max_length - segment.length for segment in self.preview.segments[1:]]
        return min([self.validation.target.text_limit - self.validation.text_length, *further])

    @property
    def further_post_max_length(self) -> int:
        """Return the maximum length of each further post in the thread of this TargetCheckAndPreview."""
        return self.validation.target.capabilities.text.max_length

    @property
    def used_length_percent(self) -> int:
        """Return how much of the allowed length of its text this TargetCheckAndPreview uses, at most 100 per cent."""
        limit = self.validation.target.text_limit
        return min(100, max(0, 100 - 100 * self.remaining_length // limit)) if limit else 100

    @property
    def is_near_limit(self) -> bool:
        return self.used_length_percent >= NEAR_LIMIT_PERCENT

    @property
    def has_errors(self) -> bool:
        return not self.validation.valid


def prepare_checks_for_display(found: Sequence[TargetValidation], pictures: list[ShownAsset]) -> list[TargetCheckAndPreview]:
    """Return the validation result and the preview of each chosen account; `pictures` are the post's attached media.

    All previews together show at most MAX_CHARACTERS_OF_ALL_PREVIEWS.
    """
    checks, room = [], MAX_CHARACTERS_OF_ALL_PREVIEWS
    for each in found:
        leave_out = repair_that_leaves_account_out(each, found)
        checks.append(_prepare_check(each, pictures, room, leave_out))
        room -= sum(len(segment.text) for segment in checks[-1].preview.segments)
    return checks


def _prepare_check(
    found: TargetValidation, pictures: list[ShownAsset], room: int, leave_out: IssueRepair | None
) -> TargetCheckAndPreview:
    preview = build_post_preview(found.target, pictures, room=max(room, 0))
    issues = [
        ShownIssue(
            issue,
            issue_sentence(issue, preview.label),
            advice_sentence(issue),
            repairs_of_issue(issue, pictures),
            fields_to_mend_issue(issue, found.target, pictures),
            find_crop_that_repairs_issue(issue, pictures),
        )
        for issue in found.issues
    ]
    poll = _poll_in_words(found.target.poll)
    return TargetCheckAndPreview(preview.label, preview.account, found, issues, preview, poll, leave_out)


def _poll_in_words(poll: Mapping[str, Any] | None) -> str:
    if poll is None:
        return ""
    count, minutes = len(poll["choices"]), poll["duration_minutes"]
    with_end = ngettext(
        "With a poll of %(count)d choice, open for %(duration)s",
        "With a poll of %(count)d choices, open for %(duration)s",
        count,
    )
    without_end = ngettext(
        "With a poll of %(count)d choice, open without an end",
        "With a poll of %(count)d choices, open without an end",
        count,
    )
    if not minutes:
        return without_end % {"count": count}
    return with_end % {"count": count, "duration": poll_duration_in_words(minutes)}


def poll_duration_in_words(minutes: int) -> str:
    """Return how long the poll of a checked target is open, such as "1 day and 12 hours", in the language of the page."""
    parts = (
        (minutes // 1440, ngettext("%(count)d day", "%(count)d days", minutes // 1440)),
        (minutes % 1440 // 60, ngettext("%(count)d hour", "%(count)d hours", minutes % 1440 // 60)),
        (minutes % 60, ngettext("%(count)d minute", "%(count)d minutes", minutes % 60)),
    )
    return get_text_list([words % {"count": count} for count, words in parts if count], _("and"))
