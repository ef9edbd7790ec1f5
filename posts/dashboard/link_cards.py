"""Link cards in the composer's previews: first with the post's own words, then with the linked page's once it is read.

A preview does not wait for other servers. It shows the card with the post's own words, and htmx then asks for the whole card
at an address of ours. The address is signed, so that it reads only pages that a preview has shown.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from django.core import signing
from django.http import HttpResponse

from accounts.platforms.registry import get_adapter
from config.api.errors import NotFound, RateLimited
from posts.dashboard.marked_text import first_link
from posts.services.linked_pages import read_linked_page
from posts.validation import TargetToValidate
from workspaces.workspace_page import WorkspacePage, workspace_page

SALT = "posts.link_cards"
TOKEN_SECONDS = 3600
MAX_URL_LENGTH = 2048  # of pages that are read
MAX_TITLE_CHARACTERS, MAX_DESCRIPTION_CHARACTERS = 150, 250
MAX_ATTEMPTS = 5  # to read a page, while the workspace is reading others


@dataclass(frozen=True)
class LinkCard:
    """The link card in the preview of a post, with the words of the post's options or of the linked page.

    A `description` of None and an empty `title` are those of the page. `platform` is the label of the platform if it makes
    the card, `picture` an address for HTML that contains the picture itself, and `attempts_left` says how often the page may
    still be asked for.
    """

    workspace_id: str
    url: str
    title: str = ""
    description: str | None = None
    platform: str = ""
    picture: str = ""
    attempts_left: int = MAX_ATTEMPTS

    @property
    def host(self) -> str:
        try:
            return (urlsplit(self.url).hostname or "").removeprefix("www.")
        except ValueError:  # such as an unclosed bracket
            return ""

    @property
    def token(self) -> str:
        """Return this link card as a signed token, for the URL at which the linked page's words are added to it."""
        return signing.dumps(asdict(self), salt=SALT, compress=True)

    @property
    def digest(self) -> str:
        """Return a digest of this link card, by which a completed card stays on the page while the post's text changes."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:12]

    @property
    def is_repeated(self) -> bool:
        return self.attempts_left < MAX_ATTEMPTS


def link_card_of_target(target: TargetToValidate) -> LinkCard | None:
    """Return the link card that a target's preview shows, as the post's options describe it; None if the post has no card."""
    adapter = get_adapter(target.account.platform)
    option = target.options.get(adapter.look.card_option)
    own = option if isinstance(option, dict) else {}
    url = _url(target, option, own)
    if not url:
        return None
    made_by = target.capabilities.link_preview
    description = str(own["description"])[:MAX_DESCRIPTION_CHARACTERS] if "description" in own else None
    is_whole = made_by == "options" and bool(own)  # the platform reads no page
    return LinkCard(
        target.account.workspace_id,
        url,
        str(own.get("title", ""))[:MAX_TITLE_CHARACTERS],
        description,
        "" if own or made_by == "service" else adapter.label,
        attempts_left=0 if is_whole or len(url) > MAX_URL_LENGTH else MAX_ATTEMPTS,
    )


def _url(target: TargetToValidate, option: Any, own: dict[str, Any]) -> str:
    """Return the URL of the page that a previewed post's link card shows; an empty string if the post has no card."""
    made_by, switch = target.capabilities.link_preview, get_adapter(target.account.platform).look.card_off
    if target.media or (switch and target.options.get(switch[0]) is switch[1]):
        return ""
    if made_by == "options":
        return str(own.get("url", "")) if own else str(option or "")
    return (first_link(target.shown_text) if made_by == "platform" else target.link_card_url) or ""


@workspace_page("GET")
def show_link_card(page: WorkspacePage) -> HttpResponse:
    """Part of the composer page: the link card of a preview, with what the linked page says about itself."""
    try:
        card = LinkCard(**signing.loads(page.request.GET.get("card", ""), salt=SALT, max_age=TOKEN_SECONDS))
    except signing.BadSignature as error:
        raise NotFound() from error
    if card.workspace_id != page.workspace.id:
        raise NotFound()
    return page.render("posts/link_card.html", card=_completed(page, card))


def _completed(page: WorkspacePage, card: LinkCard) -> LinkCard:
    """Add the linked page's words to a preview's link card; if the page cannot be read yet, only lower `attempts_left`."""
    try:
        read = read_linked_page(caller=page.caller, workspace_id=page.workspace.id, url=card.url)
    except RateLimited:
        return replace(card, attempts_left=max(0, card.attempts_left - 1))
    return replace(
        card,
        title=card.title or read.title[:MAX_TITLE_CHARACTERS],
        description=read.description[:MAX_DESCRIPTION_CHARACTERS] if card.description is None else card.description,
        picture=f"data:image/jpeg;base64,{base64.b64encode(read.picture).decode()}" if read.picture else "",
        attempts_left=0,
    )
