"""The repairs of validation issues that the composer offers as buttons; each changes the content, and keeps all the rest."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from django.utils.translation import gettext as _

from accounts.dashboard.amounts import minutes_as_duration_in_words
from accounts.dashboard.issue_nouns import KIND_PLURALS, count_of_kind_in_words
from accounts.dashboard.issue_sentences import advice_sentence
from accounts.platforms.issues import Issue
from accounts.platforms.registry import platform_label
from media.models import MediaAsset
from posts.dashboard.composer_content import ComposerContent
from posts.dashboard.composer_focus import ACCOUNT_CHOICE, TEXT, ComposerFocus
from posts.dashboard.composer_media import ComposerMedia
from posts.dashboard.shown_groups import ShownAsset
from posts.validation import TargetValidation

ATTACHED_FILE = re.compile(r"media\[(\d+)\]")  # the path of an issue of one file
SET_ACTIONS = ("replace_text", "set_option")  # of repair hints whose value is written into their field


@dataclass(frozen=True)
class IssueRepair:
    """A repair of a validation issue: the name and label of its button in the composer, and the change that it makes.

    `note` says beside the button what the label does not say.
    """

    name: str
    label: str
    change: Callable[[ComposerMedia], None]
    note: str = ""


def repairs_of_issue(issue: Issue, pictures: Sequence[ShownAsset]) -> list[IssueRepair]:
    """Return the repairs of a validation issue that the composer offers; `pictures` are the post's attached media."""
    if issue.repair_hint is None:
        return []
    repairs = _REPAIRS_BY_CODE.get(issue.code, _suggested_repair)(issue, pictures)
    return repairs or _remove_file(issue, pictures)


def repair_that_leaves_account_out(found: TargetValidation, validated: Sequence[TargetValidation]) -> IssueRepair | None:
    """Return the repair that takes the target of an account out of the post; None without errors or without other targets."""
    if found.valid or len(validated) < 2:
        return None
    account = found.target.account
    named = {"account": f"{platform_label(account.platform)} {account.handle or account.external_id}"}
    label, account_id = _("Leave out %(account)s") % named, account.id
    return IssueRepair(f"{account_id}|LEAVE_OUT", label, lambda media: media.content.remove_target(account_id))


def find_repair(
    validated: Sequence[TargetValidation], pictures: Sequence[ShownAsset], name: str
) -> tuple[ComposerFocus, IssueRepair] | None:
    """Return the repair that a clicked button of the composer names, and what gets the focus then; None if the issue is gone.

    `validated` are the results of validating the post's targets.
    """
    for found in validated:
        account_id = found.target.account.id
        leaves_out = repair_that_leaves_account_out(found, validated)
        if leaves_out and leaves_out.name == name:
            return ComposerFocus(account_id, ACCOUNT_CHOICE), leaves_out
        for issue in found.issues:
            for repair in repairs_of_issue(issue, pictures):
                if repair.name == name:
                    return ComposerFocus(account_id, TEXT) if issue.field.startswith("targets[") else ComposerFocus(), repair
    return None


def _repair(
    issue: Issue, label: str, change: Callable[[ComposerContent], None], choice: str = "", note: str = ""
) -> IssueRepair:
    """Return a repair that changes the composer's content; `choice` tells it from the other repairs of the issue."""
    return IssueRepair(_name(issue, choice), label, lambda media: change(media.content), note)


def _name(issue: Issue, choice: str) -> str:
    return f"{issue.field}|{issue.code}" + (f"|{choice}" if choice else "")


def _suggested_repair(issue: Issue, pictures: Sequence[ShownAsset]) -> list[IssueRepair]:
    """Return the repair that an issue's hint describes: a value to set, or an asset or option to remove."""
    hint, advice = issue.repair_hint, advice_sentence(issue)
    if hint is None:
        return []
    if hint.action in SET_ACTIONS and hint.value is not None:
        change = partial(ComposerContent.set_field, path=hint.field, value=hint.value)
        if hint.action == "replace_text":
            return [_repair(issue, _("Shorten"), change, note=advice)]
        return [_repair(issue, advice, change)]
    if hint.action == "remove_option" or (hint.action == "remove_media" and hint.field.endswith("]")):
        return [_repair(issue, advice, partial(ComposerContent.remove_field, path=hint.field))]
    return []


def _convert_picture(issue: Issue, pictures: Sequence[ShownAsset]) -> list[IssueRepair]:
    """Return the repair that converts an image to a JPEG within the platform's limits; other files cannot be converted."""
    place = ATTACHED_FILE.fullmatch(issue.field)
    picture = pictures[int(place[1])] if place else None
    if picture is None or picture.asset is None or picture.asset.kind != MediaAsset.Kind.IMAGE:
        return []
    media_id, max_bytes = picture.media_id, issue.facts["max_bytes"]
    max_size = (issue.facts["width"], issue.facts["height"]) if "width" in issue.facts else None
    white = "" if picture.asset.mime_type == "image/jpeg" else _("Transparent parts become white.")
    return [
        IssueRepair(
            _name(issue, f"{media_id}:{max_bytes}"),
            advice_sentence(issue),
            lambda media: media.convert_attached_to_jpeg(media_id, max_bytes, max_size),
            " ".join([_("A new file is made; the one in the library stays as it is."), white]).strip(),
        )
    ]


