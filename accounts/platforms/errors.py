"""The errors that platform adapters raise.

PlatformError
├── Transient            try again later; `retry_after` seconds where the platform said so
│   └── RateLimited      a rate limit or quota is exhausted
├── TokenExpired         the access token has expired; refresh it, then try again
├── ReauthRequired       the credentials are refused permanently; a person has to reconnect
├── ContentRejected      the platform refuses this content; only a change of it helps
├── CredentialsRejected  what the owner gave to connect an account is wrong
├── ConnectionUnavailable  this service cannot connect the platform (not set up, or no adapter)
└── OutcomeUnknown       the request may have taken effect; only the engine decides what follows

Messages are for people and never hold a token, password or post text.
"""

from __future__ import annotations

import logging

from django.utils.translation import gettext_noop

from config.metrics import count_unknown_platform_error_code

logger = logging.getLogger("accounts.platforms")


class PlatformError(Exception):
    """Base class of all errors that platform adapters raise; `suggested_action` tells a person what to do."""

    suggested_action = gettext_noop("Try again later.")

    def __init__(self, message: str, *, suggested_action: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.suggested_action = suggested_action or self.suggested_action


class Transient(PlatformError):
    """Error that a platform adapter raises for a call that may succeed later; `retry_after` is in seconds, if known."""

    suggested_action = "Nothing: the service tries again by itself."

    def __init__(self, message: str, *, retry_after: float | None = None, suggested_action: str | None = None) -> None:
        super().__init__(message, suggested_action=suggested_action)
        self.retry_after = retry_after


class RateLimited(Transient):
    """Error that a platform adapter raises if the platform refuses a call because a rate limit or quota is used up."""

    suggested_action = gettext_noop("Nothing: the service goes on when the platform's limit allows.")


class TokenExpired(PlatformError):
    """Error that a platform adapter raises if an access token has expired: it must be renewed before another call."""

    suggested_action = gettext_noop("Reconnect the account.")


class ReauthRequired(PlatformError):
    """Error that a platform adapter raises if credentials are refused for good: the account becomes needs_reauth."""

    suggested_action = gettext_noop("Reconnect the account, then retry the post.")


class ContentRejected(PlatformError):
    """Error that a platform adapter raises if the platform refuses a post's content: only other content can be published."""

    suggested_action = gettext_noop("Change the content, then make a new post.")


class CredentialsRejected(PlatformError):
    """Error that a platform adapter raises if an owner's credentials are wrong or have too few permissions."""

    suggested_action = gettext_noop("Check the credentials and connect again.")


class ConnectionUnavailable(PlatformError):
    """Error that a platform adapter raises if a connection is not available, such as without the operator's app."""

    suggested_action = gettext_noop("Ask the operator of the service to set this platform up.")


class OutcomeUnknown(PlatformError):
    """Error that an adapter raises if the platform may or may not have published a post.

    If `final`, asking the platform cannot settle it.
    """

    suggested_action = gettext_noop("Look at the account: the post may be there. Then resolve or retry it.")

    def __init__(self, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.final = final


def report_unknown_error_code(platform: str, code: object) -> None:
    """Report an error code of a platform to the operator, because the platform's adapter does not know the code.

    Every occurrence is reported. `platform` is the registry's name; `code` is the platform's status or error code, never its
    message, which may quote a post.
    """
    shown = "".join(char if char.isprintable() else " " for char in str(code)[:100]).strip()
    logger.warning("%s gave an answer that this service does not know: %s", platform, shown)
    count_unknown_platform_error_code(platform, shown)
