"""Templates of the API's messages that contain values, by which pages in other languages recognize and translate them.

A service writes these messages in English, with the values in them. Here is each message with names in place of its values,
as the catalogues have it. A new message needs a template here, which tests/architecture/test_error_translations.py checks.
"""

from __future__ import annotations

import re
from functools import cache

from django.utils.text import get_text_list
from django.utils.translation import gettext, gettext_noop

from config.pages.platform_message_templates import NO_REASON, OWN_WORDS, PLATFORM_TEMPLATES, TEMPLATES_AROUND_MESSAGES

TEMPLATES = (
    *TEMPLATES_AROUND_MESSAGES,
    gettext_noop("A file of this kind may have %(size)s bytes."),
    gettext_noop("At most %(most)s cents of free credit a month."),
    gettext_noop("At most %(most)s requests a minute."),
    gettext_noop("Enter 1 to %(most)s characters of a name or handle."),
    gettext_noop("Events cannot be sent to this address: %(reason)s"),
    gettext_noop("Files cannot be fetched from this URL: %(reason)s"),
    gettext_noop("More than %(most)s posts are scheduled to the account. Name some of them, or a time before."),
    gettext_noop("Must not be more than %(years)s years in the past."),
    gettext_noop("No complete answer within %(seconds)s s."),
    gettext_noop("The URL is longer than %(most)s characters."),
    gettext_noop("The URL redirects more than %(most)s times."),
    gettext_noop("The URL returned status %(status)s, not 200."),
    gettext_noop("The address does not accept a sign-in: %(answer)s"),
    gettext_noop("The animation has %(megapixels)s megapixels over all its frames; %(most)s are taken."),
    gettext_noop("The animation has more than %(most)s frames."),
    gettext_noop("The file is %(type)s; that type is not taken."),
    gettext_noop("The file is not of a supported media type; it looks like “%(type)s”."),
    gettext_noop("The grant lacks what the service needs at %(platform)s: %(permissions)s."),
    gettext_noop("The image has %(megapixels)s megapixels; %(most)s are taken."),
    gettext_noop("The image has a side of %(pixels)s pixels; %(most)s are taken."),
    gettext_noop("The image has more than %(most)s blocks."),
    gettext_noop("The image has more than %(most)s chunks."),
    gettext_noop("The image has more than %(most)s scans."),
    gettext_noop("The image has more than %(most)s segments."),
    gettext_noop("The image is a JPEG of %(bits)s bits, which browsers do not show."),
    gettext_noop("The instance does not let this service register as an application: %(answer)s"),
    gettext_noop("The instance refuses the access token: %(answer)s"),
    gettext_noop("The receiver answered %(status)s."),
    gettext_noop("The response was not complete within %(seconds)s seconds."),
    gettext_noop("The rule has no occurrence within the next %(years)s years."),
    gettext_noop("The scanner flagged this file as malicious (%(malware)s); it was not stored."),
    gettext_noop("The service does not connect to the account's server: %(reason)s"),
    gettext_noop("The service does not connect to this instance: %(reason)s"),
    gettext_noop("The video has more than %(most)s boxes."),
    gettext_noop("The video has more than %(most)s parts."),
    gettext_noop("The video has more than %(most)s tracks."),
    gettext_noop("The video says that it is %(width)s × %(height)s pixels large."),
    gettext_noop("The workspace already has %(most)s agents."),
    gettext_noop("The workspace already has %(most)s calendar feeds."),
    gettext_noop("The workspace already has %(most)s channels."),
    gettext_noop("The workspace already has %(most)s keys."),
    gettext_noop("The workspace already has %(most)s live series."),
    gettext_noop("The workspace already has %(most)s open invitations."),
    gettext_noop("The workspace already has %(most)s snippets."),
    gettext_noop("The workspace has %(most)s open plans."),
    gettext_noop("This invitation is for another e-mail address than yours, %(email)s."),
    gettext_noop("This owner has reached the limit of %(most)s workspaces; those deleted this month count."),
    gettext_noop("You already have %(most)s saved filters."),
    gettext_noop("%(host)s does not resolve in time."),
    gettext_noop("%(person)s may not post for any LinkedIn page."),
    gettext_noop("%(platform)s does not accept this code: it is used, expired or was issued to another service."),
    gettext_noop("%(platform)s's rate limit is reached."),
    gettext_noop("Start the connection again and grant everything that %(platform)s asks for."),
    gettext_noop("Connect with an account's token that has %(scopes)s."),
    *PLATFORM_TEMPLATES,
    # Rules of series.
    gettext_noop("A month has at most %(most)s of a weekday."),
    gettext_noop("A rule has at most %(most)s characters."),
    gettext_noop("BYHOUR and BYMINUTE make more than %(most)s occurrences a day."),
    gettext_noop("BYSETPOS counts beyond the occurrences of FREQ=%(frequency)s."),
    gettext_noop("BYSETPOS has at most %(most)s numbers."),
    gettext_noop("%(part)s does not go with FREQ=%(frequency)s."),
    gettext_noop("%(part)s is given more than once."),
    gettext_noop("%(part)s is not supported."),
    gettext_noop("%(part)s must be a number from %(least)s to %(most)s."),
    gettext_noop("%(part)s must be one of %(words)s."),
    gettext_noop("%(part)s must have numbers from %(least)s to %(most)s, without 0."),
    gettext_noop("%(part)s must have numbers from %(least)s to %(most)s."),
)
# Marked here: what has few values, each of which makes another sentence in other languages; values that are words; and
# messages of modules where there is no room to mark them.
WITHOUT_VALUES = (
    gettext_noop("An editor may pause, skip or end the series of others, but not change them."),
    gettext_noop("Create a new series."),
    gettext_noop("End unused series first."),
    gettext_noop("Only the workspace's owner or a workspace key may do this."),
    gettext_noop("Only the workspace's owner or admin or a workspace key may do this."),
    gettext_noop("The PDF is broken."),
    gettext_noop("The PDF is cut off."),
    gettext_noop("The PDF is followed by a file of another type."),
    gettext_noop("The image is broken."),
    gettext_noop("The image is cut off."),
    gettext_noop("The image is followed by a file of another type."),
    gettext_noop("The video is broken."),
    gettext_noop("The video is cut off."),
    gettext_noop("The video is followed by a file of another type."),
    gettext_noop("The series has ended."),
    gettext_noop("Use an existing workspace; a deleted one stops counting when the next month (UTC) begins."),
    gettext_noop("This needs the role owner in the workspace."),
    gettext_noop("This needs the role owner or admin in the workspace."),
    gettext_noop("This needs the role owner or admin or editor in the workspace."),
    gettext_noop("Your role in this workspace does not allow this; it needs an owner or admin."),
    gettext_noop("Your role in this workspace does not allow this; it needs an owner, admin or editor."),
    gettext_noop("a 3GPP video"),
    gettext_noop("a HEIC image"),
    gettext_noop("a HEIF image"),
    gettext_noop("a JPEG 2000 image"),
    gettext_noop("a JPEG XL image"),
    gettext_noop("a Matroska video (MKV)"),
    gettext_noop("a TIFF or raw image"),
    gettext_noop("a Windows program"),
    gettext_noop("a ZIP archive (or an Office document or app, which is one)"),
    gettext_noop("a compressed SVG image"),
    gettext_noop("a gzip archive"),
    gettext_noop("a script"),
    gettext_noop("a text"),
    gettext_noop("an AVIF image"),
    gettext_noop("an HTML page"),
    gettext_noop("an MPEG-4 audio file"),
    gettext_noop("an SVG image, which can carry scripts"),
    gettext_noop("an XML document or other markup"),
    gettext_noop("an empty ZIP archive"),
)
# Values that are what a platform or a person has written.
_WRITTEN_BY_OTHERS = {"answer", "boards", "email", "file", "host", "person", "platform"}
# Values that join names of settings or scopes by "and".
_JOINED_NAMES = {"settings", "page_settings", "wide_scopes"}
_VALUE = re.compile(r"%\((\w+)\)s")


