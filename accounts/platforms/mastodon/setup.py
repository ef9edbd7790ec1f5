"""Setup of Mastodon: operators register nothing, because each server registers any application by an API call.

Source: docs.joinmastodon.org, methods/apps (POST /api/v1/apps).
"""

from __future__ import annotations

from accounts.platforms.mastodon.capabilities import SCOPES
from accounts.platforms.operator_setup import OperatorSetup

SETUP = OperatorSetup(
    {
        "credentials": "Their server's name and an access token, which they make there under Settings, Development, with "
        f"the scopes {', '.join(SCOPES)}.",
        "oauth": "Their server's name. This service registers itself at the server, and they grant it access there.",
    }
)
