"""Slack: a channel, connected by installing the operator's app or by an incoming webhook of its owner's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts.platforms.base import Platform
from accounts.platforms.errors import AccountDisconnected, ContentRejected, CredentialsRejected, OutcomeUnknown
from accounts.platforms.slack import files, installation, message, webhook
from accounts.platforms.slack.capabilities import (
    CAPABILITIES,
    CREDENTIALS_SCHEMA,
    NO_FILES_BY_WEBHOOK,
    of_account,
)
from accounts.platforms.slack.installation import Application
from accounts.platforms.slack.setup import SETUP
from accounts.platforms.slack.web_api import WebApi, platform_errors
from accounts.platforms.slack.webhook import Webhook, WebhookError
from accounts.platforms.types import (
    Absent,
    AccountDetails,
    Authorization,
    Capabilities,
    Connection,
    Content,
    Grant,
    Identity,
    Progress,
    Published,
)
from config.outbound import OutboundError

API_BASE = "https://slack.com/api"
SITE = "https://slack.com"


class Slack(Platform):
    """Slack channels.

    Publishing a text goes `start`, which does nothing, and `send`, which posts it, once; neither needs a state. A message
    with files goes `start`, `upload` for each file, `share`, which posts it, once, and `settle` until Slack tells where it
    stands. Its state is {files}: the ids of the uploads; `again` once they had to be uploaded a second time; and from
    `settle` on also {taken, looks}.
    A grant holds a channel's webhook as credentials {webhook_url}, or as tokens {access_token, channel: {id, site}} the
    token of the app and where it posts; its external_id is `workspace/webhook` or `workspace/channel`. Revoking does
    nothing: a webhook is its owner's, and the app's token serves the other channels of its workspace as well, until
    somebody removes the app there.
    """

    name = "slack"
    label = "Slack"
    capabilities = CAPABILITIES
    setup = SETUP
    methods = ("credentials", "oauth")
    credentials_schema = CREDENTIALS_SCHEMA
    irreversible = frozenset({"send", "share"})

    def unavailable_reason(self, method: str) -> str | None:
        """What the operator has not set; None for webhooks, which need nothing of it."""
        missing = [f"SLACK_{key}" for key in ("CLIENT_ID", "CLIENT_SECRET") if not self.setting(key)]
        if method == "credentials" or not missing:
            return None
        return f"The operator of this service has not set {' and '.join(missing)}."

    def capabilities_for(self, account: AccountDetails) -> Capabilities:
        """What the account takes: files only by the app, with the scopes of files."""
        return of_account(account)

    def connect(self, credentials: Mapping[str, Any]) -> Connection:
        """Ask whether the webhook is there, without a message. Raises CredentialsRejected, Transient."""
        try:
            identity = self._asked(self._webhook(credentials))
        except AccountDisconnected as error:
            raise CredentialsRejected(error.message, suggested_action=error.suggested_action) from error
        return Connection(identity, Grant(dict(credentials), external_id=identity.external_id))

    def authorize(self, *, state: str, redirect_uri: str, given: Mapping[str, Any]) -> Authorization:
        """Slack's page of installation."""
        return self._application().authorize(state, redirect_uri)

    def exchange(self, *, code: str, redirect_uri: str, stored: Mapping[str, Any]) -> tuple[Connection, ...]:
        """Every channel that the app may post to. Raises CredentialsRejected, ConnectionUnavailable, Transient."""
        return self._application().exchange(code, redirect_uri)

    def identify(self, grant: Grant) -> Identity:
        """Ask for the channel, or for the webhook. Raises AccountDisconnected, Transient."""
        if grant.credentials:
            return self._asked(self._webhook(grant.credentials))
        with platform_errors():
            return installation.identity(self._web_api(grant), grant.tokens["channel"], grant.external_id)

    def refresh(self, grant: Grant) -> Grant:
        """Raises AccountDisconnected: neither webhooks nor tokens of an app without rotation are renewed."""
        raise AccountDisconnected("Access to a Slack channel cannot be renewed by the service.")

    def publish(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Take the step that `progress` names."""
        if progress.phase == "start":
            if grant.credentials and content.media:
                raise ContentRejected(NO_FILES_BY_WEBHOOK)
            return files.begin(content) if content.media else Progress("send")
        if grant.credentials:
            return message.send_by_webhook(self._webhook(grant.credentials), content)
        api, channel = self._web_api(grant), grant.tokens["channel"]
        if progress.phase == "send":
            return message.send(api, channel, content)
        return STEPS[progress.phase](api, channel, content, progress.state)

    def find(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published | Absent:
        """Look for a message by its files. Raises OutcomeUnknown for a text, which cannot be looked up."""
        if progress.phase == "send":
            raise OutcomeUnknown(message.UNKNOWN_OUTCOME, final=True)
        return files.find(self._web_api(grant), grant.tokens["channel"], content, progress.state)

    def _asked(self, hook: Webhook) -> Identity:
        """A webhook that answers. Its channel is nowhere told."""
        try:
            webhook.look(hook)
        except (OutboundError, WebhookError) as error:
            raise webhook.platform_error(error) from error
        return Identity(hook.id, handle=f"webhook {hook.id}")

    def _webhook(self, credentials: Mapping[str, Any]) -> Webhook:
        return webhook.webhook(credentials["webhook_url"], self.setting("API_BASE"))

    def _web_api(self, grant: Grant) -> WebApi:
        return WebApi(self._api(), grant.tokens["access_token"])

    def _application(self) -> Application:
        site = self.setting("AUTH_BASE", SITE).rstrip("/")
        return Application(self.setting("CLIENT_ID"), self.setting("CLIENT_SECRET"), self._api(), site)

    def _api(self) -> str:
        return self.setting("API_BASE", API_BASE).rstrip("/")


STEPS = {"upload": files.upload, "share": files.share, "settle": files.settle}
