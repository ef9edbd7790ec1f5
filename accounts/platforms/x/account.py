"""X accounts. Source: docs.x.com, users/me."""

from __future__ import annotations

import re
from dataclasses import dataclass

from accounts.platforms.http.responses import https_url, one_line, text_in
from accounts.platforms.types import Grant, Identity
from accounts.platforms.x.client import Api, data_of, id_of

SITE = "https://x.com"
_USERNAME = re.compile(r"[A-Za-z0-9_]{1,50}")


@dataclass(frozen=True)
class Account:
    """A connected account: its id and name at X, and the API with its token."""

    api: Api
    id: str
    username: str

    @classmethod
    def of(cls, grant: Grant, address: str) -> Account:
        """The X account of a grant, at the API of this address."""
        return cls(Api(address, grant.tokens["access_token"]), grant.external_id, grant.tokens["username"])

    def permalink(self, post_id: str) -> str:
        """The URL of a post of the X account. X finds posts by id, so the URL stays valid if the user name changes."""
        return f"{SITE}/{self.username}/status/{post_id}"


def identity(api: Api) -> Identity:
    """The X account of the access token. Raises XError, NotSent, NoAnswer."""
    user = data_of(api.get("/2/users/me", {"user.fields": "profile_image_url"}))
    username = text_in(user, "username", _USERNAME, "user name")
    return Identity(
        external_id=id_of(user),
        handle=username,
        display_name=one_line(user.get("name")),
        avatar_url=https_url(user.get("profile_image_url")),
        profile_url=f"{SITE}/{username}",
    )
