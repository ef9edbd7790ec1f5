"""Validation of content without creating a post."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from config.api.caller import Caller, require, resolve_workspace_id
from config.api.scopes import any_of
from posts.attached_media import find_attached_assets, resolve_media
from posts.models import PostGroup
from posts.planning import find_target_accounts, resolve_targets
from posts.validation import Validation, validate

ANY_POSTS_SCOPE = any_of("posts.read", "posts.draft", "posts.schedule", "posts.publish")


def validate_post(
    *,
    caller: Caller,
    text: str,
    targets: Sequence[Mapping[str, Any]],
    media: Sequence[Mapping[str, Any]] = (),
    workspace_id: str | None = None,
    group: PostGroup | None = None,
) -> Validation:
    """Validate content against its targets' platforms; nothing is written.

    `group` is the stored group that the content will replace, if any. Raises what `create_post` raises, but ContentInvalid.
    """
    chosen = resolve_workspace_id(caller, workspace_id)
    require(caller, chosen, ANY_POSTS_SCOPE, write=False, body_field="workspace_id")
    attached = resolve_media(media, find_attached_assets(chosen, media))
    sandbox, group_id = (group.sandbox, group.id) if group else (False, "")
    inputs = resolve_targets(caller, find_target_accounts(chosen, targets), text, targets, sandbox, attached)
    return validate(inputs, group_id=group_id)
