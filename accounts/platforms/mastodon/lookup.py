"""The search among a Mastodon account's newest statuses for one that an interrupted attempt may have created.

Ids grow, so the account's newest status before the publication marks its beginning without a clock. A status with media is
identified by the media's ids, which nothing else can have. A text is identified by its source, or by its HTML if the server
does not return the source; a further segment of a thread also by the status that it replies to, and a poll by its choices.

Some servers do not list an author's private or direct statuses to the author. So a status that is not listed is absent only
if the list certainly includes its visibility. All servers list public and unlisted statuses; for the others the list must
contain one. Source: docs.joinmastodon.org, accounts/:id/statuses, statuses/:id/source, entities/Account (source.privacy).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any, Literal

from django.utils.translation import gettext_noop

from accounts.platforms.errors import OutcomeUnknown
from accounts.platforms.http.responses import UnreadableAnswer, object_or_empty, objects_in
from accounts.platforms.mastodon.client import MastodonError, ServerClient, entity_id
from accounts.platforms.polls import MAX_CHOICE_TEXT, poll_choices_in_options
from accounts.platforms.thread_option import thread_texts_including_first
from accounts.platforms.types import Content, MissingFromListProof, NotPublishedProof, Progress

PAGE_SIZE = 40
MAX_PAGES = 3
MAX_HTML_LENGTH = 200_000
ALWAYS_LISTED_VISIBILITIES = frozenset({"public", "unlisted"})

Statuses = list[dict[str, Any]]

# A mention of an account at another server is displayed without the host.
_HOST_OF_MENTION = re.compile(r"(@[a-z0-9_.-]+)@[\w.-]+", re.IGNORECASE)


def fetch_newest_status_id(server: ServerClient) -> str | None:
    """Look up the id of a Mastodon account's newest status; "" if it has none, None if statuses cannot be listed.

    Raises MastodonError, OutboundError.
    """
    try:
        page = server.get_list(_statuses_path(server), {"limit": "1"})
    except MastodonError as error:
        if error.status == 404:
            return None
        raise
    return entity_id(page[0]) if page else ""


def find_possibly_created_status(
    server: ServerClient, content: Content, progress: Progress
) -> dict[str, Any] | NotPublishedProof:
    """Find the Mastodon status that an interrupted attempt may have created, among the account's newest statuses.

    Returns NotPublishedProof if there is certainly none. Raises OutcomeUnknown if that cannot be decided, MastodonError,
    OutboundError.
    """
    state, sent, uncertain = progress.state, progress.segments, False
    if state["after"] is None:
        raise OutcomeUnknown(
            gettext_noop("The account's server does not let the service list the account's posts."), final=True
        )
    parent, text = sent[-1] if sent else None, thread_texts_including_first(content)[len(sent)]
    choices = [] if sent else [_letters(choice) for choice in poll_choices_in_options(content.options)]
    ours = content.options.get("spoiler_text", "") + text
    newer, older = _statuses(server, parent or state["after"])
    for status in reversed(newer):
        replies_to, media, poll = status.get("in_reply_to_id") or None, _media_of(status), _choices_of(status)
        if status.get("reblog") or replies_to not in (parent, None):  # some servers do not say what it replies to
            continue
        if state["media"] and sorted(media) == sorted(state["media"]):
            return status
        match = _text_match(server, status, ours)
        if match == "same" and replies_to == parent and not media and not state["media"] and poll == choices:
            return status
        # Some servers give media new ids, or remove media and polls that they do not support.
        may_be_ours = (bool(state["media"]) or not media) and (bool(choices) or not poll)
        uncertain |= match != "different" and may_be_ours
        uncertain |= bool(status.get("edited_at"))  # the original text of an edited status is lost
    if uncertain:
        raise OutcomeUnknown(gettext_noop("The account has a post that may be this one, but differs from it."), final=True)
    reaches_back = parent in map(entity_id, older) if parent else older or not state["after"]
    if not reaches_back:
        raise OutcomeUnknown(gettext_noop("The account's server does not list what was posted before this post."), final=True)
    back_to = parent or state["after"] or "the account's first status"
    return NotPublishedProof(MissingFromListProof(back_to, kind_evidence=_proof_of_kind(server, content, [*older, *newer])))


def _statuses(server: ServerClient, after: str) -> tuple[Statuses, Statuses]:
    """List the Mastodon account's statuses, newest first, back to the status with the id `after`.

    Returns the statuses after that one, and the others. Raises OutcomeUnknown if there are too many to read.
    """
    newer: Statuses = []
    older: Statuses = []
    params = {"limit": str(PAGE_SIZE), "exclude_reblogs": "true", "exclude_replies": "false"}
    for _ in range(MAX_PAGES):
        page = server.get_list(_statuses_path(server), params)
        for status in page:
            (newer if _age(entity_id(status)) > _age(after) else older).append(status)
        # The last one counts, since some servers put pinned statuses first.
        if not page or _age(entity_id(page[-1])) <= _age(after):
            return newer, older
        params["max_id"] = entity_id(page[-1])
    raise OutcomeUnknown(
        gettext_noop("The account has too many newer posts to find out whether this one is among them."), final=True
    )


def _proof_of_kind(server: ServerClient, content: Content, statuses: Statuses) -> str:
    """Return evidence that a Mastodon server's list of statuses includes those of a certain visibility, such as private.

    Raises OutcomeUnknown if there is no evidence.
    """
    visibility = content.options.get("visibility") or _default_visibility(server)
    if visibility in ALWAYS_LISTED_VISIBILITIES:
        return f"{visibility} statuses are listed by all servers"
    for status in statuses:
        if visibility and status.get("visibility") == visibility:
            return f"{visibility} status {entity_id(status)}"
    raise OutcomeUnknown(
        "The account's server does not list this post, but it may not list any "
        f"{visibility or 'of its visibility'} posts at all.",
        final=True,
    )


def _default_visibility(server: ServerClient) -> str | None:
    """Return the default visibility of the searched account's Mastodon statuses; None if the server does not say."""
    visibility = object_or_empty(server.get("/api/v1/accounts/verify_credentials").get("source")).get("privacy")
    return visibility if isinstance(visibility, str) else None


