"""Display data of post groups for dashboard pages: versions of the text with their accounts, media, and platform options."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.dashboard.option_names import option_display_name, option_value_display_name
from accounts.models import ConnectedAccount
from accounts.platforms.registry import get_adapter
from accounts.platforms.thread_option import OPTION_NAME as THREAD
from accounts.platforms.thread_option import texts_after_first_segment
from media.links import signed_file_url, signed_preview_url
from media.models import MediaAsset
from posts.attached_media import attached_media_ids, existing_workspace_assets_by_id
from posts.dashboard.target_error_sentences import target_error_advice, target_error_sentence
from posts.models import PostGroup, PostTarget

_KIND_WORDS: Mapping[str, object] = {
    MediaAsset.Kind.IMAGE: gettext_lazy("Image"),
    MediaAsset.Kind.GIF: gettext_lazy("Gif"),
    MediaAsset.Kind.VIDEO: gettext_lazy("Video"),
    MediaAsset.Kind.DOCUMENT: gettext_lazy("Document"),
}


@dataclass(frozen=True)
class ShownAsset:
    """A media asset of a shown post group, or one that the composer offers for it; with its preview URL and alt text.

    `asset` is None if the asset was deleted.
    """

    media_id: str
    asset: MediaAsset | None
    alt_text: str

    @property
    def kind_label(self) -> str:
        """Return the word for the kind of this ShownAsset, such as "Video"."""
        return str(_KIND_WORDS[self.asset.kind]) if self.asset else ""

    @property
    def thumbnail_url(self) -> str:
        """Return the URL of the preview image of this ShownAsset, or an empty string if there is none."""
        return signed_preview_url(self.asset) if self.asset else ""

    @property
    def file_url(self) -> str:
        """Return the URL of the file of this ShownAsset, or an empty string if the asset was deleted."""
        return signed_file_url(self.asset) if self.asset else ""


@dataclass(frozen=True)
class ShownTarget:
    """A post target with its account, as dashboard pages show it."""

    target: PostTarget
    account: ConnectedAccount

    @property
    def label(self) -> str:
        """Return the display name of the platform of this ShownTarget."""
        return get_adapter(self.target.platform).label

    @property
    def error(self) -> str:
        """Return in a sentence what went wrong at the account of this ShownTarget; an empty string without an error."""
        return target_error_sentence(self.target.error, self.label) if self.target.error else ""

    @property
    def advice(self) -> str:
        """Return what a person can do about the error of this ShownTarget; an empty string without an error."""
        return target_error_advice(self.target.error, self.target.status) if self.target.error else ""

    @property
    def options(self) -> list[tuple[str, str]]:
        """Return the names and values of the platform options of this ShownTarget, except for a thread's further texts."""
        given = {name: value for name, value in self.target.options.items() if name != THREAD}
        return [(option_display_name(name), _words(name, value)) for name, value in given.items()]


@dataclass
class TextVersion:
    """One version of a post's text on a dashboard page, with the accounts that publish this version."""

    text: str
    further: tuple[str, ...]  # the texts of a thread after the first
    targets: list[ShownTarget] = field(default_factory=list)


@dataclass(frozen=True)
class ShownGroup:
    """A post group as dashboard pages show it, with its targets (accounts) and attached media."""

    group: PostGroup
    targets: list[ShownTarget]
    pictures: list[ShownAsset]

    @property
    def text_versions(self) -> list[TextVersion]:
        """Return the distinct versions of the text of this ShownGroup, in the order of the post's accounts."""
        found: dict[tuple[str, ...], TextVersion] = {}
        for shown in self.targets:
            text, further = shown.target.shown_text, texts_after_first_segment(shown.target.options)
            found.setdefault((text, *further), TextVersion(text, further)).targets.append(shown)
        return list(found.values())

    @property
    def has_several_times(self) -> bool:
        """Return whether this ShownGroup is published to its accounts at different times."""
        return len({shown.target.scheduled_at for shown in self.targets}) > 1

    @property
    def goes_into_slots(self) -> bool:
        """Return whether every account of this ShownGroup gets the post at one of its own slots, not at a chosen time."""
        return all(shown.target.slot for shown in self.targets)

    @property
    def total_length_of_text_versions(self) -> int:
        """Return how many characters this ShownGroup has in all versions of its text together."""
        return sum(len(text) for version in self.text_versions for text in (version.text, *version.further))


def shown_attachments(media: Sequence[Mapping[str, Any]], assets: Mapping[str, MediaAsset]) -> list[ShownAsset]:
    """Return the media attached to a post, for display on a dashboard page, each with its alt text.

    If the post has no alt text for an asset, the picture has the asset's own.
    """
    shown = []
    for each in media:
        asset, alt_text = assets.get(each["media_id"]), each.get("alt_text")
        if alt_text is None:
            alt_text = asset.alt_text if asset else ""
        shown.append(ShownAsset(each["media_id"], asset, alt_text))
    return shown


def prepare_groups_for_display(workspace_id: str, groups: Sequence[PostGroup]) -> list[ShownGroup]:
    """Prepare post groups for display on dashboard pages; loads their accounts and media assets with two queries."""
    account_ids = {target.account_id for group in groups for target in group.targets.all()}
    accounts = ConnectedAccount.objects.defer("credentials", "tokens").in_bulk(account_ids)
    assets = existing_workspace_assets_by_id(workspace_id, [pk for group in groups for pk in attached_media_ids(group)])
    return [
        ShownGroup(
            group,
            [ShownTarget(target, accounts[target.account_id]) for target in group.targets.all()],
            shown_attachments(group.media, assets),
        )
        for group in groups
    ]


def _words(option: str, value: Any) -> str:
    """Return the value of a shown post's platform option, or a value nested in it, as text in the page's language."""
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, dict):
        return "; ".join(f"{option_display_name(name)}: {_words(name, own)}" for name, own in value.items())
    if isinstance(value, list):
        return ", ".join(_words(option, each) for each in value)
    return option_value_display_name(option, value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
