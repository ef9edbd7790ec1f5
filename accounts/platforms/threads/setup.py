"""Where the operator's app is registered at Meta for Threads. Source: developers.facebook.com (threads/get-started)."""

from __future__ import annotations

from accounts.platforms.operator_setup import OperatorSetup, PlatformApplication
from accounts.platforms.threads.capabilities import SCOPES

SETUP = OperatorSetup(
    {"oauth": "Their sign-in at Threads."},
    (
        PlatformApplication(
            connects="Threads profiles",
            portal="https://developers.facebook.com/apps",
            products=(
                "The use case Access the Threads API, with the permissions that are listed under the scopes.",
                "The redirect address, in its settings, as a redirect callback URL.",
            ),
            scopes=SCOPES,
            settings=("THREADS_CLIENT_ID", "THREADS_CLIENT_SECRET"),
            more_settings=("THREADS_SCOPES",),
            review="Meta's App Review of each permission.",
            without_review="Profiles that are added to the app as Threads testers can be connected.",
            notes=(
                "The settings are the Threads app's own id and secret, which differ from those of the Meta app.",
                "Threads fetches files from BASE_URL, which must be reachable from the internet.",
                "A profile may publish 250 posts and 1,000 replies in 24 hours.",
            ),
        ),
    ),
)