def _age(identifier: str) -> tuple[int, str]:
    """Return a sort key for the id of a Mastodon status: newer statuses have higher keys."""
    return len(identifier), identifier


def _statuses_path(server: ServerClient) -> str:
    return f"/api/v1/accounts/{server.account}/statuses"


def _media_of(status: Mapping[str, Any]) -> list[str]:
    return [str(each.get("id")) for each in objects_in(status.get("media_attachments"))]


def _choices_of(status: Mapping[str, Any]) -> list[str]:
    """Return the choices of a Mastodon poll, reduced to letters and digits for comparison; empty without a poll."""
    choices = objects_in(object_or_empty(status.get("poll")).get("options"))
    return [_letters(str(choice.get("title"))[:MAX_CHOICE_TEXT]) for choice in choices]


def _text_match(server: ServerClient, status: Mapping[str, Any], ours: str) -> Literal["same", "similar", "different"]:
    """Compare the text of a Mastodon status with the text of the post that an interrupted attempt may have created.

    Both texts begin with the content warning, if there is one. `similar` means that the letters of the source or of the HTML
    are the same. Some servers remove tags from a text, and some derive the source from the HTML, in which links are
    shortened. Some store a content warning without a text as the text.
    """
    source = _source(server, status)
    if source is not None and _squeezed(source) == _squeezed(ours):
        return "same"
    warning, html = str(status.get("spoiler_text") or ""), str(status.get("content"))[:MAX_HTML_LENGTH]
    theirs = {_letters(warning + text) for text in _texts_of(html)}
    if source is not None:
        theirs.add(_letters(source))
    elif _letters(ours) in theirs:
        return "same"
    wanted = {_letters(ours), *(_letters(text) for text in _texts_of(ours))}
    return "similar" if wanted & theirs else "different"


def _source(server: ServerClient, status: Mapping[str, Any]) -> str | None:
    """Return the content warning and text of a Mastodon status as they were posted, not as HTML; None if unreadable."""
    try:
        source = server.get(f"/api/v1/statuses/{entity_id(status)}/source")
    except UnreadableAnswer:
        return None
    except MastodonError as error:
        if error.status in (401, 429) or error.status >= 500:
            raise
        return None
    return f"{source.get('spoiler_text') or ''}{source.get('text') or ''}"


def _texts_of(html: str) -> tuple[str, str]:
    """Return the text of a Mastodon status's HTML twice: as displayed, and with each link's words replaced by its URL."""
    rendered = _Rendered()
    rendered.feed(html)
    rendered.close()
    return "".join(rendered.shown), "".join(rendered.with_links)


def _squeezed(text: str) -> str:
    """Return the text of a Mastodon status without white space, for comparisons, because servers trim white space."""
    return "".join(unicodedata.normalize("NFC", text).split())


def _letters(text: str) -> str:
    """Return the letters and digits of a Mastodon status's text, for comparisons; servers do not change them."""
    text = unicodedata.normalize("NFKC", _HOST_OF_MENTION.sub(r"\1", text)).casefold()
    return "".join(char for char in text if char.isalnum()) or _squeezed(text)


class _Rendered(HTMLParser):
    """A parser of a Mastodon status's HTML: `shown` is the displayed text, `with_links` contains the URLs of links."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.shown: list[str] = []
        self.with_links: list[str] = []
        self._in_link = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "a" and not {"mention", "hashtag"} & set((attributes.get("class") or "").split()):
            self.with_links.append(attributes.get("href") or "")
            self._in_link = True

    def handle_endtag(self, tag: str) -> None:
        self._in_link = self._in_link and tag != "a"

    def handle_data(self, data: str) -> None:
        self.shown.append(data)
        if not self._in_link:
            self.with_links.append(data)
