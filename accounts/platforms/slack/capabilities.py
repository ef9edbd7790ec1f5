"""Slack's capabilities: limits and options for messages, and where the operator's app is registered.

Slack advises 4,000 characters at most and truncates texts after 40,000. A message has up to 10 files of any kind, each of up
to 1 GB; a message of an incoming webhook has none. `chat:write.public` lets the app post text to public channels that it has
not joined. `files:write` is for uploads, `files:read` to find where an upload was shared. Sources: docs.slack.dev
(chat.postMessage, incoming webhooks, files.getUploadURLExternal, rate limits, scopes, app management, distribution, token
rotation), and Slack's help center, Add files to Slack, for the size and number of files.
"""

from __future__ import annotations

from dataclasses import replace

from django.utils.translation import gettext_noop

from accounts.platforms.counting import code_point_length
from accounts.platforms.operator_setup import ConnectionPrerequisites, PlatformApplication
from accounts.platforms.schemas import object_schema
from accounts.platforms.types import (
    AccountLimitsAndScopes,
    Capabilities,
    FileLimits,
    ImageRules,
    MediaRules,
    PostingPace,
    TextRules,
    VideoRules,
)

FILE_SCOPES = ("files:write", "files:read")
SCOPES = ("chat:write", "chat:write.public", "channels:read", "groups:read", *FILE_SCOPES)
MAX_FILES = 10
MAX_FILE_BYTES = 1_000_000_000
NO_FILES_BY_WEBHOOK = gettext_noop(
    "An incoming webhook carries no files. Connect the channel by installing the app in Slack, and post there."
)
NO_FILES_GRANTED = gettext_noop("This connection may not upload files. Connect the channel again and allow it at Slack.")

CAPABILITIES = Capabilities(
    text=TextRules(max_length=4000, counted_as="characters", count=code_point_length),
    media=MediaRules(
        max_count=MAX_FILES,
        mixed=True,
        images=ImageRules(("image/jpeg", "image/png", "image/gif", "image/webp"), MAX_FILE_BYTES, MAX_FILES),
        videos=VideoRules(("video/mp4", "video/quicktime", "video/webm"), MAX_FILE_BYTES, MAX_FILES),
        gifs=ImageRules(("image/gif",), MAX_FILE_BYTES, MAX_FILES),
        documents=FileLimits(("application/pdf",), MAX_FILE_BYTES, MAX_FILES),
        alt_text_max_length=1000,
    ),
    features=("text", "links", "formatting", "replies", "images", "gifs", "video", "documents", "alt_text"),
    # A message is found by its files; one without files cannot be found.
    retry_safety="verifiable",
    link_preview="platform",
    not_possible=(
        gettext_noop("A message cannot go to a person: only to channels."),
        gettext_noop("A message cannot appear in a person's name: it has the name of the app or of the webhook."),
        gettext_noop("An app cannot post to a private channel that it has not been invited to."),
        gettext_noop("An incoming webhook cannot carry files."),
        gettext_noop("A message that an incoming webhook posted has no link."),
        gettext_noop("Buttons, menus and other blocks are not possible."),
    ),
    options=object_schema(
        thread_ts={
            "type": "string",
            "description": gettext_noop(
                "The timestamp of a message, such as 1503435956.000247: the post becomes a reply to it."
            ),
            "maxLength": 19,
            "pattern": r"^[0-9]{1,12}\.[0-9]{6}$",
        },
        mrkdwn={
            "type": "boolean",
            "description": gettext_noop(
                "Whether *bold*, _italic_, `code` and other markup is shown as such; true by default. "
                "For messages without files."
            ),
        },
        unfurl_links={
            "type": "boolean",
            "description": gettext_noop("Whether linked pages have a preview. For messages without files."),
        },
        unfurl_media={
            "type": "boolean",
            "description": gettext_noop("Whether linked images and videos are shown. For messages without files."),
        },
    ),
    # One message a second for each channel; short bursts may be faster.
    pace=PostingPace(seconds=1, burst=3),
)


def capabilities_for_account(account: AccountLimitsAndScopes) -> Capabilities:
    """Return a Slack account's capabilities, without files if a webhook posts or the app lacks OAuth scopes for files."""
    if account.external_id.rpartition("/")[2].startswith("B"):  # ids of webhooks; those of channels begin with C or G
        return _without_files(NO_FILES_BY_WEBHOOK)
    if account.scopes and not {*FILE_SCOPES} <= {*account.scopes}:
        return _without_files(NO_FILES_GRANTED)
    return CAPABILITIES


def _without_files(why: str) -> Capabilities:
    return replace(
        CAPABILITIES,
        media=MediaRules(max_count=0, none_because=why),
        features=("text", "links", "formatting", "replies"),
        retry_safety="at_most_once",
    )


CREDENTIALS_SCHEMA = object_schema(
    ["webhook_url"],
    webhook_url={
        "type": "string",
        "title": gettext_noop("Webhook address"),
        "writeOnly": True,
        "format": "uri",
        "description": gettext_noop("The channel's incoming webhook address, https://hooks.slack.com/services/…."),
        "pattern": "^https?://",
        "maxLength": 512,
    },
)

SETUP = ConnectionPrerequisites(
    {
        "credentials": "The address of an incoming webhook, which they create in an app of their own at Slack.",
        "oauth": "Their sign-in at Slack, and the right to install apps in their workspace.",
    },
    (
        PlatformApplication(
            connects=gettext_noop("channels of a Slack workspace"),
            portal="https://api.slack.com/apps",
            products=(
                gettext_noop("The redirect address, and the scopes as bot token scopes, both under OAuth & Permissions."),
                gettext_noop("Token rotation switched off."),
                gettext_noop(
                    "Public distribution, under Manage Distribution, if other workspaces than your own are to install it."
                ),
            ),
            scopes=SCOPES,
            settings=("SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET"),
            review=gettext_noop(
                "Slack reviews an app only if it is to be listed in its Marketplace, which it asks of apps that are "
                "distributed commercially."
            ),
            without_review=gettext_noop(
                "Every workspace can install an app with public distribution. Without it, your own workspace can."
            ),
        ),
    ),
)
