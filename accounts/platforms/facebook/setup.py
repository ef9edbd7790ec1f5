"""Where the operator's app is registered at Meta for Facebook pages.

Source: developers.facebook.com (pages-api/create-an-app, graph-api/overview/access-levels).
"""

from __future__ import annotations

from accounts.platforms.facebook.capabilities import SCOPES
from accounts.platforms.operator_setup import OperatorSetup, PlatformApplication

SETUP = OperatorSetup(
    {"oauth": "Their sign-in at Facebook, and a role on the page that may create content."},
    (
        PlatformApplication(
            connects="Facebook pages",
            portal="https://developers.facebook.com/apps",
            products=(
                "The use case Manage everything on your Page, with the permissions that are listed under the scopes.",
                "Facebook Login for Business, with the redirect address as a valid OAuth redirect URI.",
            ),
            scopes=SCOPES,
            settings=("FACEBOOK_CLIENT_ID", "FACEBOOK_CLIENT_SECRET"),
            more_settings=("FACEBOOK_SCOPES", "FACEBOOK_API_VERSION"),
            review="Meta's App Review of each permission, for Advanced Access, and the verification of the operator's "
            "business.",
            without_review="People who have a role on the app can connect the pages that they manage.",
            notes=(
                "Meta keeps each version of its API for about two years. Then FACEBOOK_API_VERSION must be raised.",
            ),
        ),
    ),
)
