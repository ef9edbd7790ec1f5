"""Dashboard views of the composer page, on which a person writes or edits a post.

Every button submits the form to the same URL.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from config.api.errors import ApiError, Conflict
from config.api.uploads import uploaded_files_in_field
from config.pages.sentences import PageRefusal, error_sentences
from posts import services
from posts.content import PostEdit, PostInput, copy_of_edit_keeping_taken_slots
from posts.dashboard.approval_words import awaits_approval_message_with_time
from posts.dashboard.chosen_slot import ChosenSlot
from posts.dashboard.composer_draft_forms import (
    draft_key_of_request_or_new_key,
    find_composer_draft,
    redirect_to_finished_post_or_none,
    redirect_to_kept_text_or_none,
    save_draft_and_respond,
)
from posts.dashboard.composer_media import ComposerMedia
from posts.dashboard.composer_state import Composer
from posts.dashboard.inputs import (
    get_post_group_of_workspace,
    normalize_newlines_and_nul,
    submitted_content_version_or_zero,
    validated_page_input,
)
from posts.dashboard.insertable_texts import TEMPLATES_OF_SEARCHED_LISTS
from posts.dashboard.scheduling_words import publishing_message, scheduled_for_message
from posts.dashboard.submit_buttons import PUBLISH, SAVE, SCHEDULE
from posts.dashboard.undo_offers import publish_now_due_at_or_none, undo_offer_after_scheduling_or_publishing
from posts.errors import ContentInvalid
from posts.models import PostGroup
from posts.serializers.requests import CreatePostSerializer, UpdatePostSerializer
from posts.services.review import CONFIRMABLE_GROUP_STATUSES
from posts.states import CANCELLABLE_GROUP_STATUSES, GroupStatus
from posts.tags import MAX_TAG_CHARACTERS, MAX_TAGS, InvalidTags, distinct_tags_in_text, metadata_with_tags, tags_of_metadata
from workspaces.sign_in.saved_form import keep_text_while_signed_out
from workspaces.workspace_page import (
    WorkspacePage,
    record_refused_write,
    run_once_per_submission,
    workspace_page,
)

SAVE_COMPOSER_DRAFT = "keep"


@keep_text_while_signed_out
@workspace_page("GET", "POST", operation="posts.create", files=True)
def compose_new_post(page: WorkspacePage) -> HttpResponse:
    """Dashboard page on which a person composes a new post."""
    return redirect_to_kept_text_or_none(page, None) or _respond(page, None)


@keep_text_while_signed_out
@workspace_page("GET", "POST", operation="posts.update", files=True)
def edit_post(page: WorkspacePage, post_group_id: str) -> HttpResponse:
    """Dashboard page with the composer, in which a person edits a draft, a scheduled post or a post awaiting approval."""
    group = get_post_group_of_workspace(page, post_group_id)
    if kept := redirect_to_kept_text_or_none(page, group):
        return kept
    if page.request.method != "POST" and (group.status not in CANCELLABLE_GROUP_STATUSES or group.was_attempted):
        if draft := find_composer_draft(page, page.request.GET.get("draft", "")):
            messages.warning(page.request, _("The post was published in the meantime. Here are your changes, as a new post."))
            return page.redirect(f"{page.url_of_page('compose')}?draft={draft.key}")
        raise PageRefusal(_("This post was already published or attempted, so it can no longer be edited."))
    return _respond(page, group)


def _respond(page: WorkspacePage, group: PostGroup | None) -> HttpResponse:
    if not page.may_write_posts:
        return page.render("posts/compose_not_allowed.html")
    if page.request.method != "POST":
        return redirect_to_finished_post_or_none(page, group) or Composer.from_request(page, group).render()
    action, _colon, subject = page.request.POST.get("action", "").partition(":")
    if action == SAVE_COMPOSER_DRAFT:
        return save_draft_and_respond(page, group, draft_key_of_request_or_new_key(page))
    live = "HX-Request" in page.request.headers
    composer = Composer.from_request(page, group)
    if live and action in TEMPLATES_OF_SEARCHED_LISTS:
        return page.render(TEMPLATES_OF_SEARCHED_LISTS[action], composer=composer)
    if action in (SAVE, SCHEDULE, PUBLISH):
        return _save(composer, action)
    if action == "check" and live:
        return composer.render("posts/compose_check.html")
    _apply_button(composer, action, subject)
    if not live:
        composer.save_draft()
    response = composer.render()
    if live:
        response["HX-Trigger-After-Swap"] = "composed"  # triggers a check of the new content
    return response


def _operation(group: PostGroup | None) -> str:
    return "posts.update" if group else "posts.create"


def _apply_button(composer: Composer, action: str, subject: str) -> None:
    """Change the composer's form as the clicked button says, for example attach a file, without saving the post.

    An unknown button changes nothing.
    """
    match action:
        case "insert":
            composer.append_text_in_open_tab(normalize_newlines_and_nul(subject))
        case "field":
            composer.focus_field(subject)
        case "repair":
            composer.repair_issue(subject)
        case "thread":
            composer.apply_thread_button(*f"{subject}::".split(":")[:3])
        case _:
            _apply_media_button(composer.page.request, composer.media, action, subject)


def _apply_media_button(request: HttpRequest, media: ComposerMedia, action: str, subject: str) -> None:
    """Change the composer's media as the clicked button says; the Enter key in the field for a URL fetches that file."""
    match action:
        case "upload":
            media.upload_and_attach_files(uploaded_files_in_field(request, "file"))
        case "fetch" | "check" if url := request.POST.get("source_url", "").strip():
            media.fetch_and_attach(url)
        case "attach":
            media.attach(subject)
            media.show_library_from()
        case "library":
            media.show_library_from(subject)
        case "leave-out":
            media.content.detach_media(subject)
        case "crop":
            media.offer_crop(subject)
        case "crop-use":
            media.crop_attached(subject)
        case "earlier":
            media.move(subject, -1)
        case "later":
            media.move(subject, 1)