def _remove_file(issue: Issue, pictures: Sequence[ShownAsset]) -> list[IssueRepair]:
    """Return the repair that removes a file with an error which nothing else repairs here, or the last of too large files.

    What a person can do with the file elsewhere, such as convert a video, is its note.
    """
    place = ATTACHED_FILE.fullmatch(issue.field)
    if issue.severity != "error" or not (place or issue.code == "MEDIA_TOO_LARGE"):
        return []
    index, label = (int(place[1]), _("Remove this file")) if place else (len(pictures) - 1, _("Remove the last file"))
    change = partial(ComposerContent.remove_media_at, places=[index])
    return [_repair(issue, label, change, pictures[index].media_id, note=advice_sentence(issue))]


def _keep_fewer_media(issue: Issue, pictures: Sequence[ShownAsset]) -> list[IssueRepair]:
    kind, limit, surplus = issue.facts["kind"], issue.facts["limit"], issue.facts["surplus"]
    several = _("Keep only the first %(files)s") % {"files": count_of_kind_in_words(kind, limit)}
    label = several if limit > 1 else _("Keep only the first one")
    return [_repair(issue, label, partial(ComposerContent.remove_media_at, places=surplus), f"{kind}:{limit}")]


def _keep_media_of_one_kind(issue: Issue, pictures: Sequence[ShownAsset]) -> list[IssueRepair]:
    places = issue.facts["places"]
    repairs = []
    for kept in places:
        others = [place for kind, own in places.items() if kind != kept for place in own]
        label = _("Keep only the %(kind)s") % {"kind": KIND_PLURALS[kept]}
        change = partial(ComposerContent.remove_media_at, places=others)
        repairs.append(_repair(issue, label, change, "-".join([kept, *places])))
    return repairs


def _remove_poll_or_media(issue: Issue, pictures: Sequence[ShownAsset]) -> list[IssueRepair]:
    remove_media = partial(ComposerContent.remove_media_at, places=range(len(pictures)))
    return [
        _repair(issue, _("Remove the poll"), partial(ComposerContent.remove_field, path=issue.field), "poll"),
        _repair(issue, _("Remove all media"), remove_media, "media"),
    ]


def _correct_choice_count(issue: Issue, pictures: Sequence[ShownAsset]) -> list[IssueRepair]:
    most = issue.facts["most"]
    if issue.facts["count"] > most:
        label = _("Keep only the first %(number)d choices") % {"number": most}
        return [_repair(issue, label, partial(ComposerContent.shorten_list, path=issue.field, length=most))]
    poll = issue.field.rpartition(".")[0]
    remove = partial(ComposerContent.remove_field, path=poll)
    return [_repair(issue, _("Remove the poll"), remove, note=advice_sentence(issue))]


def _correct_poll_duration(issue: Issue, pictures: Sequence[ShownAsset]) -> list[IssueRepair]:
    minutes = issue.facts["rules"].longest_allowed_duration_up_to(issue.facts["minutes"])
    label = _("Set the duration to %(duration)s") % {"duration": minutes_as_duration_in_words(minutes)}
    return [_repair(issue, label, partial(ComposerContent.set_field, path=issue.field, value=minutes))]


def _remove_part(issue: Issue, pictures: Sequence[ShownAsset]) -> list[IssueRepair]:
    """Return the repair that removes a part of a thread or a choice of a poll, if the post may be without it."""
    if not issue.facts.get("removable"):
        return []
    path = issue.field.removesuffix(".text")
    label = _("Remove the choice") if issue.code.startswith("POLL_") else _("Remove the part")
    return [_repair(issue, label, partial(ComposerContent.remove_field, path=path))]


_REPAIRS_BY_CODE: dict[str, Callable[[Issue, Sequence[ShownAsset]], list[IssueRepair]]] = {
    "MEDIA_TYPE_NOT_TAKEN": _convert_picture,
    "MEDIA_TOO_LARGE": _convert_picture,
    "MEDIA_TOO_MANY_PIXELS": _convert_picture,
    "MEDIA_TOO_MANY": _keep_fewer_media,
    "MEDIA_MIXED": _keep_media_of_one_kind,
    "POLL_WITH_MEDIA": _remove_poll_or_media,
    "POLL_CHOICE_COUNT": _correct_choice_count,
    "POLL_DURATION": _correct_poll_duration,
    "POLL_CHOICE_EMPTY": _remove_part,
    "POLL_CHOICE_REPEATED": _remove_part,
    "TEXT_REQUIRED": _remove_part,
    "SEGMENT_REPEATED": _remove_part,
}