def translated_message(message: str) -> str:
    """Return an API error's English message as a sentence in the language of the page, if it is translated."""
    translated = gettext(message) if message else ""
    return _with_translated_values(message) if translated == message else translated


def _with_translated_values(message: str) -> str:
    """Return an API message in the language of the page, with its values, if it fits a template; otherwise unchanged.

    A value that is a message or in the catalogues itself, such as the reason why an address is refused, is translated too.
    """
    for pattern, template in _patterns():
        if found := pattern.fullmatch(message):
            return gettext(template) % {name: _translated_value(name, value) for name, value in found.groupdict().items()}
    return message


def _translated_value(name: str, value: str) -> str:
    if name in _JOINED_NAMES:
        return get_text_list(value.split(" and "), gettext("and"))
    if name not in _WRITTEN_BY_OTHERS or value in OWN_WORDS:
        return translated_message(value)
    return value.replace(NO_REASON, gettext(NO_REASON))  # such as "400 no reason given"


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    return [(pattern_of_template(template), template) for template in TEMPLATES]


def pattern_of_template(template: str) -> re.Pattern[str]:
    """Return the regular expression for the API messages that a template makes, with a named group for each value."""
    parts = _VALUE.split(template)  # alternately text and name
    return re.compile("".join(f"(?P<{part}>.+?)" if index % 2 else re.escape(part) for index, part in enumerate(parts)))
