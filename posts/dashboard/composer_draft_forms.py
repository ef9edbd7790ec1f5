"""Composer drafts and the composer's form: the form is saved as a draft, and a draft is opened in the form again."""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse, JsonResponse, QueryDict
from django.utils import timezone
from django.utils.translation import gettext as _

from config.pages.language import format_date
from posts.dashboard.inputs import normalize_newlines_and_nul
from posts.models import ComposerDraft, PostGroup
from posts.services import composer_drafts
from posts.states import GroupStatus
from workspaces.sign_in import saved_form
from workspaces.workspace_page import WorkspacePage, row_id_of_earlier_submission

DRAFT_KEY_PATTERN = re.compile(r"[\w-]{16,64}", re.ASCII)
# Fields of the form that are not a part of what a person has entered.
_NOT_CONTENT = frozenset(
    (
        "csrfmiddlewaretoken",
        "action",
        "key",
        "seen",
        "editor",
        "file",
        "shown_when",
        "source_url",
        "emoji_words",
        "people_words",
        "tab",
        saved_form.WRITER_FIELD,
    )
)
_WITHOUT_MEANING = frozenset(("content_version",))


@dataclass(frozen=True)
class OfferedDraft:
    """A composer draft that the composer's page offers to continue, with the address of the composer that shows it."""

    draft: ComposerDraft
    address: str


def draft_key_of_request_or_new_key(page: WorkspacePage) -> str:
    """Return the key of the composer draft that a request is about; a new key if it names none."""
    request = page.request
    sent = request.POST.get("key", "") if request.method == "POST" else request.GET.get("draft", "")
    if request.method == "POST" and sent:
        return sent  # `run_once_per_submission` checks it
    return sent if DRAFT_KEY_PATTERN.fullmatch(sent) else composer_drafts.new_draft_key()


def find_composer_draft(page: WorkspacePage, key: str) -> ComposerDraft | None:
    """Return the signed-in person's composer draft with this key; None if there is none or the key is malformed."""
    if not DRAFT_KEY_PATTERN.fullmatch(key):
        return None
    return composer_drafts.find_draft_or_none(caller=page.caller, workspace_id=page.workspace.id, key=key)


def form_data_of_draft(draft: ComposerDraft) -> QueryDict:
    """Return the saved fields of a composer draft as the QueryDict of the form on the composer page."""
    form = QueryDict(mutable=True)
    for name, values in draft.fields.items():
        form.setlist(name, values)
    return form


def save_form_as_draft_or_none(
    page: WorkspacePage, group: PostGroup | None, key: str, sent: QueryDict | None = None
) -> composer_drafts.SavedDraft | None:
    """Save the composer form, or `sent`, as a draft; return None if it is empty and there is no draft to replace."""
    sent = page.request.POST if sent is None else sent
    fields = {
        name: [normalize_newlines_and_nul(value) for value in values]
        for name, values in sent.lists()
        if name not in _NOT_CONTENT and "\0" not in name
    }
    if not DRAFT_KEY_PATTERN.fullmatch(key) or (not _has_meaning(fields) and find_composer_draft(page, key) is None):
        return None
    return composer_drafts.save_draft_or_copy(
        caller=page.caller,
        workspace_id=page.workspace.id,
        key=key,
        fields=fields,
        group=group,
        editor=normalize_newlines_and_nul(sent.get("editor", ""))[:64],
        seen=sent.get("seen", ""),
    )


