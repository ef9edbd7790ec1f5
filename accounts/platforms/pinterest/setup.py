"""Where the operator's app is registered at Pinterest. Source: developers.pinterest.com (connect app, access tiers)."""

from __future__ import annotations

from accounts.platforms.operator_setup import OperatorSetup, PlatformApplication
from accounts.platforms.pinterest.capabilities import SCOPES

SETUP = OperatorSetup(
    {"oauth": "Their sign-in at Pinterest."},
    (
        PlatformApplication(
            connects="Pinterest accounts",
            portal="https://developers.pinterest.com/apps",
            products=("The redirect address, as a redirect URI.",),
            scopes=SCOPES,
            settings=("PINTEREST_CLIENT_ID", "PINTEREST_CLIENT_SECRET"),
            review="Pinterest approves the app for Trial access, and for Standard access after a video that shows how owners "
            "connect and how the app creates pins.",
            without_review="With Trial access nobody but the creator sees a pin. Pinterest may also refuse it and name its "
            "sandbox.",
        ),
    ),
)
