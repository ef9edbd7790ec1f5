"""The text, targets and media in the composer's form, in the format of POST /posts, and the buttons that change them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.http import QueryDict

from accounts.models import ConnectedAccount
from accounts.platforms.registry import get_adapter
from accounts.platforms.types import Capabilities
from posts.content import own_scheduled_at
from posts.dashboard.account_times import AccountTimeForms
from posts.dashboard.forms import PlatformOptionsForm
from posts.dashboard.inputs import normalize_newlines_and_nul
from posts.dashboard.thread_fields import thread_option_from_form
from posts.models import PostGroup
from posts.tags import tags_of_metadata


@dataclass
class ComposerContent:
    """The content of the composer's form: a post's text, targets, media and tags.

    Targets and media are in the format of API requests, and tags are separated by commas.
    """

    text: str = ""
    targets: list[dict[str, Any]] = field(default_factory=list)
    media: list[dict[str, Any]] = field(default_factory=list)
    tags: str = ""

    @classmethod
    def from_group(cls, group: PostGroup) -> ComposerContent:
        tags = ", ".join(tags_of_metadata(group.metadata))
        return cls(group.text, _target_entries(group), [dict(each) for each in group.media], tags)

    @classmethod
    def from_form(cls, sent: QueryDict, accounts: Sequence[ConnectedAccount], times: AccountTimeForms) -> ComposerContent:
        """Build the content from the composer's submitted form, ignoring chosen accounts that are not in `accounts`.

        `times` are the times and slots of single accounts.
        """
        chosen = set(sent.getlist("account"))
        return cls(
            normalize_newlines_and_nul(sent.get("text", "")),
            [_target_entry(sent, account, times) for account in accounts if account.id in chosen],
            [_media_entry(sent, media_id) for media_id in dict.fromkeys(sent.getlist("media"))],
            normalize_newlines_and_nul(sent.get("tags", "")),
        )

    @property
    def request_fields(self) -> dict[str, Any]:
        """Return the composer's content as request fields for POST /posts, PATCH /posts/{id} and POST /posts/validate."""
        return {"text": self.text, "targets": self.targets, "media": self.media}

    @property
    def account_ids(self) -> list[str]:
        return [target["connected_account_id"] for target in self.targets]

    def remove_target(self, account_id: str) -> None:
        """Remove the target of an account from the composer's content."""
        self.targets = [each for each in self.targets if each["connected_account_id"] != account_id]

    def append_text(self, target: dict[str, Any] | None, text: str) -> None:
        """Append a text to the composer's text of a target, or to the shared one, without a second space between them."""
        before = self.text if target is None or target["text"] is None else target["text"]
        after = before + (text if before[-1:].strip() else text.lstrip())
        if target is None:
            self.text = after
        else:
            target["text"] = after

    def attach_media(self, media_id: str) -> None:
        if media_id not in self.media_ids:
            self.media.append({"media_id": media_id})

    def detach_media(self, media_id: str) -> None:
        self.media = [each for each in self.media if each["media_id"] != media_id]

    def replace_media_keeping_alt_text(self, media_id: str, by: str) -> None:
        """Replace an attached media asset in the composer's content; the alt text entered for the post stays."""
        self.media = [{**each, "media_id": by} if each["media_id"] == media_id else each for each in self.media]

    def move_media(self, media_id: str, places: int) -> None:
        """Move an attached media asset in the composer's content by `places`: later in the post, or earlier if negative."""
        if media_id in self.media_ids:
            place = self.media_ids.index(media_id)
            self.media.insert(max(place + places, 0), self.media.pop(place))

    def set_field(self, path: str, value: Any) -> None:
        """Set the field of the composer's content at the path of a validation issue, such as `targets[0].text`."""
        holder, last = self._holder_of_field(path)
        holder[last] = value

    def remove_field(self, path: str) -> None:
        """Remove the field at a validation issue's path from the composer's content, and its option if that gets empty."""
        holder, last = self._holder_of_field(path)
        del holder[last]
        if not holder and isinstance(last, int) and ".options." in path:
            self.remove_field(path.removesuffix(f"[{last}]"))

    def shorten_list(self, path: str, length: int) -> None:
        """Keep only the first entries of the list at the path of a validation issue, such as the choices of a poll."""
        holder, last = self._holder_of_field(path)
        del holder[last][length:]

    def remove_media_at(self, places: Collection[int]) -> None:
        """Remove several of the composer's attached media assets; `places` are their indexes."""
        self.media = [each for place, each in enumerate(self.media) if place not in places]

    def _holder_of_field(self, path: str) -> tuple[Any, Any]:
        """Return the object or list of the composer's content that has the field at a path, and the field's name or index."""
        *steps, last = (int(step) if step.isdecimal() else step for step in re.findall(r"\w+", path))
        holder: Any = self.request_fields
        for step in steps:
            holder = holder[step]
        return holder, last

    @property
    def media_ids(self) -> list[str]:
        return [each["media_id"] for each in self.media]


def capabilities_of_account(account: ConnectedAccount) -> Capabilities:
    """Return the platform capabilities of an account, by which the composer's content for it is edited."""
    return get_adapter(account.platform).capabilities_for(account.id_limits_and_scopes())


def _target_entries(group: PostGroup) -> list[dict[str, Any]]:
    """Return the targets of a stored post group as the composer's content has them, in the format of POST /posts."""
    return [
        {
            "platform": target.platform,
            "connected_account_id": target.account_id,
            "text": target.text,
            "options": target.options,
            **_time_entry(own_scheduled_at(group, target), in_slot=target.slot),
        }
        for target in group.targets.all()
    ]


def _time_entry(at: datetime | None, *, in_slot: bool) -> dict[str, Any]:
    if in_slot:
        return {"slot": "next"}
    return {"scheduled_at": at.astimezone(UTC).isoformat()} if at else {}


def _target_entry(sent: QueryDict, account: ConnectedAccount, times: AccountTimeForms) -> dict[str, Any]:
    own = normalize_newlines_and_nul(sent.get(f"text-{account.id}", "")) if f"own-{account.id}" in sent else None
    capabilities = capabilities_of_account(account)
    form = PlatformOptionsForm(capabilities.options, sent, prefix=account.id, options={})
    thread = thread_option_from_form(sent, account.id) if capabilities.thread else {}
    target = {
        "platform": account.platform,
        "connected_account_id": account.id,
        "text": own,
        "options": form.submitted_options | thread,
    }
    return {**target, **_time_entry(times.valid_times.get(account.id), in_slot=account.id in times.in_slots)}


def _media_entry(sent: QueryDict, media_id: str) -> dict[str, Any]:
    alt_text = sent.get(f"alt-{media_id}")
    return (
        {"media_id": media_id}
        if alt_text is None
        else {"media_id": media_id, "alt_text": normalize_newlines_and_nul(alt_text)}
    )
