"""The names of platform options, of their values and of credential fields, as dashboard pages show them."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _

OPTION_NAMES = {
    "langs": _("Languages"),
    "link_card": _("Link card"),
    "thread": _("Thread"),
    "choices": _("Choices"),
    "duration_minutes": _("Open for how many minutes"),
    "multiple": _("Several answers"),
    "hide_totals": _("Hide the counts until the end"),
    "anonymous": _("Anonymous votes"),
    "url": _("Web address"),
    "description": _("Description"),
    "visibility": _("Visibility"),
    "spoiler_text": _("Content warning"),
    "sensitive": _("Sensitive media"),
    "language": _("Language"),
    "poll": _("Poll"),
    "parse_mode": _("Text formatting"),
    "disable_notification": _("Send without a sound"),
    "protect_content": _("Prevent forwarding and saving"),
    "link_preview": _("Link preview"),
    "message_thread_id": _("Forum topic (id)"),
    "reply_to_message_id": _("Reply to message (id)"),
    "username": _("Shown name"),
    "thread_id": _("Thread (id)"),
    "thread_name": _("Title of a new thread"),
    "suppress_embeds": _("Hide link previews"),
    "suppress_notifications": _("Notify nobody"),
    "reply_settings": _("Who may reply"),
    "made_with_ai": _("Made with AI"),
    "paid_partnership": _("Paid partnership"),
    "title": _("Title"),
    "article": _("Article"),
    "first_comment": _("First comment"),
    "reply_control": _("Who may reply"),
    "topic_tag": _("Topic"),
    "link_attachment": _("Previewed link"),
    "post_type": _("Kind of post"),
    "share_to_feed": _("Show the reel in the feed"),
    "thumb_offset": _("Cover at (milliseconds)"),
    "collaborators": _("Collaborators"),
    "link": _("Link"),
    "tags": _("Tags"),
    "privacy_status": _("Who may see it"),
    "category_id": _("Category (number)"),
    "made_for_kids": _("Made for kids"),
    "contains_synthetic_media": _("Altered or synthetic content"),
    "license": _("Licence"),
    "embeddable": _("Allow embedding"),
    "notify_subscribers": _("Notify subscribers"),
    "thumbnail_url": _("Thumbnail (web address)"),
    "privacy_level": _("Who may see it"),
    "disable_comment": _("No comments"),
    "disable_duet": _("No duets"),
    "disable_stitch": _("No stitches"),
    "cover_timestamp_ms": _("Cover at (milliseconds)"),
    "is_aigc": _("Made with AI"),
    "brand_content_toggle": _("Paid partnership"),
    "brand_organic_toggle": _("Promotes your own business"),
    "auto_add_music": _("Add music"),
    "photo_cover_index": _("Cover photo (number, from 0)"),
    "board": _("Board"),
    "board_section_id": _("Board section (id)"),
    "cover_seconds": _("Cover at (seconds)"),
    "cover_image_url": _("Cover picture (web address)"),
    "thread_ts": _("Reply to message (timestamp)"),
    "mrkdwn": _("Format the text (*bold*, _italic_)"),
    "unfurl_links": _("Link previews"),
    "unfurl_media": _("Previews of linked media"),
}

# The values of options whose values are words of a platform's API, by option.
VALUE_NAMES = {
    "link_card": {"auto": _("Page of the first link"), "none": _("No card")},
    "visibility": {
        "public": _("Everybody"),
        "unlisted": _("Everybody, but not in public timelines"),
        "private": _("Followers only"),
        "direct": _("Mentioned people only"),
        "PUBLIC": _("Everybody"),
        "CONNECTIONS": _("Connections only"),
    },
    "reply_settings": {
        "following": _("Accounts that you follow"),
        "mentionedUsers": _("Mentioned accounts"),
        "subscribers": _("Subscribers"),
        "verified": _("Verified accounts"),
    },
    "reply_control": {
        "everyone": _("Everybody"),
        "accounts_you_follow": _("Accounts that you follow"),
        "mentioned_only": _("Mentioned accounts"),
        "parent_post_author_only": _("The author of the first post"),
        "followers_only": _("Followers"),
    },
    "post_type": {"post": _("Post"), "reel": _("Reel"), "story": _("Story")},
    "privacy_status": {
        "public": _("Everybody"),
        "unlisted": _("Whoever has the link"),
        "private": _("Only you and people you invite"),
    },
    "license": {"youtube": _("YouTube's standard licence"), "creativeCommon": _("Creative Commons")},
    "privacy_level": {
        "PUBLIC_TO_EVERYONE": _("Everybody"),
        "MUTUAL_FOLLOW_FRIENDS": _("Friends"),
        "FOLLOWER_OF_CREATOR": _("Followers"),
        "SELF_ONLY": _("Only you"),
    },
    "kind": {"member": _("Member"), "pages": _("Pages")},
}


def option_value_display_name(option: str, value: Any) -> str:
    """Return the name that dashboard pages show for a value of a platform option, in the language of the page."""
    return str(VALUE_NAMES.get(option, {}).get(value, value))


def option_display_name(name: str) -> str:
    """Return the name that dashboard pages show for a platform option or credential field, in the page's language."""
    return str(OPTION_NAMES.get(name) or name.replace("_", " ").capitalize())