def redirect_to_kept_text_or_none(page: WorkspacePage, group: PostGroup | None) -> HttpResponse | None:
    """Redirect from the composer to a draft of what this person has sent while signed out; None if nothing was kept."""
    if page.request.method == "POST" or not page.may_write_posts:
        return None
    sent = saved_form.pop_text_kept_while_signed_out(page.request, page.caller.actor_id)
    if sent is None:
        return None
    key, operation = sent.get("key", ""), "posts.update" if group else "posts.create"
    if DRAFT_KEY_PATTERN.fullmatch(key) and row_id_of_earlier_submission(page, operation, key):
        key = composer_drafts.new_draft_key()  # the post was saved from this draft in another window
    saved = save_form_as_draft_or_none(page, group, key, sent)
    if saved is None:
        return None
    messages.info(
        page.request, _("You were signed out, so nothing was saved or published yet. Here is what you have written.")
    )
    return page.redirect(f"{page.request.path}?draft={saved.draft.key}")


def redirect_to_finished_post_or_none(page: WorkspacePage, group: PostGroup | None) -> HttpResponse | None:
    """Redirect from a composer draft to the post that was already saved from this draft; return None if there is none."""
    key = page.request.GET.get("draft", "")
    operation = "posts.update" if group else "posts.create"
    made = row_id_of_earlier_submission(page, operation, key) if DRAFT_KEY_PATTERN.fullmatch(key) else ""
    if not made:
        return None
    messages.info(page.request, _("This post was saved from what you had written there."))
    return page.redirect(page.url_of_page("post", post_group_id=made))


def save_draft_and_respond(page: WorkspacePage, group: PostGroup | None, key: str) -> HttpResponse:
    """Save the composer's form as a draft and say so: to the composer's script as JSON, otherwise by showing the draft."""
    operation = "posts.update" if group else "posts.create"
    scripted = page.request.headers.get("Accept") == "application/json"
    if DRAFT_KEY_PATTERN.fullmatch(key) and row_id_of_earlier_submission(page, operation, key):
        return JsonResponse({"finished": True}) if scripted else page.redirect(f"{page.request.path}?draft={key}")
    saved = save_form_as_draft_or_none(page, group, key)
    if not scripted:
        return page.redirect(f"{page.request.path}?draft={saved.draft.key}" if saved else page.request.path)
    if saved is None:
        return JsonResponse({"key": key, "seen": "", "said": ""})
    said = draft_saved_at_in_words(page, saved.draft)
    if saved.is_copy:
        said = _("%(saved)s as a second draft, because this one was changed in another window") % {"saved": said}
    return JsonResponse({"key": saved.draft.key, "seen": saved.draft.saved_at.isoformat(), "said": said})


def draft_saved_at_in_words(page: WorkspacePage, draft: ComposerDraft) -> str:
    """Return when a composer draft was saved, in words, such as "Saved 14:03"; with the day if it is not today."""
    at, now = draft.saved_at.astimezone(page.zone), timezone.now().astimezone(page.zone)
    return _("Saved %(time)s") % {"time": format_date(at, "H:i" if at.date() == now.date() else "j M, H:i")}


def composer_drafts_to_continue(page: WorkspacePage, group: PostGroup | None) -> list[OfferedDraft]:
    """Return the drafts that the composer's page offers to continue: those of the edited post, or all of the person."""
    drafts = composer_drafts.drafts_of_caller(caller=page.caller, workspace_id=page.workspace.id).select_related("group")
    if group:
        drafts = drafts.filter(group=group)
    return [OfferedDraft(draft, composer_address_of_draft(page, draft)) for draft in drafts]


def composer_address_of_draft(page: WorkspacePage, draft: ComposerDraft) -> str:
    """Return the composer's address that opens a draft: of its post if that can still be edited, or else of a new post."""
    editable = draft.group is not None and draft.group.status in (
        GroupStatus.DRAFT,
        GroupStatus.PENDING_CONFIRMATION,
        GroupStatus.SCHEDULED,
    )
    address = page.url_of_page("post-edit", post_group_id=draft.group.id) if editable and draft.group else ""
    return f"{address or page.url_of_page('compose')}?draft={draft.key}"


def _has_meaning(fields: dict[str, list[str]]) -> bool:
    return any(value.strip() for name, values in fields.items() if name not in _WITHOUT_MEANING for value in values)
