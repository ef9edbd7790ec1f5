"""Where the operator's app is registered at TikTok.

Source: developers.tiktok.com (Content Posting API: get started, content sharing guidelines, media transfer guide).
"""

from __future__ import annotations

from accounts.platforms.operator_setup import OperatorSetup, PlatformApplication
from accounts.platforms.tiktok.capabilities import SCOPES

SETUP = OperatorSetup(
    {"oauth": "Their sign-in at TikTok."},
    (
        PlatformApplication(
            connects="TikTok accounts",
            portal="https://developers.tiktok.com/apps",
            products=(
                "Login Kit, with the redirect address. It has to be https.",
                "Content Posting API, with Direct Post switched on.",
                "BASE_URL verified as a URL prefix, if photos are to go out. TIKTOK_VERIFIED_PREFIX names that prefix.",
            ),
            scopes=SCOPES,
            settings=("TIKTOK_CLIENT_ID", "TIKTOK_CLIENT_SECRET"),
            more_settings=("TIKTOK_VERIFIED_PREFIX", "TIKTOK_PKCE"),
            review="TikTok approves the app and its scopes, and then audits how it posts.",
            without_review="A post can be seen by its creator alone (privacy_level SELF_ONLY). The account has to be "
            "private, and five accounts at most may post in 24 hours.",
            notes=("What TikTok calls the client key is TIKTOK_CLIENT_ID.",),
        ),
    ),
)
