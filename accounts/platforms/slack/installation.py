"""OAuth 2.0 at Slack: an owner installs the operator's app in a workspace, which opens its channels.

The app's token does not run out and belongs to the installation: every channel of it is posted to with the same one. An
app with token rotation gets tokens whose renewal ends the ones before, so that the channels' accounts would end each
other's access; such an app is refused. Sources: docs.slack.dev (installing with OAuth, oauth.v2.access, using token
rotation, auth.test, conversations.list, conversations.info).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from accounts.platforms import oauth
from accounts.platforms.errors import (
    AccountDisconnected,
    ConnectionUnavailable,
    CredentialsRejected,
    PlatformError,
    unmapped,
)
from accounts.platforms.slack.capabilities import SCOPES
from accounts.platforms.slack.web_api import (
    SlackError,
    UnreadableAnswer,
    WebApi,
    line,
    platform_error,
    platform_errors,
)
from accounts.platforms.types import Authorization, Connection, Grant, Identity
from config.outbound import OutboundError

MAX_CHANNELS, PAGE = 1000, 500
WRONG_CODE = frozenset({"invalid_code", "code_already_used", "code_expired"})
OPERATORS_FAULT = frozenset(
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
_SITE = re.compile(r"https?://[A-Za-z0-9.:-]{1,250}")


@dataclass(frozen=True)
class Application:
    """The operator's app at Slack. `api` and `site`: the Web API and where owners grant, without a trailing slash."""

    client_id: str
    client_secret: str = field(repr=False)
    api: str
    site: str

    def authorize(self, state: str, redirect_uri: str) -> Authorization:
        """Where the owner installs the app."""
        asked = {
            "client_id": self.client_id,
            "scope": ",".join(SCOPES),
            "redirect_uri": redirect_uri,
            "state": state,
        }
        return Authorization(oauth.with_query(f"{self.site}/oauth/v2/authorize", asked))

    def exchange(self, code: str, redirect_uri: str) -> tuple[Connection, ...]:
        """The channels that the installation opens. Raises CredentialsRejected, ConnectionUnavailable, Transient."""
        answer = self._tokens(code, redirect_uri)
        api = WebApi(self.api, _word(answer.get("access_token")))
        try:
            with platform_errors():
                return _channels(api, oauth.scopes_of(answer))
        except AccountDisconnected as error:
            raise CredentialsRejected(error.message) from error

    def _tokens(self, code: str, redirect_uri: str) -> dict[str, Any]:
        named = oauth.basic(self.client_id, self.client_secret)
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect_uri}
        try:
            answer = WebApi(self.api).post("oauth.v2.access", data=form, headers=named)
        except OutboundError as error:
            raise platform_error(error) from error
        except SlackError as error:
            raise _refused_code(error) from error
        if answer.get("refresh_token"):
            raise ConnectionUnavailable(
                "The operator's app at Slack has token rotation switched on, with which channels cannot be connected.",
                suggested_action="Ask the operator of the service to set up an app without token rotation.",
            )
        if missing := set(SCOPES) - set(oauth.scopes_of(answer)):
            raise CredentialsRejected(
                f"The installation lacks what the service needs at Slack: {', '.join(sorted(missing))}.",
                suggested_action="Begin the connection again, and allow everything that Slack asks for.",
            )
        return answer


def identity(api: WebApi, channel: Mapping[str, Any], external_id: str) -> Identity:
    """A connected channel {id, site} as it is now. Raises AccountDisconnected, SlackError, OutboundError."""
    told = api.get("conversations.info", channel=channel["id"]).get("channel")
    if not isinstance(told, dict) or told.get("id") != channel["id"]:
        raise UnreadableAnswer("The answer is not about this channel.")
    if told.get("is_archived") is True:
        raise AccountDisconnected("The channel is archived.", suggested_action="Unarchive it in Slack, then try again.")
    return _identity(told, channel["site"], external_id)


def _channels(api: WebApi, scopes: tuple[str, ...]) -> tuple[Connection, ...]:
    """Those that the app may post to, by name: public ones, and private ones that it was invited to; the first thousand."""
    about = api.get("auth.test")
    team, site = about.get("team_id"), str(about.get("url")).rstrip("/")
    if not isinstance(team, str) or not _TEAM.fullmatch(team) or not _SITE.fullmatch(site):
        raise UnreadableAnswer("The answer names no workspace.")
    found: list[dict[str, Any]] = []
    asked = {"types": "public_channel,private_channel", "exclude_archived": "true", "limit": str(PAGE)}
    while len(found) < MAX_CHANNELS:
        page = api.get("conversations.list", **asked)
        found += [each for each in _listed(page.get("channels")) if _CHANNEL.fullmatch(str(each.get("id")))]
        cursor = _next_cursor(page)
        if not cursor:
            break
        asked["cursor"] = cursor
    name = line(about.get("team"))
    return tuple(
        Connection(
            _identity(each, site, f"{team}/{each['id']}", team=name),
            Grant({}, {"access_token": api.token, "channel": {"id": each["id"], "site": site}}, f"{team}/{each['id']}"),
            scopes,
        )
        for each in sorted(found[:MAX_CHANNELS], key=lambda each: line(each.get("name")))
    )


def _identity(told: Mapping[str, Any], site: str, external_id: str, *, team: str = "") -> Identity:
    name = f"#{line(told.get('name')) or told['id']}"
    return Identity(
        external_id=external_id,
        handle=name,
        display_name=f"{name} ({team})" if team else "",
        profile_url=f"{site}/archives/{told['id']}",
    )


def _refused_code(error: SlackError) -> PlatformError:
    if error.code in OPERATORS_FAULT:
        return ConnectionUnavailable(f"Slack does not take the operator's app as it is set up: {error.code}")
    if error.status == 429 or error.status >= 500 or not error.code:
        return platform_error(error)
    if error.code not in WRONG_CODE:
        unmapped("slack", error.code)
    return CredentialsRejected(
        f"Slack does not take this code: {error.code}", suggested_action="Begin the connection again."
    )


def _listed(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _next_cursor(page: Mapping[str, Any]) -> str:
    told = page.get("response_metadata")
    cursor = told.get("next_cursor") if isinstance(told, dict) else None
    return cursor if isinstance(cursor, str) else ""


def _word(value: Any) -> str:
    """A token. Raises CredentialsRejected."""
    if not isinstance(value, str) or not re.fullmatch(r"[\x21-\x7e]{1,512}", value):
        raise CredentialsRejected("Slack's answer holds no token.", suggested_action="Begin the connection again.")
    return value
