"""OAuth 2.0 authorization at LinkedIn: the operator's two apps (for members, for pages), and the code flow without PKCE.

LinkedIn gives the Community Management API, which posts for pages, only to applications without any other product. So an
operator has one application for member profiles, one for pages, or both.
Access tokens last 60 days. Only approved applications get refresh tokens; these last a year from the consent and do not
change when they are used. Without one the owner has to connect again. Source: learn.microsoft.com/linkedin, authorization
code flow, programmatic refresh tokens, the scopes of each product (getting access, increasing access), and the Community
Management app review.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.http.oauth import PlatformOAuthClient, missing_scopes_error
from accounts.platforms.linkedin.capabilities import PAGE_COMMENT_SCOPE
from accounts.platforms.operator_setup import ConnectionPrerequisites, PlatformApplication
from accounts.platforms.schemas import object_schema

MEMBER_SCOPE = "w_member_social"
PAGE_SCOPES = ("w_organization_social", "rw_organization_admin")


@dataclass(frozen=True)
class ApplicationKind:
    """One of the two kinds of OAuth apps at LinkedIn (for members, for pages), with its settings and scopes.

    Its settings are named LINKEDIN_ and `prefix`. The scopes in `identity` reveal who granted access; `scopes` are requested
    unless the operator sets others.
    """

    name: str
    label: str
    prefix: str
    identity: tuple[str, ...]
    scopes: tuple[str, ...]


MEMBER_APPLICATION = ApplicationKind(
    "member", "member profiles", "", ("openid", "profile"), ("openid", "profile", MEMBER_SCOPE)
)
PAGES_APPLICATION = ApplicationKind(
    "pages", "pages", "PAGES_", ("r_basicprofile",), ("r_basicprofile", *PAGE_SCOPES, PAGE_COMMENT_SCOPE)
)
APPLICATION_KINDS = {kind.name: kind for kind in (MEMBER_APPLICATION, PAGES_APPLICATION)}

DEVELOPER_PORTAL_URL = "https://www.linkedin.com/developers/apps"
RECONNECTION_NOTE = gettext_noop(
    "An owner connects again every 60 days, unless LinkedIn has granted refresh tokens to the application."
)

SETUP = ConnectionPrerequisites(
    {"oauth": "Their sign-in at LinkedIn. For a page they have to be one of its administrators."},
    (
        PlatformApplication(
            connects=gettext_noop("LinkedIn members"),
            portal=DEVELOPER_PORTAL_URL,
            products=(gettext_noop("Sign In with LinkedIn using OpenID Connect."), gettext_noop("Share on LinkedIn.")),
            scopes=MEMBER_APPLICATION.scopes,
            settings=("LINKEDIN_CLIENT_ID", "LINKEDIN_CLIENT_SECRET"),
            more_settings=("LINKEDIN_SCOPES", "LINKEDIN_API_VERSION"),
            notes=(RECONNECTION_NOTE,),
        ),
        PlatformApplication(
            connects=gettext_noop("LinkedIn pages"),
            portal=DEVELOPER_PORTAL_URL,
            products=(
                gettext_noop("Community Management API. LinkedIn adds it only to an application that has no other product."),
            ),
            scopes=PAGES_APPLICATION.scopes,
            settings=("LINKEDIN_PAGES_CLIENT_ID", "LINKEDIN_PAGES_CLIENT_SECRET"),
            more_settings=("LINKEDIN_PAGES_SCOPES", "LINKEDIN_API_VERSION"),
            review=gettext_noop(
                "LinkedIn reviews the access to the Community Management API. It asks for a registered company, its "
                "verified page and a business e-mail address, and later for a recording of the screen."
            ),
            without_review=gettext_noop("Pages can be tried out with few calls a day."),
            notes=(RECONNECTION_NOTE,),
        ),
    ),
)


@dataclass(frozen=True)
class LinkedInOAuthClient(PlatformOAuthClient):
    """The client of LinkedIn's OAuth endpoints, with one of the operator's two apps."""

    kind: ApplicationKind = MEMBER_APPLICATION

    label = "LinkedIn"

    def check_granted_scopes(self, granted: tuple[str, ...], *, has_refresh_token: bool = True) -> None:
        """Raise CredentialsRejected unless the LinkedIn authorization allows identifying the owner and posting."""
        missing = sorted({*self.kind.identity} - {*granted})
        if not missing and MEMBER_SCOPE not in granted and not may_post_for_pages(granted):
            missing = [MEMBER_SCOPE] if self.kind is MEMBER_APPLICATION else [*PAGE_SCOPES]
        if missing:
            raise missing_scopes_error(self.label, missing)


def may_post_for_pages(granted: tuple[str, ...]) -> bool:
    """Return whether the OAuth scopes granted at LinkedIn allow listing the member's pages and posting for them."""
    return {*PAGE_SCOPES} <= {*granted}


def account_kind_schema(offered: list[str]) -> dict[str, Any]:
    """Return the JSON Schema of an owner's choice before the authorization at LinkedIn: member profile or pages."""
    kind: dict[str, Any] = {
        "type": "string",
        "title": gettext_noop("What to connect"),
        "description": gettext_noop(
            "Member is the profile of the person who grants access, pages are those that they may post for."
        ),
        "enum": list(APPLICATION_KINDS),
    }
    if len(offered) == 1:
        kind["default"] = offered[0]
    return object_schema(["kind"] if len(offered) > 1 else [], kind=kind)
