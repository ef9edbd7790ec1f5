"""Where the operator's app is registered at Slack. Source: docs.slack.dev (app management, distribution, token rotation)."""

from __future__ import annotations

from accounts.platforms.operator_setup import OperatorSetup, PlatformApplication
from accounts.platforms.slack.capabilities import SCOPES

SETUP = OperatorSetup(
    {
        "credentials": "The address of an incoming webhook, which they create in an app of their own at Slack.",
        "oauth": "Their sign-in at Slack, and the right to install apps in their workspace.",
    },
    (
        PlatformApplication(
            connects="channels of a Slack workspace",
            portal="https://api.slack.com/apps",
            products=(
                "The redirect address, and the scopes as bot token scopes, both under OAuth & Permissions.",
                "Token rotation switched off.",
                "Public distribution, under Manage Distribution, if other workspaces than your own are to install it.",
            ),
            scopes=SCOPES,
            settings=("SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET"),
            review="Slack reviews an app only if it is to be listed in its Marketplace, which it asks of apps that are "
            "distributed commercially.",
            without_review="Every workspace can install an app with public distribution. Without it, your own workspace can.",
        ),
    ),
)
