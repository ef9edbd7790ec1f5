"""Composer drafts: what a person has entered in the dashboard's composer is saved until a post is made of it.

A composer draft belongs to one person. Its number and age are limited (posts/retention.py deletes old ones).
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from config.api.caller import Caller, require_access
from posts.models import ComposerDraft, PostGroup

MAX_DRAFTS_PER_PERSON = 30  # of one person in a workspace; the oldest is deleted for a new one

FormFields = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class SavedDraft:
    """A composer draft that was just saved; `is_copy` if another browser page had changed the draft in the meantime."""

    draft: ComposerDraft
    is_copy: bool = False


def new_draft_key() -> str:
    """Return a new random key for a composer draft."""
    return secrets.token_urlsafe(16)


def drafts_of_caller(*, caller: Caller, workspace_id: str) -> QuerySet[ComposerDraft]:
    """Return the composer drafts of the calling person in a workspace, the newest first, without discarded ones."""
    return _own_drafts(caller, workspace_id).filter(discarded_at=None).order_by("-saved_at")


def find_draft_or_none(*, caller: Caller, workspace_id: str, key: str) -> ComposerDraft | None:
    """Return the calling person's composer draft with this key, or None if there is none or it was discarded."""
    return drafts_of_caller(caller=caller, workspace_id=workspace_id).filter(key=key).first()


def save_draft_or_copy(
    *,
    caller: Caller,
    workspace_id: str,
    key: str,
    fields: FormFields,
    group: PostGroup | None = None,
    editor: str = "",
    seen: str = "",
) -> SavedDraft:
    """Save what a person has entered in the composer, replacing what the same page of the composer saved before.

    `editor` identifies the open page, and `seen` is the `saved_at` that the page has loaded or saved last. If another page
    has saved something else since then, nothing is replaced: the entered content becomes a second draft. A new draft deletes
    the person's oldest ones, so that at most MAX_DRAFTS_PER_PERSON remain.
    """
    content = {name: list(values) for name, values in fields.items()}
    for _ in range(2):
        try:
            with transaction.atomic():
                return _save(caller, workspace_id, key, content, group, editor, seen)
        except IntegrityError:  # another request has just inserted the draft
            continue
    return _save(caller, workspace_id, new_draft_key(), content, group, editor, "")


def discard_draft(*, caller: Caller, workspace_id: str, key: str) -> None:
    """Discard a composer draft of the calling person; `restore_discarded_draft` brings it back for a day."""
    drafts = drafts_of_caller(caller=caller, workspace_id=workspace_id)
    drafts.filter(key=key).update(discarded_at=timezone.now())


def restore_discarded_draft(*, caller: Caller, workspace_id: str, key: str) -> bool:
    """Restore a discarded composer draft of the calling person; return whether it was still there."""
    return bool(_own_drafts(caller, workspace_id).filter(key=key).update(discarded_at=None))


def delete_draft(*, caller: Caller, workspace_id: str, key: str) -> None:
    """Delete a composer draft of the calling person, because a post was made of it."""
    _own_drafts(caller, workspace_id).filter(key=key).delete()


def _own_drafts(caller: Caller, workspace_id: str) -> QuerySet[ComposerDraft]:
    require_access(caller, workspace_id, None, write=False)
    return ComposerDraft.objects.filter(workspace_id=workspace_id, user_id=caller.actor_id)


def _save(
    caller: Caller,
    workspace_id: str,
    key: str,
    content: dict[str, list[str]],
    group: PostGroup | None,
    editor: str,
    seen: str,
) -> SavedDraft:
    own = _own_drafts(caller, workspace_id)
    draft = own.select_for_update(of=("self",)).filter(key=key).first()
    is_copy = draft is not None and not _may_replace(draft, content, editor, seen)
    if draft is None or is_copy:
        if draft is not None:
            key = new_draft_key()
        draft = ComposerDraft(workspace_id=workspace_id, user_id=caller.actor_id, key=key)
        _delete_oldest(own)
    draft.group, draft.fields, draft.editor = group, content, editor
    draft.saved_at, draft.discarded_at = timezone.now(), None
    draft.save()
    return SavedDraft(draft, is_copy)


def _may_replace(draft: ComposerDraft, content: dict[str, list[str]], editor: str, seen: str) -> bool:
    """Return whether the composer page that saves a draft has seen the stored draft, and so may replace it."""
    same_page = bool(editor) and draft.editor == editor
    return same_page or draft.fields == content or _parsed(seen) == draft.saved_at


def _parsed(seen: str) -> object:
    try:
        return parse_datetime(seen)
    except ValueError:
        return None


def _delete_oldest(own: QuerySet[ComposerDraft]) -> None:
    latest = own.order_by("-saved_at").values_list("pk", flat=True)
    if surplus := list(latest[MAX_DRAFTS_PER_PERSON - 1 :]):
        ComposerDraft.objects.filter(pk__in=surplus).delete()
