"""Where the operator's app is registered at Meta for Instagram.

Source: developers.facebook.com (development/create-an-app/instagram-use-case, instagram-platform/app-review).
"""

from __future__ import annotations

from accounts.platforms.instagram.capabilities import SCOPES
from accounts.platforms.operator_setup import OperatorSetup, PlatformApplication

SETUP = OperatorSetup(
    {"oauth": "Their sign-in at Instagram, with a professional account (business or creator)."},
    (
        PlatformApplication(
            connects="professional Instagram accounts",
            portal="https://developers.facebook.com/apps",
            products=(
                "The use case Manage messaging and content on Instagram, set up with Instagram Login.",
                "The redirect address, in its settings of the business login.",
            ),
            scopes=SCOPES,
            settings=("INSTAGRAM_CLIENT_ID", "INSTAGRAM_CLIENT_SECRET"),
            more_settings=("INSTAGRAM_SCOPES", "INSTAGRAM_API_VERSION"),
            review="Meta's App Review of each permission, for Advanced Access, and the verification of the operator's "
            "business.",
            without_review="Accounts of people who have a role on the app can be connected.",
            notes=(
                "The settings are the Instagram app's own id and secret, which differ from those of the Meta app.",
                "Instagram fetches files from BASE_URL, which must be reachable from the internet.",
                "An account may publish 100 posts in 24 hours, some accounts fewer.",
            ),
        ),
    ),
)
