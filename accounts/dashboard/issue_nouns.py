"""Nouns for sentences about validation issues, such as hashtags, images or bytes, in the language of the page."""

from __future__ import annotations

from django.utils.translation import gettext_lazy, gettext_noop, ngettext_lazy

# `count` decides between singular and plural.
COUNTED_THINGS = {
    "hashtags": ngettext_lazy("%(number)s hashtag", "%(number)s hashtags", "count"),
    "mentions": ngettext_lazy("%(number)s mention", "%(number)s mentions", "count"),
    "links": ngettext_lazy("%(number)s link", "%(number)s links", "count"),
    "cashtags": ngettext_lazy("%(number)s cashtag", "%(number)s cashtags", "count"),
}
COUNTED_KINDS = {
    "image": ngettext_lazy("%(count)d image", "%(count)d images", "count"),
    "gif": ngettext_lazy("%(count)d GIF", "%(count)d GIFs", "count"),
    "video": ngettext_lazy("%(count)d video", "%(count)d videos", "count"),
    "document": ngettext_lazy("%(count)d document", "%(count)d documents", "count"),
    "file": ngettext_lazy("%(count)d file", "%(count)d files", "count"),
}
KIND_WITH_ARTICLE = {
    "image": gettext_lazy("an image"),
    "gif": gettext_lazy("a GIF"),
    "video": gettext_lazy("a video"),
    "document": gettext_lazy("a document"),
}
KIND_PLURALS = {
    "image": gettext_lazy("images"),
    "gif": gettext_lazy("GIFs"),
    "video": gettext_lazy("videos"),
    "document": gettext_lazy("documents"),
}
KIND_NOT_ACCEPTED_SENTENCES = {
    "image": gettext_lazy("%(platform)s does not accept images."),
    "gif": gettext_lazy("%(platform)s does not accept GIFs."),
    "video": gettext_lazy("%(platform)s does not accept videos."),
    "document": gettext_lazy("%(platform)s does not accept documents."),
}
UNIT_NAMES = {"bytes": gettext_lazy("bytes"), "angle brackets": gettext_lazy("angle brackets")}
# Subjects, messages and advice that are shown as the check has them.
TEXTS_SHOWN_UNCHANGED = (
    gettext_noop("The text"),
    gettext_noop("The alt text"),
    gettext_noop("People who cannot see it are told nothing: there is no alt text."),
    gettext_noop("Say in a sentence what the image shows."),
    gettext_noop("Say in a sentence what the GIF shows."),
    gettext_noop("Leave out the media or the poll."),
    gettext_noop("Leave the image out."),
    gettext_noop("Leave the GIF out."),
    gettext_noop("Leave the video out."),
    gettext_noop("Leave the document out."),
    gettext_noop("Write a text, or leave the choice out."),
    gettext_noop("Write another text, or leave the choice out."),
    gettext_noop("Write a text, or leave the segment out."),
    gettext_noop("Write another text, or leave the segment out."),
    gettext_noop("Leave the first comment out."),
    gettext_noop("Convert it to MP4, so that it keeps moving."),
    gettext_noop("Convert it to JPEG."),
    gettext_noop("Convert it to MP4."),
    gettext_noop("Convert it to PDF."),
    gettext_noop("Leave the link card out."),
    gettext_noop("The post has neither text nor media."),
    gettext_noop("Write a text, or attach media."),
    gettext_noop("The poll has no question."),
    gettext_noop("Write the question as the text."),
)


def count_of_kind_in_words(kind: str, count: int) -> str:
    """Return a number with the noun for a kind of file, such as 2 images, for a sentence about a validation issue."""
    return str(COUNTED_KINDS[kind] % {"count": count})


def text_unit_name(unit: str) -> str:
    """Return the noun for a unit of text, such as bytes, for a sentence about a validation issue."""
    return str(UNIT_NAMES.get(unit, unit))
