"""The Slack adapter: connects channels by installing the operator's app or by an owner's incoming webhook."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.errors import ContentRejected, CredentialsRejected, OutcomeUnknown, ReauthRequired
from accounts.platforms.http.oauth_platform import OAuthPlatform
from accounts.platforms.post_look import PostLook
from accounts.platforms.slack import files, installation, messages, webhook
from accounts.platforms.slack.capabilities import (
    CAPABILITIES,
    CREDENTIALS_SCHEMA,
    NO_FILES_BY_WEBHOOK,
    SCOPES,
    SETUP,
    capabilities_for_account,
)
from accounts.platforms.slack.client import ERRORS, WebApi
from accounts.platforms.slack.installation import SlackOAuthClient
from accounts.platforms.slack.webhook import WebhookClient
from accounts.platforms.types import (
    AccountLimitsAndScopes,
    AuthorizedAccount,
    Capabilities,
    Content,
    Grant,
    Identity,
    NotPublishedProof,
    Progress,
    Published,
)

API_BASE = "https://slack.com/api"
SITE = "https://slack.com"


class Slack(OAuthPlatform):
    """The adapter that connects Slack channels and posts messages to them.

    The steps of a text are `start`, which does nothing, and `send`, which posts it, once; neither needs a state. Those of a
    message with files are `start`, `upload` for each file, `share`, which posts it, once, and `settle` until Slack shows the
    message. The state is {files}, the ids of the uploads; `again` once they were uploaded a second time; and from `settle` on
    also {looks}.

    A grant has the webhook as credentials {webhook_url}, or as tokens {access_token, channel: {id, site}} the app's token and
    the channel; the external_id is `workspace/webhook` or `workspace/channel`.
    """

    name = "slack"
    label = "Slack"
    icon = "slack"
    colour = "#611f69"
    look = PostLook(layout="chat", at_sign=False, card_off=("unfurl_links", False))
    capabilities = CAPABILITIES
    setup = SETUP
    errors = ERRORS
    methods = ("credentials", "oauth")
    credentials_schema = CREDENTIALS_SCHEMA
    irreversible = frozenset({"send", "share"})
    renewed_with = None
    revoked_tokens = ()  # a webhook is its owner's, and the app's token also serves the workspace's other channels

    def unavailable_reason(self, method: str) -> str | None:
        """Adapter method that returns which settings of the Slack app are missing; None if all are set.

        Connections by webhook need no settings.
        """
        return None if method == "credentials" else super().unavailable_reason(method)

    def capabilities_for(self, account: AccountLimitsAndScopes) -> Capabilities:
        """Adapter method that returns a Slack account's capabilities: files require the app and its scopes for files."""
        return capabilities_for_account(account)

    def oauth_client(self) -> SlackOAuthClient:
        """Adapter method that returns the client of Slack's OAuth endpoints, built from the settings."""
        return SlackOAuthClient(
            self.platform_setting("CLIENT_ID"),
            self.platform_setting("CLIENT_SECRET"),
            authorize_url=f"{self.platform_setting('AUTH_BASE', SITE).rstrip('/')}/oauth/v2/authorize",
            token_url=f"{self._api_base()}/oauth.v2.access",
            scopes=SCOPES,
        )

    def fetch_identities(self, tokens: Mapping[str, Any]) -> tuple[Identity, ...]:
        """Adapter method that returns the channels of a Slack workspace to which the app may post."""
        return installation.fetch_postable_channels(self._web_api(tokens))

    def details_stored_with_tokens(self, identity: Identity) -> Mapping[str, Any]:
        """Adapter method that returns what is stored with a Slack channel's token: the channel's id and workspace URL."""
        channel_id = identity.external_id.rpartition("/")[2]
        return {"channel": {"id": channel_id, "site": identity.profile_url.removesuffix(f"/archives/{channel_id}")}}

    def connect_with_credentials(self, credentials: Mapping[str, Any]) -> AuthorizedAccount:
        """Adapter method that connects a Slack channel by its incoming webhook, without posting a message.

        Raises CredentialsRejected, Transient.
        """
        try:
            identity = webhook.probe_and_identify_webhook(self._webhook(credentials))
        except ReauthRequired as error:
            raise CredentialsRejected(error.message, suggested_action=error.suggested_action) from error
        return AuthorizedAccount(identity, Grant(dict(credentials), external_id=identity.external_id))

    def check_and_identify(self, grant: Grant) -> Identity:
        """Adapter method that checks that the app can still use the Slack channel, or that the webhook still exists."""
        if grant.credentials:
            return webhook.probe_and_identify_webhook(self._webhook(grant.credentials))
        with ERRORS.translating_repeatable_call_errors():
            return installation.check_and_identify_channel(
                self._web_api(grant.tokens), grant.tokens["channel"], grant.external_id
            )

    def publish_step(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Adapter method that takes the next step at Slack: post a message, or upload files and share them in the channel."""
        if progress.phase == "start":
            if grant.credentials and content.media:
                raise ContentRejected(NO_FILES_BY_WEBHOOK)
            return Progress("upload", {"files": []}) if content.media else Progress("send")
        if grant.credentials:
            return messages.send_message_by_webhook(self._webhook(grant.credentials), content)
        api, channel = self._web_api(grant.tokens), grant.tokens["channel"]
        if progress.phase == "send":
            return messages.send_message_as_app(api, channel, content)
        step = {
            "upload": files.upload_next_file,
            "share": files.post_message_by_sharing_files,
            "settle": files.check_files_appeared_as_message,
        }[progress.phase]
        return step(api, channel, content, progress)

    def find_or_rule_out_published_post(
        self, grant: Grant, content: Content, progress: Progress
    ) -> Progress | Published | NotPublishedProof:
        """Adapter method that finds the Slack message of an interrupted attempt by its files; not possible without files.

        Raises OutcomeUnknown for a message without files.
        """
        if progress.phase == "send":
            raise OutcomeUnknown(gettext_noop("Slack did not say whether it published this message."), final=True)
        return files.find_or_rule_out_posted_message(self._web_api(grant.tokens), grant.tokens["channel"], content, progress)

    def _webhook(self, credentials: Mapping[str, Any]) -> WebhookClient:
        return webhook.webhook_client(credentials["webhook_url"], self.platform_setting("API_BASE"))

    def _web_api(self, tokens: Mapping[str, Any]) -> WebApi:
        return WebApi(self._api_base(), tokens["access_token"])

    def _api_base(self) -> str:
        return self.platform_setting("API_BASE", API_BASE).rstrip("/")
