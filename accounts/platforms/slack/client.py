"""The client for Slack's Web API, and the translation of Slack's errors.

Slack answers 200 with `{"ok": false, "error": code}` if it refuses a call, and 429 with Retry-After at its rate limit.
People are shown the code. Source: docs.slack.dev, the Web API and its methods' errors.
"""

from __future__ import annotations

import re

from django.utils.translation import gettext_noop

from accounts.platforms.errors import PlatformError, RateLimited, ReauthRequired
from accounts.platforms.http.client import JsonClient
from accounts.platforms.http.errors import ErrorTranslator, PlatformHttpError
from accounts.platforms.http.responses import json_object_or_none
from config.outbound import Response

# Errors after which the call may have been carried out in part.
UNCERTAIN_OUTCOME_CODES = frozenset({"internal_error", "fatal_error", "file_update_failed"})
TRANSIENT_CODES = frozenset(
    {"service_unavailable", "team_added_to_org", "org_login_required", "request_timeout", "accesslimited"}
)
RATE_LIMIT_CODES = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
CONTENT_CODES = re.compile(
    r"msg_too_long|no_text|cannot_reply_to_message|message_not_found|thread_not_found|restricted_action\w*"
    r"|invalid_(?:arg\w*|blocks\w*|thread_ts)|slack_connect_\w+_blocked|missing_argument|alt_txt_too_large"
    r"|file_upload_size_restricted|file_uploads_disabled|file_type_not_allowed|storage_limit_reached"
    r"|invalid_form_data|invalid_post_type"
)
CHECK_CHANNEL_ADVICE = gettext_noop(
    "Check in Slack that the channel exists, is not archived and has the app among its members; then check the account, "
    "or reconnect it, and retry the post."
)

_CODE = re.compile(r"[a-z0-9_.:-]{1,80}")


class SlackError(PlatformHttpError):
    """An error response of Slack; `code` is Slack's name for the error, or empty if there is no name."""

    def __init__(self, response: Response) -> None:
        content = json_object_or_none(response) or {}
        code = content.get("error")
        super().__init__(response, code=code if isinstance(code, str) and _CODE.fullmatch(code) else "")
        self.reason = self.code or self.reason
        self.from_api = content.get("ok") is False


class WebApi(JsonClient):
    """The client of Slack's Web API with the token of an app. Calls raise SlackError, NotSent, SentWithoutAnswer."""

    error = SlackError
    timeout_seconds = 20.0
    max_bytes = 4_000_000  # a page of channels, each with its topic and purpose

    def is_success(self, response: Response) -> bool:
        """Return whether a response of Slack's Web API reports success."""
        return super().is_success(response) and (json_object_or_none(response) or {}).get("ok") is True


class SlackErrorTranslator(ErrorTranslator[SlackError]):
    """The translation of Slack's API errors into platform errors, mostly by their codes."""

    name = "slack"
    label = "Slack"
    error = SlackError
    client = "app"  # what posts to Slack, in messages for people
    access_ended = frozenset(
        {
            "access_denied",
            "account_inactive",
            "ekm_access_denied",
            "enterprise_is_restricted",
            "invalid_auth",
            "missing_scope",
            "no_permission",
            "not_allowed_token_type",
            "not_authed",
            "team_access_not_granted",
            "token_expired",
            "token_revoked",
        }
    )
    channel_closed = frozenset(
        {
            "channel_not_found",
            "invalid_channel",
            "is_archived",
            "not_in_channel",
            "posting_to_channel_denied",
            "restricted_action",
            "restricted_action_read_only_channel",
        }
    )

    def platform_specific_error(self, error: SlackError) -> PlatformError | None:
        """Return the PlatformError for Slack's temporary errors and those about the access or channel; None for others."""
        if error.code in RATE_LIMIT_CODES or error.status == 429:
            return RateLimited(gettext_noop("Slack's rate limit is reached."), retry_after=error.retry_after)
        if error.code in self.access_ended:
            return ReauthRequired(f"Slack no longer accepts the {self.client}: {error.reason}")
        if error.code in self.channel_closed:
            message = f"Slack does not let the {self.client} post to the channel: {error.reason}"
            return ReauthRequired(message, suggested_action=CHECK_CHANNEL_ADVICE)
        return (
            self.transient_error(error) if not error.code or error.code in TRANSIENT_CODES | UNCERTAIN_OUTCOME_CODES else None
        )

    def request_may_have_taken_effect(self, error: SlackError) -> bool:
        """Return whether Slack may have carried out the request although it answered with this error."""
        return error.status >= 500 or error.code in UNCERTAIN_OUTCOME_CODES or (error.status < 300 and not error.from_api)

    def means_content_rejected(self, error: SlackError) -> bool:
        """Return whether Slack's error means that it refuses the message."""
        return CONTENT_CODES.fullmatch(error.code) is not None


ERRORS = SlackErrorTranslator()
