"""Buttons that lead from a validation issue to the field of the composer in which only a person can mend it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.template.defaultfilters import truncatechars
from django.utils.translation import gettext as _

from accounts.dashboard.option_names import option_display_name
from accounts.platforms.issues import Issue
from posts.dashboard.composer_focus import ALT_TEXT_OF, FILE, TEXT
from posts.dashboard.forms import PlatformOptionsForm
from posts.dashboard.shown_groups import ShownAsset
from posts.validation import TargetToValidate

MAX_FILENAME = 40
ALT_TEXT = re.compile(r"media\[(\d+)\]\.alt_text")
_TEXT_OF_TARGET = re.compile(r"targets\[\d+\]\.text")
_PART_OF_THREAD = re.compile(r"targets\[\d+\]\.options\.(thread\[\d+\])\.text")
_OPTION = re.compile(r"targets\[\d+\]\.options(?:\.(.+?))?(?:\[\d+\])?")
# Issues of options that no value can be suggested for.
_CODES_OF_OPTIONS = ("OPTIONS_INVALID", "POLL_CHOICE_COUNT", "POLL_CHOICE_EMPTY", "POLL_CHOICE_REPEATED")


@dataclass(frozen=True)
class FieldToFill:
    """A field of the composer in which a person mends a validation issue, with the label of the button that leads to it.

    `name` is the button's, from which ComposerFocus.of_button finds the field.
    """

    label: str
    name: str


def fields_to_mend_issue(issue: Issue, target: TargetToValidate, pictures: Sequence[ShownAsset]) -> list[FieldToFill]:
    """Return the fields in which a person mends a validation issue of a post's target; `pictures` are the post's media."""
    action = issue.repair_hint.action if issue.repair_hint else ""
    if issue.code in _CODES_OF_OPTIONS:
        return _field_of_option(issue, target)
    if action == "add_media":
        return [_file_chooser()]
    if action != "write_text":
        return []
    if alt_text := ALT_TEXT.fullmatch(issue.field):
        return _alt_text_field(pictures[int(alt_text[1])])
    label = _("Write the text") if issue.code == "TEXT_REQUIRED" else _("Change the text")
    if part := _PART_OF_THREAD.fullmatch(issue.field):
        return [FieldToFill(label, f"{target.account.id}:{part[1]}")]
    if not _TEXT_OF_TARGET.fullmatch(issue.field):
        return []
    tab = "" if target.text is None else target.account.id
    text = FieldToFill(label, f"{tab}:{TEXT}")
    needs_either = issue.code == "TEXT_REQUIRED" and target.poll is None
    return [text, _file_chooser()] if needs_either else [text]


def _file_chooser() -> FieldToFill:
    return FieldToFill(_("Choose a file"), f":{FILE}")


def _alt_text_field(picture: ShownAsset) -> list[FieldToFill]:
    if picture.asset is None:
        return []
    label = _("Describe %(file)s") % {"file": truncatechars(picture.asset.filename, MAX_FILENAME)}
    return [FieldToFill(label, f":{ALT_TEXT_OF}{picture.media_id}")]


def _field_of_option(issue: Issue, target: TargetToValidate) -> list[FieldToFill]:
    """Return the field of the platform option that a validation issue is about; none if the composer has no field for it."""
    place = _OPTION.fullmatch(issue.field)
    path = ".".join(filter(None, (place[1] if place else "", issue.facts.get("missing", ""))))
    account_id = target.account.id
    form = PlatformOptionsForm(target.capabilities.options, prefix=account_id, options=target.options)
    if path not in form.fields:
        return []
    is_missing = issue.facts.get("rule") in ("required", "minLength")
    label = _("Fill in “%(option)s”") if is_missing else _("Correct “%(option)s”")
    name = option_display_name(issue.facts.get("option") or path.rpartition(".")[2])
    return [FieldToFill(label % {"option": name}, f"{account_id}:{path}")]
