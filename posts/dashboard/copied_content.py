"""The content of a stored post that a person copies: as the fields of a POST /posts request, or as a new composer draft."""

from __future__ import annotations

import json
from collections.abc import Container
from datetime import datetime
from typing import Any

from django.utils.dateparse import parse_datetime

from posts.attached_media import existing_workspace_assets_by_id
from posts.dashboard.composer_content import ComposerContent
from posts.dashboard.forms import DATETIME_LOCAL_FORMAT
from posts.models import ComposerDraft, PostGroup
from posts.services import composer_drafts
from posts.tags import metadata_with_tags
from workspaces.workspace_page import WorkspacePage


def request_fields_to_copy_post(
    group: PostGroup, *, only: Container[str] | None = None, times_after: datetime | None = None
) -> dict[str, Any]:
    """Return the fields of the POST /posts request that copies a post's content. Deleted media are left out.

    The accounts' own times are copied only if they are later than `times_after`.
    `only` contains the ids of the accounts to which the copy is sent, if not to all. A post that was simulated at a real
    account stays simulated.
    """
    content = _remaining_content(group)
    content.targets = [each for each in content.targets if only is None or each["connected_account_id"] in only]
    for target in content.targets:
        at = parse_datetime(target.pop("scheduled_at", ""))
        if at and times_after and at > times_after:
            target["scheduled_at"] = at.isoformat()
    accounts = [(target.sandbox, target.account.sandbox) for target in group.targets.select_related("account")]
    simulated = any(sandbox and not own for sandbox, own in accounts)
    metadata = metadata_with_tags({}, content.tags)
    return {**content.request_fields, "workspace_id": group.workspace_id, "sandbox": simulated, "metadata": metadata}


def copy_post_to_composer_draft(page: WorkspacePage, group: PostGroup, *, when: str = "") -> ComposerDraft:
    """Save a post's content as a new composer draft of the signed-in person; `when` is the time that is filled in."""
    content = _remaining_content(group)
    fields: dict[str, list[str]] = {
        "text": [content.text],
        "tags": [content.tags],
        "account": [],
        "media": [],
        "when": [when] if when else [],
    }
    for target in content.targets:
        account_id = target["connected_account_id"]
        fields["account"].append(account_id)
        fields[f"{account_id}-unshown"] = [json.dumps(target["options"])]
        if "slot" in target:
            fields[f"time-{account_id}-slot"] = ["on"]
        if at := parse_datetime(target.get("scheduled_at", "")):
            fields[f"time-{account_id}-when"] = [at.astimezone(page.zone).strftime(DATETIME_LOCAL_FORMAT)]
            fields[f"time-{account_id}-which"] = [str(at.astimezone(page.zone).fold)]
        if target["text"] is not None:
            fields |= {f"own-{account_id}": ["on"], f"text-{account_id}": [target["text"]]}
    for each in content.media:
        fields["media"].append(each["media_id"])
        if each.get("alt_text") is not None:
            fields[f"alt-{each['media_id']}"] = [each["alt_text"]]
    key = composer_drafts.new_draft_key()
    return composer_drafts.save_draft_or_copy(
        caller=page.caller, workspace_id=page.workspace.id, key=key, fields=fields
    ).draft


def _remaining_content(group: PostGroup) -> ComposerContent:
    """Return the content of a post that is copied, without media that were deleted."""
    content = ComposerContent.from_group(group)
    remaining = existing_workspace_assets_by_id(group.workspace_id, content.media_ids)
    content.media = [each for each in content.media if each["media_id"] in remaining]
    return content
