"""The input of services that create and edit posts: frozen values that the serializers' data is converted to.

Pages and other callers build the same values, so services never see a dictionary of unknown keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from typing import Any

from django.utils import timezone

from posts.models import PostGroup, PostTarget
from posts.states import TargetStatus


class Unchanged(Enum):
    """The value of a PostEdit field that the edit does not change; None would set the field of the post to null."""

    UNCHANGED = "unchanged"


UNCHANGED = Unchanged.UNCHANGED


@dataclass(frozen=True)
class TargetInput:
    """A target in the content of a post to create or edit: the account, its options, and its own text and time if any.

    `slot`: the time is the next free slot of the account; with `scheduled_at`, it is the slot at that time, which the target
    takes or keeps. The API knows only the next one.
    """

    platform: str
    connected_account_id: str
    text: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    scheduled_at: datetime | None = None
    slot: str | None = None


@dataclass(frozen=True)
class MediaInput:
    """A media asset in the content of a post to create or edit; `alt_text` replaces the asset's own."""

    media_id: str
    alt_text: str | None = None

    def as_stored_json(self) -> dict[str, str]:
        """Return the entry for this MediaInput in the JSON field `PostGroup.media`."""
        return {"media_id": self.media_id} | ({} if self.alt_text is None else {"alt_text": self.alt_text})


@dataclass(frozen=True)
class PostInput:
    """The input of services that create a post: its content, its time (None: now), and who receives its events."""

    text: str
    targets: tuple[TargetInput, ...]
    media: tuple[MediaInput, ...] = ()
    workspace_id: str | None = None
    scheduled_at: datetime | None = None
    draft: bool = False
    webhook_url: str | None = None
    sandbox: bool = False
    metadata: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_request(cls, fields: Mapping[str, Any]) -> PostInput:
        """Convert the validated body of a POST /posts request to a PostInput."""
        return cls(**_typed(fields))


@dataclass(frozen=True)
class PostEdit:
    """The input of services that edit a stored post; None keeps the stored text, targets, media and metadata.

    `scheduled_at` is None to remove a draft's publishing time.
    """

    text: str | None = None
    targets: tuple[TargetInput, ...] | None = None
    media: tuple[MediaInput, ...] | None = None
    scheduled_at: datetime | Unchanged | None = UNCHANGED
    metadata: Mapping[str, str] | None = None

    @classmethod
    def from_request(cls, fields: Mapping[str, Any]) -> PostEdit:
        """Convert the validated body of a PATCH /posts/{id} request to a PostEdit."""
        return cls(**_typed(fields))

    @property
    def changed_field_names(self) -> list[str]:
        """Return the names of the fields of a post that this PostEdit changes, in alphabetical order."""
        values = {"text": self.text, "targets": self.targets, "media": self.media, "metadata": self.metadata}
        given = [name for name, value in values.items() if value is not None]
        return sorted(given if self.scheduled_at is UNCHANGED else [*given, "scheduled_at"])


def media_inputs_of_group(group: PostGroup) -> tuple[MediaInput, ...]:
    """Return the media of a stored post group as MediaInput values, the input for editing the post."""
    return _media(group.media)


def target_inputs_of_group(group: PostGroup) -> tuple[TargetInput, ...]:
    """Return the targets of a stored post group, except cancelled ones, as TargetInput values for editing the post.

    A target whose time equals the group's has no time of its own: it moves with the group.
    """
    return tuple(
        TargetInput(
            each.platform,
            each.account_id,
            each.text,
            each.options,
            own_scheduled_at(group, each),
            "next" if each.slot else None,
        )
        for each in group.targets.all()
        if each.status != TargetStatus.CANCELLED
    )


def own_scheduled_at(group: PostGroup, target: PostTarget) -> datetime | None:
    """Return the `scheduled_at` for the TargetInput of a stored target; None if it has the time of its post group."""
    return None if target.scheduled_at == group.scheduled_at and not target.slot else target.scheduled_at


def copy_of_edit_keeping_taken_slots(group: PostGroup, edit: PostEdit) -> PostEdit:
    """Return a copy of a PostEdit in which targets with a `slot` keep the slots they have taken, unless these have passed."""
    coming = [each for each in group.targets.all() if each.slot and each.scheduled_at and each.scheduled_at > timezone.now()]
    taken = {each.account_id: each.scheduled_at for each in coming}
    targets = [
        replace(each, scheduled_at=taken.get(each.connected_account_id)) if each.slot else each for each in edit.targets or ()
    ]
    return replace(edit, targets=tuple(targets) or None)


def _typed(fields: Mapping[str, Any]) -> dict[str, Any]:
    typed = dict(fields)
    if "targets" in typed:
        typed["targets"] = tuple(TargetInput(**target) for target in typed["targets"])
    if "media" in typed:
        typed["media"] = _media(typed["media"])
    return typed


def _media(entries: Iterable[Mapping[str, Any]]) -> tuple[MediaInput, ...]:
    return tuple(MediaInput(**entry) for entry in entries)
