"""What can go wrong at a platform, as adapters tell it.

PlatformError
├── Transient            try again later; `retry_after` seconds where the platform said so
│   └── RateLimited      the quota is used up
├── TokenExpired         the access token is stale; refresh it, then try again
├── AccountDisconnected  the credentials are refused for good; a person has to reconnect
├── ContentRejected      the platform does not take this content; nothing but a change of it helps
├── CredentialsRejected  what was given at connection is wrong
├── ConnectionUnavailable  this service cannot connect the platform (not set up, or no adapter)
└── OutcomeUnknown       the request may have taken effect; only the engine decides what follows

Messages are for people and never hold a token, password or post text.
"""

from __future__ import annotations

import logging

from config.metrics import count_unmapped

logger = logging.getLogger("accounts.platforms")


class PlatformError(Exception):
    """Any fault at a platform; `suggested_action` tells a person what to do."""

    suggested_action = "Try again later."

    def __init__(self, message: str, *, suggested_action: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.suggested_action = suggested_action or self.suggested_action


class Transient(PlatformError):
    suggested_action = "Nothing: the service tries again by itself."

    def __init__(self, message: str, *, retry_after: float | None = None, suggested_action: str | None = None) -> None:
        super().__init__(message, suggested_action=suggested_action)
        self.retry_after = retry_after


class RateLimited(Transient):
    suggested_action = "Nothing: the service goes on when the platform's limit allows."


class TokenExpired(PlatformError):
    suggested_action = "Reconnect the account."


class AccountDisconnected(PlatformError):
    suggested_action = "Reconnect the account, then retry the post."


class ContentRejected(PlatformError):
    suggested_action = "Change the content, then make a new post."


class CredentialsRejected(PlatformError):
    suggested_action = "Check the credentials and connect again."


class ConnectionUnavailable(PlatformError):
    suggested_action = "Ask the operator of the service to set this platform up."


class OutcomeUnknown(PlatformError):
    """`final`: nothing can ever tell, so the engine must not even look."""

    suggested_action = "Look at the account: the post may be there. Then resolve or retry it."

    def __init__(self, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.final = final


def unmapped(platform: str, code: object) -> None:
    """Tell the operator of an answer that an adapter's tables do not know, once for each time that it comes.

    `platform` is the registry's name; `code` is the status or code that the platform gave, never its words, which may
    quote a post.
    """
    shown = "".join(char if char.isprintable() else " " for char in str(code)[:100]).strip()
    logger.warning("%s gave an answer that this service does not know: %s", platform, shown)
    count_unmapped(platform, shown)
