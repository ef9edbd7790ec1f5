"""Where the operator's two applications are registered at LinkedIn: one for members, one for pages.

Source: learn.microsoft.com/linkedin (getting access, increasing access, Community Management app review).
"""

from __future__ import annotations

from accounts.platforms.linkedin.authorization import MEMBER, PAGES
from accounts.platforms.operator_setup import OperatorSetup, PlatformApplication

PORTAL = "https://www.linkedin.com/developers/apps"
EVERY_60_DAYS = "An owner connects again every 60 days, unless LinkedIn has granted refresh tokens to the application."

SETUP = OperatorSetup(
    {"oauth": "Their sign-in at LinkedIn. For a page they have to be one of its administrators."},
    (
        PlatformApplication(
            connects="LinkedIn members",
            portal=PORTAL,
            products=("Sign In with LinkedIn using OpenID Connect.", "Share on LinkedIn."),
            scopes=MEMBER.scopes,
            settings=("LINKEDIN_CLIENT_ID", "LINKEDIN_CLIENT_SECRET"),
            more_settings=("LINKEDIN_SCOPES", "LINKEDIN_API_VERSION"),
            notes=(EVERY_60_DAYS,),
        ),
        PlatformApplication(
            connects="LinkedIn pages",
            portal=PORTAL,
            products=("Community Management API. LinkedIn adds it only to an application that has no other product.",),
            scopes=PAGES.scopes,
            settings=("LINKEDIN_PAGES_CLIENT_ID", "LINKEDIN_PAGES_CLIENT_SECRET"),
            more_settings=("LINKEDIN_PAGES_SCOPES", "LINKEDIN_API_VERSION"),
            review="LinkedIn reviews the access to the Community Management API. It asks for a registered company, its "
            "verified page and a business e-mail address, and later for a recording of the screen.",
            without_review="Pages can be tried out with few calls a day.",
            notes=(EVERY_60_DAYS,),
        ),
    ),
)