def _add_problems_of_times(composer: Composer, how: str, slot: ChosenSlot | None) -> None:
    schedule = composer.schedule
    needs_time = how == SCHEDULE and not _all_have_times(composer)
    if needs_time and schedule.is_valid() and schedule.chosen_time_or_none is None:
        schedule.add_error("when", _("Choose the day and time."))
    if (how != PUBLISH and schedule.errors) or composer.account_times.have_errors:
        composer.problems.append(_("Correct the time."))
    if how == PUBLISH and composer.entered_time and composer.buttons_have_outdated_time:
        composer.problems.append(_("Nothing was published, because a time is filled in. Choose below what to do."))
    if how == PUBLISH and composer.content.targets and _all_have_times(composer):
        composer.problems.append(
            _("Nothing was published, because each account has its own time. Schedule the post instead.")
        )
    if slot and slot.is_gone:
        composer.problems.append(_("Nothing was scheduled, because the slot is gone. Choose below what to do."))


def _save(composer: Composer, how: str) -> HttpResponse:
    page, schedule = composer.page, composer.schedule
    slot = _slot_to_take(composer, how) if schedule.is_valid() else None
    _add_problems_of_times(composer, how, slot)
    try:
        metadata_with_tags({}, composer.content.tags)
    except InvalidTags:
        limits = {"tags": MAX_TAGS, "characters": MAX_TAG_CHARACTERS}
        composer.problems.append(_("A post can have at most %(tags)d tags of %(characters)d characters.") % limits)
    if not composer.content.targets:
        composer.problems.append(_("Choose at least one account."))
    if composer.problems or composer.media.problems:
        return _show_with_problems(composer)
    operation = _operation(composer.group)
    at = publish_now_due_at_or_none(page) if how == PUBLISH else schedule.chosen_time_or_none
    try:
        group_id, repeated = run_once_per_submission(page, operation, lambda: _write(composer, how, at, slot))
    except ApiError as error:
        record_refused_write(page, operation, error)
        composer.problems += _error_messages(error, operation)
        return _show_with_problems(composer)
    if repeated:
        words = _("This was already saved earlier. Nothing was done again.")
        return page.success_redirect(words, "post", post_group_id=group_id)
    undo = undo_offer_after_scheduling_or_publishing(
        composer.group, group_id, publishes=how == PUBLISH, when=composer.entered_time
    )
    offered = (how == SCHEDULE and _was_released(composer, at)) or (how == PUBLISH and at is not None)
    address = undo.address(page) if offered and page.may_publish_without_approval else ""
    return page.success_redirect(_success_message(how, at, page), "post", undo=address, post_group_id=group_id)


def _slot_to_take(composer: Composer, how: str) -> ChosenSlot | None:
    """Return the slot that a composed post takes if it is scheduled: the chosen one, unless its account got another time."""
    slot, times = composer.slot, composer.account_times
    if slot is None or not slot.is_wanted or how != SCHEDULE or slot.at != composer.schedule.chosen_time_or_none:
        return None
    with_other_times = times.valid_times.keys() | times.in_slots
    return slot if slot.account.id in set(composer.content.account_ids) - with_other_times else None


