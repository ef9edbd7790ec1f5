"""Facebook: pages, connected by Facebook Login; posts that can be looked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts.platforms.base import Platform
from accounts.platforms.errors import AccountDisconnected
from accounts.platforms.facebook import comments, media, posts
from accounts.platforms.facebook.capabilities import CAPABILITIES, SCOPES
from accounts.platforms.facebook.login import Application
from accounts.platforms.facebook.page import FIELDS, PRODUCT, SITE, Page, identity_of
from accounts.platforms.facebook.setup import SETUP
from accounts.platforms.meta.graph import VERSION, versioned
from accounts.platforms.types import Absent, Authorization, Connection, Content, Grant, Identity, Progress, Published


class Facebook(Platform):
    """Facebook pages.

    Publishing goes `start`, then `photo` for each photo, or `open` and `send` for a video; `create`, which publishes;
    `settle` while Facebook processes a video; and `comment` where a first comment is asked for. Its state is {since,
    photos}: when the publication began, and the ids of the uploads; {video, sessions, session, offset, end} or {video,
    sessions, address (sealed)} while a video is sent; {taken, looks} while it is processed, {out} once the post stands,
    and `again` once its uploads had to be made anew.
    A grant's tokens are {access_token}, the page's own; its external_id is the page's id. Ending a grant at Facebook
    would end the person's consent, and with it every other page that the person has connected, so none is.
    """

    name = "facebook"
    label = "Facebook"
    capabilities = CAPABILITIES
    setup = SETUP
    irreversible = frozenset({"create", "comment"})
    # Facebook does not say how soon a page's lists show what it has taken; ten minutes are far beyond what is seen.
    settles_seconds = 600.0

    def unavailable_reason(self, method: str) -> str | None:
        """What the operator has not set; None when pages can be connected."""
        missing = [f"FACEBOOK_{key}" for key in ("CLIENT_ID", "CLIENT_SECRET") if not self.setting(key)]
        return f"The operator of this service has not set {' and '.join(missing)}." if missing else None

    def authorize(self, *, state: str, redirect_uri: str, given: Mapping[str, Any]) -> Authorization:
        """Facebook's page of consent."""
        return self._application().authorize(state, redirect_uri)

    def exchange(self, *, code: str, redirect_uri: str, stored: Mapping[str, Any]) -> tuple[Connection, ...]:
        """Every page that the person may publish to. Raises CredentialsRejected, ConnectionUnavailable, Transient."""
        return self._application().connections(code, redirect_uri)

    def identify(self, grant: Grant) -> Identity:
        """Ask Facebook whose token it is. Raises AccountDisconnected, ConnectionUnavailable, TokenExpired, Transient."""
        page = self._page(grant)
        with PRODUCT.faults():
            identity = identity_of(page.graph.get("/me", {"fields": FIELDS}))
        if identity.external_id != grant.external_id:
            raise AccountDisconnected("The token opens another page than the one that was connected.")
        return identity

    def refresh(self, grant: Grant) -> Grant:
        """Raises AccountDisconnected: a page's token ends by its owner's doing alone, and only another login gives one."""
        raise AccountDisconnected(
            "Facebook no longer accepts the access to this page: a password, a role or the consent has changed."
        )

    def publish(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Take the step that `progress` names."""
        if progress.phase == "start":
            return posts.begin(content)
        return STEPS[progress.phase](self._page(grant), content, progress.state)

    def find(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published | Absent:
        """Look for the post among the page's own, for a video by its id, for the comment below the post."""
        find = comments.find if progress.phase == "comment" else posts.find
        return find(self._page(grant), content, progress.state)

    def _page(self, grant: Grant) -> Page:
        videos = self.setting("VIDEO_API_BASE") or self.setting("API_BASE") or "https://graph-video.facebook.com"
        return Page.of(grant, self._api(), versioned(videos, self._version()), self.setting("CLIENT_SECRET"))

    def _application(self) -> Application:
        scopes = tuple(self.setting("SCOPES", SCOPES).replace(",", " ").split())
        site = versioned(self.setting("AUTH_BASE", SITE), self._version())
        return Application(self.setting("CLIENT_ID"), self.setting("CLIENT_SECRET"), self._api(), site, scopes)

    def _api(self) -> str:
        return versioned(self.setting("API_BASE", "https://graph.facebook.com"), self._version())

    def _version(self) -> str:
        return self.setting("API_VERSION", VERSION)


STEPS = {
    "photo": media.upload_photo,
    "open": media.open_session,
    "send": media.send,
    "create": posts.create,
    "settle": posts.settle,
    "comment": comments.make,
}
