"""The media of the composer page: what is attached to the post, and what can be attached from the library, files and URLs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from django.utils.translation import gettext as _

from config.api.errors import ApiError
from config.api.uploads import ReceivedFile
from config.pages.message_templates import translated_message
from config.pages.sentences import error_sentences
from media import selectors
from media.cropping import CROP_POSITIONS
from media.dashboard.library import upload_files_collecting_errors
from media.models import MediaAsset
from media.serializers import UploadFromUrlSerializer
from media.services import convert_image_to_jpeg, crop_image, upload_media
from posts.attached_media import existing_workspace_assets_by_id
from posts.dashboard.composer_content import ComposerContent
from posts.dashboard.crop_offers import CropOffer, find_crop_of_button
from posts.dashboard.inputs import validated_page_input
from posts.dashboard.shown_groups import ShownAsset, shown_attachments
from workspaces.workspace_page import WorkspacePage, record_refused_write

LIBRARY_PAGE_SIZE = 24  # media assets offered at a time


@dataclass
class ComposerMedia:
    """The media part of the composer's state; `problems` says in sentences which files are missing or were refused.

    `source_url` is an address from which a file could not be added. `pressed` is the button of the attached file `pressed_id`
    that gets the focus: "earlier" or "later".
    """

    page: WorkspacePage
    content: ComposerContent
    problems: list[str] = field(default_factory=list)
    source_url: str = ""
    source_open: bool = False
    crop: CropOffer | None = None
    pressed: str = ""
    pressed_id: str = ""
    library_cursor: str | None = None
    library_open: bool = False

    def __post_init__(self) -> None:
        self._load_assets()

    def attach(self, media_id: str) -> None:
        """Attach a media asset of the workspace to the post in the composer; an unknown id is reported as a problem."""
        self.content.attach_media(media_id)
        self._load_assets()

    def upload_and_attach_files(self, files: Iterable[ReceivedFile]) -> None:
        """Upload the files that were submitted in the composer's form, and attach them to the post."""
        taken, problems = upload_files_collecting_errors(self.page, files)
        for asset in taken:
            self.attach(asset.id)
        self.problems += problems

    def fetch_and_attach(self, url: str) -> None:
        """Fetch a file from the URL that was entered in the composer's form, and attach it to the post."""
        self.source_open = True
        try:
            given = {"workspace_id": self.page.workspace.id, "source_url": url}
            data = validated_page_input(UploadFromUrlSerializer, given)
            self.attach(upload_media(caller=self.page.caller, **data).id)
        except ApiError as error:
            record_refused_write(self.page, "media.upload", error)
            self.source_url = url
            self.problems.append(" ".join([_("Nothing was added from this address."), *_sentences(error)]))

    def move(self, media_id: str, places: int) -> None:
        """Move a file attached on the composer page by `places` (negative: earlier), and focus one of its move buttons."""
        self.content.move_media(media_id, places)
        ends = {self.content.media_ids[0]: "later", self.content.media_ids[-1]: "earlier"} if self.content.media else {}
        self.pressed, self.pressed_id = ends.get(media_id, "earlier" if places < 0 else "later"), media_id

    def offer_crop(self, offer_name: str) -> None:
        """Show in the composer the crops that a CropOffer lets a person choose from; for "", show none."""
        self.crop = find_crop_of_button(offer_name, self.attached_assets)

    def crop_attached(self, name: str) -> None:
        """Replace an attached image in the composer by a crop; `name` is a CropOffer's value, a colon, and the position."""
        offer_name, _colon, chosen = name.rpartition(":")
        offer = find_crop_of_button(offer_name, self.attached_assets)
        position = next((each for each in CROP_POSITIONS if each == chosen), None)
        if offer is None or position is None:
            return
        edit = partial(crop_image, ratio=offer.ratio, position=position)
        self._replace_by_edited(offer.picture.media_id, edit, _("The image was not cropped."))

    def convert_attached_to_jpeg(self, media_id: str, max_bytes: int, max_size: tuple[int, int] | None) -> None:
        """Replace an attached image in the composer by a JPEG file of at most this many bytes, width and height."""
        edit = partial(convert_image_to_jpeg, max_bytes=max_bytes, max_size=max_size)
        self._replace_by_edited(media_id, edit, _("The image was not converted."))

    def _replace_by_edited(self, media_id: str, edit: Callable[..., MediaAsset], failed: str) -> None:
        try:
            edited = edit(caller=self.page.caller, media_id=media_id)
        except ApiError as error:
            record_refused_write(self.page, "media.upload", error)
            self.problems.append(" ".join([failed, *error_sentences(error)]))
            return
        self.content.replace_media_keeping_alt_text(media_id, edited.id)
        self._load_assets()

    def show_library_from(self, cursor: str = "") -> None:
        """Show the media library in the composer, from this cursor on."""
        self.library_cursor, self.library_open = cursor or None, True

    @property
    def attached_assets(self) -> list[ShownAsset]:
        return shown_attachments(self.content.media, self.assets)

    @cached_property
    def library_page(self) -> dict[str, Any]:
        """Return a page of the media library: the assets that can be attached, and the cursor of the next page."""
        found = selectors.list_assets(
            caller=self.page.caller, workspace_id=self.page.workspace.id, limit=LIBRARY_PAGE_SIZE, cursor=self.library_cursor
        )
        offered = [asset for asset in found.rows if asset.id not in self.assets]
        return {"pictures": [ShownAsset(each.id, each, each.alt_text) for each in offered], "next": found.next_cursor}

    def _load_assets(self) -> None:
        """Load the media assets attached in the composer; drop deleted ones, and alt texts equal to the asset's own."""
        self.assets: dict[str, MediaAsset] = existing_workspace_assets_by_id(self.page.workspace.id, self.content.media_ids)
        attached = []
        for each in self.content.media:
            asset = self.assets.get(each["media_id"])
            if asset is None:
                self.problems.append(_("An attached file was deleted from the library and was removed from this post."))
            else:
                own = each.get("alt_text") == asset.alt_text
                attached.append({"media_id": asset.id} if own else each)
        self.content.media = attached


def _sentences(error: ApiError) -> list[str]:
    """Return the sentences of an API error about the composer's field for media, without naming the field."""
    return [translated_message(row["message"]) for row in error.details] if error.details else error_sentences(error)