def _all_have_times(composer: Composer) -> bool:
    """Return whether every account chosen in the composer already has a time: its own, or that of a slot."""
    times = composer.account_times
    return times.valid_times.keys() | times.in_slots >= set(composer.content.account_ids)


def _was_released(composer: Composer, at: datetime | None) -> bool:
    """Return whether the submitted composer newly schedules the post or changes its time, instead of only its content."""
    group = composer.group
    return group is None or group.status != GroupStatus.SCHEDULED or group.scheduled_at != at


def _show_with_problems(composer: Composer) -> HttpResponse:
    composer.save_draft()
    return composer.render(status=422)


def _write(composer: Composer, how: str, at: datetime | None, slot: ChosenSlot | None) -> PostGroup:
    """Save the composer's content as a new or changed post group, which is due at `at` if it is scheduled or published.

    Every button but the one for saving also approves a changed post group that awaits approval or is a draft, or asks for
    the approval of a draft. A new post takes the `slot`, if there is one.
    """
    caller, body, group = composer.page.caller, dict(composer.content.request_fields), composer.group
    metadata = _changed_metadata(composer)
    composer.delete_draft_of_saved_post()
    if group is None:
        body |= {"workspace_id": composer.page.workspace.id, "draft": how == SAVE, "metadata": metadata or {}}
        data = validated_page_input(CreatePostSerializer, body | _scheduled_at_field(at))
        post = PostInput.from_request(data)
        return services.create_post(caller=caller, post=slot.copy_of_post_in_this_slot(post) if slot else post).group
    data = validated_page_input(UpdatePostSerializer, body | _changed_scheduled_at(group, how, at))
    edit = copy_of_edit_keeping_taken_slots(group, replace(PostEdit.from_request(data), metadata=metadata))
    changed = services.update_post(
        caller=caller,
        post_group_id=group.id,
        content_version=submitted_content_version_or_zero(composer.page),
        edit=edit,
    ).group
    waits = caller.needs_approval and changed.status == GroupStatus.PENDING_CONFIRMATION  # the change has asked for it
    if how == SAVE or waits or changed.status not in CONFIRMABLE_GROUP_STATUSES:
        return changed
    due = at if how == PUBLISH else None
    release = services.request_approval if caller.needs_approval else services.confirm_post
    return release(caller=caller, post_group_id=changed.id, content_version=changed.content_version, scheduled_at=due).group


def _changed_metadata(composer: Composer) -> dict[str, str] | None:
    """Return the metadata of a composed post with the tags of the form; None if the post has these tags already."""
    before = composer.group.metadata if composer.group else {}
    if "tags" not in composer.page.request.POST or distinct_tags_in_text(composer.content.tags) == tags_of_metadata(before):
        return None
    return metadata_with_tags(before, composer.content.tags)


def _changed_scheduled_at(group: PostGroup, how: str, at: datetime | None) -> dict[str, Any]:
    """When a person composes a post, return the new publishing time as API request data; empty if it is unchanged."""
    if how == PUBLISH and group.status == GroupStatus.SCHEDULED:
        return _scheduled_at_field(at or timezone.now())
    if how == PUBLISH:  # approving sets the time
        return {"scheduled_at": None} if group.scheduled_at else {}
    if how == SCHEDULE or at != group.scheduled_at:
        return _scheduled_at_field(at) or {"scheduled_at": None}
    return {}


def _scheduled_at_field(at: datetime | None) -> dict[str, Any]:
    return {"scheduled_at": at.astimezone(UTC).isoformat()} if at else {}


def _error_messages(error: ApiError, operation: str) -> list[str]:
    if isinstance(error, ContentInvalid):
        why = _("Nothing was published or scheduled, because the content does not fit all accounts.")
        return [" ".join([why, _("See the problems listed for each account.")])]
    if isinstance(error, Conflict):
        return [_("Somebody else changed this post while you were editing. Copy what you need, then open it again.")]
    return error_sentences(error, operation)


def _success_message(how: str, at: datetime | None, page: WorkspacePage) -> str:
    if how == SCHEDULE:
        return scheduled_for_message(page, at)
    if how == PUBLISH and not page.may_publish_without_approval:
        return awaits_approval_message_with_time()
    return publishing_message(at) if how == PUBLISH else _("Saved.")
