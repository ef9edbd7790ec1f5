"""Where the operator's project is registered at Google for YouTube.

Source: developers.google.com (youtube/v3/guides/quota_and_compliance_audits, youtube/v3/docs/videos/insert,
identity/protocols/oauth2) and support.google.com/cloud (OAuth app verification).
"""

from __future__ import annotations

from accounts.platforms.operator_setup import OperatorSetup, PlatformApplication
from accounts.platforms.youtube.capabilities import SCOPES

SETUP = OperatorSetup(
    {"oauth": "Their sign-in at Google, with an account that has a YouTube channel."},
    (
        PlatformApplication(
            connects="YouTube channels",
            portal="https://console.cloud.google.com",
            products=(
                "A project with the YouTube Data API v3.",
                "An OAuth consent screen with the scopes. It is published: in testing, access ends after seven days.",
                "An OAuth client of the type Web application, with the redirect address.",
            ),
            scopes=SCOPES,
            settings=("YOUTUBE_CLIENT_ID", "YOUTUBE_CLIENT_SECRET"),
            review="Google verifies the consent screen, since the scopes are sensitive, and YouTube audits the project.",
            without_review="Videos stay private. Google warns owners that it has not verified the app, and limits how many "
            "owners may grant access to it.",
            notes=("A project may upload 100 videos a day. The form of the audit asks for more.",),
        ),
    ),
)
