"""A stand-in of LinkedIn's REST API and of its page of consent, for applications that people connect.

Written from learn.microsoft.com/linkedin; `linkedin_methods`, `linkedin_media` and `linkedin_oauth` say what is from
elsewhere.

    with FakeLinkedIn() as linkedin:
        linkedin.add_member("Alice", pages={"2414183": "Acme"})
        code = linkedin.grant(authorization_url, "Alice")
        linkedin.drop_next(CREATE)
        ...
        assert [post["text"] for post in linkedin.posts("urn:li:organization:2414183")] == ["Hello"]

Calls are named by method, path and action; the constants of `linkedin_methods` hold them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tests.fakes.faults import FaultyServer
from tests.fakes.http_server import Answer, ReceivedRequest
from tests.fakes.linkedin_methods import TOKEN, LinkedInMethods, call_of
from tests.fakes.linkedin_oauth import Application, OAuthRefusal
from tests.fakes.linkedin_store import Member, Refusal


class FakeLinkedIn(FaultyServer):
    """A LinkedIn server: tests set up members, pages, consents and faults, and read the posts that were accepted."""

    platform = "linkedin"

    def __init__(self) -> None:
        super().__init__()
        self._methods = LinkedInMethods(self.url)
        self._store, self._oauth = self._methods.store, self._methods.oauth
        self.calls = frozenset({TOKEN, *self._methods.endpoints})

    # what a test arranges

    def add_member(self, name: str, pages: Mapping[str, str] | None = None) -> str:
        """Create a member who administers these pages (names by numbers); returns the URN for the application for members."""
        with self._lock:
            member = Member(f"m{len(self._store.members)}-X_z", name)
            self._store.members[member.id] = member
            for number, page_name in (pages or {}).items():
                self._store.pages[number] = {"localizedName": page_name, "vanityName": page_name.lower()}
                member.roles[number] = ("ADMINISTRATOR", "APPROVED")
            return member.urn

    def set_role(self, name: str, page: str, role: str, state: str = "APPROVED") -> None:
        """Set the member's role at a LinkedIn page."""
        with self._lock:
            self._store.pages.setdefault(page, {})
            self._store.member(name).roles[page] = (role, state)

    def register_redirect(self, uri: str) -> None:
        """Set a callback address in the settings of all applications."""
        self._oauth.redirect_uris.add(uri)

    def add_application(self, client_id: str, application: Application) -> None:
        """Add an application at LinkedIn, or replace one."""
        self._oauth.applications[client_id] = application

    def without_refresh_tokens(self) -> None:
        """Issue no refresh tokens, as for applications that LinkedIn has not approved for them."""
        for application in self._oauth.applications.values():
            application.approved = False

    def grant(self, authorization_url: str, name: str, scopes: Iterable[str] | None = None) -> str:
        """Grant the scopes that an application asks for, or only these; returns LinkedIn's authorization code.

        Raises ValueError where LinkedIn would show an error instead.
        """
        with self._lock:
            return self._oauth.grant(authorization_url, self._store.member(name).id, scopes)

    def withdraw(self, name: str) -> None:
        """Revoke the access of all applications, as a LinkedIn member can."""
        with self._lock:
            for access in [*self._oauth.access.values(), *self._oauth.refresh.values()]:
                access.revoked |= access.member_id == self._store.member(name).id

    def retire_version(self, next_version: str) -> None:
        """Retire the current version of LinkedIn's API and support only this one."""
        self._methods.version = next_version

    def process_media(self, checks: int, *, failure: str = "") -> None:
        """Report later uploads as processing for this number of checks, then as ready, or failed with this reason."""
        self._methods.media.processing = (checks, failure)

    def cut_videos_into(self, part_bytes: int) -> None:
        """Request videos in parts of this size."""
        self._methods.media.part_bytes = part_bytes

    def forget_media(self) -> None:
        """LinkedIn removes the uploads that no post uses."""
        with self._lock:
            self._store.uploads.clear()

    # what a test reads

    def posts(self, urn: str) -> list[dict[str, Any]]:
        """The posts of a LinkedIn account in order: the text that readers see, and the files with their bytes."""
        with self._lock:
            return [
                {
                    "urn": post.urn,
                    "text": post.text,
                    "elements": post.elements,
                    "visibility": post.visibility,
                    "content": post.content,
                    "media": [upload.content for upload in post.uploads],
                    "comments": post.comments,
                }
                for post in self._store.posts.values()
                if post.author == urn
            ]

    # the service

    def call_of(self, request: ReceivedRequest) -> str:
        """The name of the LinkedIn call: method, path and action, without URNs and upload tokens."""
        return call_of(request)

    def server_error(self, status: int) -> Answer:
        return Refusal(status, "Internal Server Error").answer()

    def perform(self, request: ReceivedRequest) -> Answer:
        try:
            if call_of(request) == TOKEN:
                return self._oauth.token(request)
            return self._methods.perform(request)
        except (Refusal, OAuthRefusal) as refused:
            return refused.answer()
