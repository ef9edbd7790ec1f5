"""Where the operator's app is registered at X. Source: docs.x.com (apps, pricing, rate limits)."""

from __future__ import annotations

from accounts.platforms.operator_setup import OperatorSetup, PlatformApplication
from accounts.platforms.x.capabilities import SCOPES

SETUP = OperatorSetup(
    {"oauth": "Their sign-in at X."},
    (
        PlatformApplication(
            connects="X accounts",
            portal="https://console.x.com",
            products=(
                "User authentication by OAuth 2.0, with the type Web App or Automated App, which are confidential clients.",
                "The redirect address, as a callback URL.",
                "Credits: X accepts no posts from an app without them.",
            ),
            scopes=SCOPES,
            settings=("X_CLIENT_ID", "X_CLIENT_SECRET"),
            notes=(
                "X bills the operator for each post: 0.015 US dollars, or 0.200 with a link (prices of April 2026).",
                "Each post of a thread is billed. PRICE_LIST sets what this service charges for it.",
                "All accounts of an app together may publish 10,000 posts in 24 hours.",
            ),
        ),
    ),
)
