"""The installation of the operator's Slack app in a workspace by OAuth 2.0, which gives access to the channels.

The app's token does not expire and belongs to the installation: it posts to all of its channels. With token rotation, each
renewal would end the tokens that the other channels' accounts have stored, so an app with rotation is refused. Sources:
docs.slack.dev (installing with OAuth, oauth.v2.access, using token rotation, auth.test, conversations.list,
conversations.info).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.errors import ConnectionUnavailable, PlatformError, ReauthRequired, report_unknown_error_code
from accounts.platforms.http.oauth import PlatformOAuthClient, basic_auth_header, wrong_code_error
from accounts.platforms.http.responses import UnreadableAnswer, object_or_empty, objects_in, one_line, required_matching_text
from accounts.platforms.slack.client import (
    RATE_LIMIT_CODES,
    TRANSIENT_CODES,
    UNCERTAIN_OUTCOME_CODES,
    SlackError,
    SlackErrorTranslator,
    WebApi,
)
from accounts.platforms.types import Identity

MAX_CHANNELS, PAGE_SIZE = 1000, 500
INVALID_OAUTH_CODE_ERRORS = frozenset({"invalid_code", "code_already_used", "code_expired"})
WRONG_APPLICATION_CODES = frozenset(
    {
        "bad_client_secret",
        "bad_redirect_uri",
        "invalid_client_id",
        "invalid_scope",
        "no_scopes",
        "oauth_authorization_url_mismatch",
        "unapproved_scope",
    }
)

_TEAM, _CHANNEL = re.compile(r"[TE][A-Z0-9]{1,20}"), re.compile(r"[CG][A-Z0-9]{1,20}")
_SITE = re.compile(r"https?://[A-Za-z0-9.:-]{1,250}/?")
_TOKEN = re.compile(r"[\x21-\x7e]{1,512}")


class CodeExchangeErrorTranslator(SlackErrorTranslator):
    """The translation of Slack's errors in the OAuth code exchange that completes an installation of the Slack app."""

    def platform_specific_error(self, error: SlackError) -> PlatformError | None:
        """Return the PlatformError for a Slack installation's errors about the app or the OAuth code; None for others."""
        if error.code in WRONG_APPLICATION_CODES:
            return ConnectionUnavailable(f"Slack does not accept the operator's app as it is set up: {error.code}")
        passes = (
            error.status == 429
            or error.status >= 500
            or error.code in RATE_LIMIT_CODES | TRANSIENT_CODES | UNCERTAIN_OUTCOME_CODES
        )
        if passes or not error.code:
            return super().platform_specific_error(error)
        if error.code not in INVALID_OAUTH_CODE_ERRORS:
            report_unknown_error_code(self.name, error.code)
        return wrong_code_error(self.label)


EXCHANGE_ERRORS = CodeExchangeErrorTranslator()


@dataclass(frozen=True)
class SlackOAuthClient(PlatformOAuthClient):
    """The client of Slack's OAuth endpoints, with the operator's app, which owners install in their workspaces."""

    label = "Slack"
    scope_separator = ","

    def request_tokens(self, form: Mapping[str, str]) -> dict[str, Any]:
        """Exchange the OAuth code of a Slack installation for tokens.

        Raises CredentialsRejected, ConnectionUnavailable, Transient.
        """
        with EXCHANGE_ERRORS.translating_repeatable_call_errors():
            headers = basic_auth_header(self.client_id, self.client_secret)
            answer = WebApi(self.token_url).post("", data=dict(form), headers=headers)
            required_matching_text(answer, "access_token", _TOKEN, "access token")
            return answer

    def check_granted_scopes(self, granted: tuple[str, ...], *, has_refresh_token: bool = True) -> None:
        """Raise an error if the Slack app was installed without a required OAuth scope or with tokens that expire."""
        if has_refresh_token:
            raise ConnectionUnavailable(
                gettext_noop(
                    "The operator's app at Slack has token rotation switched on, with which channels cannot be connected."
                ),
                suggested_action=gettext_noop("Ask the operator of the service to set up an app without token rotation."),
            )
        super().check_granted_scopes(granted)


def fetch_postable_channels(api: WebApi) -> tuple[Identity, ...]:
    """List the Slack channels that the installed app may post to, sorted by name, at most a thousand.

    These are public channels, and private ones that the app was invited to.
    """
    about = api.get("/auth.test")
    team, site = (
        required_matching_text(about, "team_id", _TEAM, "workspace id"),
        required_matching_text(about, "url", _SITE, "URL").rstrip("/"),
    )
    found: list[dict[str, Any]] = []
    params = {"types": "public_channel,private_channel", "exclude_archived": "true", "limit": str(PAGE_SIZE)}
    while len(found) < MAX_CHANNELS:
        page = api.get("/conversations.list", params)
        found += [each for each in objects_in(page.get("channels")) if _CHANNEL.fullmatch(str(each.get("id")))]
        cursor = object_or_empty(page.get("response_metadata")).get("next_cursor")
        if not isinstance(cursor, str) or not cursor:
            break
        params["cursor"] = cursor
    name = one_line(about.get("team"))
    return tuple(
        _identity(each, site, f"{team}/{each['id']}", team=name)
        for each in sorted(found[:MAX_CHANNELS], key=lambda each: one_line(each.get("name")))
    )


def check_and_identify_channel(api: WebApi, stored: Mapping[str, Any], external_id: str) -> Identity:
    """Ask Slack whether the installed app has access to a channel. Raises ReauthRequired, SlackError, OutboundError."""
    details = object_or_empty(api.get("/conversations.info", {"channel": stored["id"]}).get("channel"))
    if details.get("id") != stored["id"]:
        raise UnreadableAnswer("The response is not about this channel.")
    if details.get("is_archived") is True:
        raise ReauthRequired(
            gettext_noop("The channel is archived."), suggested_action=gettext_noop("Unarchive it in Slack, then try again.")
        )
    return _identity(details, stored["site"], external_id)


def _identity(details: Mapping[str, Any], site: str, external_id: str, *, team: str = "") -> Identity:
    name = f"#{one_line(details.get('name')) or details['id']}"
    return Identity(
        external_id=external_id,
        handle=name,
        display_name=f"{name} ({team})" if team else "",
        profile_url=f"{site}/archives/{details['id']}",
    )
