"""Looking whether a status is there: among those that the account has made since the publication began.

The newest status of that time is remembered, so that no clock has a part in it: ids grow. A status with media is known
by the media's ids, which nothing else can have; one of text by the text that was given for it, or where the server does
not tell that, by its HTML; a further segment of a thread also by the status that it replies to, and a status with a poll
also by the choices.

Servers with this API differ in what they list to the author: some leave out statuses that are private or direct. So a
status that is not listed is absent only if the list is known to hold statuses of its visibility. All servers list what is
public or unlisted; of the others one has to be seen in the list.
Source: docs.joinmastodon.org, accounts/:id/statuses, statuses/:id/source, entities/Account (source.privacy).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any, Literal

from accounts.platforms.chains import segments
from accounts.platforms.errors import OutcomeUnknown
from accounts.platforms.mastodon.client import MastodonError, Server, UnreadableAnswer, entity_id
from accounts.platforms.polls import MAX_CHOICE_TEXT, choices_of
from accounts.platforms.types import Absent, CompleteList, Content

PAGE = 40
MAX_PAGES = 3
MAX_HTML_LENGTH = 200_000
LISTED_BY_ALL = frozenset({"public", "unlisted"})

# A mention of somebody elsewhere is shown without the host.
_HOST_OF_MENTION = re.compile(r"(@[a-z0-9_.-]+)@[\w.-]+", re.IGNORECASE)


def newest_status(server: Server) -> str | None:
    """The id of the account's newest status: empty when it has none, None on a server that lists none.

    Raises MastodonError, OutboundError.
    """
    try:
        page = server.get(_statuses_of(server), {"limit": "1"}).many()
    except MastodonError as error:
        if error.status == 404:
            return None
        raise
    return entity_id(page[0]) if page else ""


@dataclass(frozen=True)
class _Listed:
    """What the server lists, newest first: the statuses after one of them, and those of the same pages that are not."""

    newer: list[dict[str, Any]]
    older: list[dict[str, Any]]


def find(server: Server, content: Content, state: Mapping[str, Any]) -> dict[str, Any] | Absent:
    """The status that an earlier try to send this segment has made; Absent when there is certainly none.

    Raises OutcomeUnknown when the server cannot tell, MastodonError, OutboundError.
    """
    if state["after"] is None:
        raise OutcomeUnknown(
            "The account's server does not let the service look whether the post is there.", final=True
        )
    sent, doubtful = state.get("sent", []), False
    parent, text = sent[-1] if sent else None, segments(content)[len(sent)]
    choices = [] if sent else [_letters(choice) for choice in choices_of(content.options)]
    ours = content.options.get("spoiler_text", "") + text
    listed = _statuses(server, parent or state["after"])
    for status in reversed(listed.newer):
        replies_to, media, poll = status.get("in_reply_to_id") or None, _media_of(status), _choices_of(status)
        if status.get("reblog") or replies_to not in (parent, None):  # some servers do not tell what it replies to
            continue
        if state["media"] and sorted(media) == sorted(state["media"]):
            return status
        likeness = _likeness(server, status, ours)
        if likeness == "same" and replies_to == parent and not media and not state["media"] and poll == choices:
            return status
        # With media or a poll, it may be ours on a server that gives media new ids, or lost what it does not know.
        may_be_ours = (bool(state["media"]) or not media) and (bool(choices) or not poll)
        doubtful |= likeness != "other" and may_be_ours
        doubtful |= bool(status.get("edited_at"))  # nobody can tell any more what it said
    if doubtful:
        raise OutcomeUnknown("A post that may be this one stands at the account, changed.", final=True)
    return Absent(_proof(server, content, state["after"], parent, listed))


def _statuses(server: Server, after: str) -> _Listed:
    """The account's statuses, read back to that one. Raises OutcomeUnknown when there are too many to read."""
    listed = _Listed([], [])
    params = {"limit": str(PAGE), "exclude_reblogs": "true", "exclude_replies": "false"}
    for _ in range(MAX_PAGES):
        page = server.get(_statuses_of(server), params).many()
        for status in page:
            (listed.newer if _age(entity_id(status)) > _age(after) else listed.older).append(status)
        # The last one counts, since some servers put pinned statuses first.
        if not page or _age(entity_id(page[-1])) <= _age(after):
            return listed
        params["max_id"] = entity_id(page[-1])
    raise OutcomeUnknown("The account has posted too much since to tell whether this post is there.", final=True)


def _proof(server: Server, content: Content, after: str, parent: str | None, listed: _Listed) -> CompleteList:
    """Why the list would hold the status. Raises OutcomeUnknown when it might not."""
    before = [entity_id(status) for status in listed.older]
    reaches_back = parent in before if parent else before or not after
    if not reaches_back:
        raise OutcomeUnknown("The account's server does not list what was posted before this post.", final=True)
    back_to = parent or after or "the account's first status"
    visibility = content.options.get("visibility") or _default_visibility(server)
    if visibility in LISTED_BY_ALL:
        return CompleteList(back_to, kind_listed=f"{visibility} statuses are listed by all servers")
    for status in (*listed.older, *listed.newer):
        if visibility and status.get("visibility") == visibility:
            return CompleteList(back_to, kind_listed=f"{visibility} status {entity_id(status)}")
    raise OutcomeUnknown(
        "The account's server does not list this post, but it was not seen to list any other "
        f"{visibility or 'of its visibility'} one either.",
        final=True,
    )


def _default_visibility(server: Server) -> str | None:
    """The visibility that the account gives to posts that name none, where the server tells it."""
    source = server.get("/api/v1/accounts/verify_credentials").one().get("source")
    told = source.get("privacy") if isinstance(source, dict) else None
    return told if isinstance(told, str) else None


def _age(identifier: str) -> tuple[int, str]:
    """What ids sort by: snowflakes grow longer in time; ULIDs and flakes are all of one length."""
    return len(identifier), identifier


def _statuses_of(server: Server) -> str:
    return f"/api/v1/accounts/{server.account}/statuses"


def _media_of(status: Mapping[str, Any]) -> list[str]:
    media = status.get("media_attachments")
    return [str(each.get("id")) for each in media if isinstance(each, dict)] if isinstance(media, list) else []


def _choices_of(status: Mapping[str, Any]) -> list[str]:
    """The letters of the choices of its poll; none where it has no poll."""
    poll = status.get("poll")
    options = poll.get("options") if isinstance(poll, dict) else None
    titles = [each.get("title") for each in options if isinstance(each, dict)] if isinstance(options, list) else []
    return [_letters(str(title)[:MAX_CHOICE_TEXT]) for title in titles]


def _likeness(server: Server, status: Mapping[str, Any], ours: str) -> Literal["same", "alike", "other"]:
    """Whether the status was given this warning and text; a server may take a content warning alone for the text.

    `alike`: the source differs, but not in its letters, or the HTML does not. Some servers take tags out of a text, and
    some make the source out of the HTML, where links are cut short.
    """
    source = _source(server, status)
    if source is not None and _squeezed(source) == _squeezed(ours):
        return "same"
    warning, html = str(status.get("spoiler_text") or ""), str(status.get("content"))[:MAX_HTML_LENGTH]
    told = {_letters(warning + text) for text in _readings(html)}
    if source is not None:
        told.add(_letters(source))
    elif _letters(ours) in told:
        return "same"
    wanted = {_letters(ours), *(_letters(text) for text in _readings(ours))}
    return "alike" if wanted & told else "other"


def _source(server: Server, status: Mapping[str, Any]) -> str | None:
    """The warning and the text that the status was given; None where the server does not tell."""
    try:
        source = server.get(f"/api/v1/statuses/{entity_id(status)}/source").one()
    except UnreadableAnswer:
        return None
    except MastodonError as error:
        if error.status in (401, 429) or error.status >= 500:
            raise
        return None
    return f"{source.get('spoiler_text') or ''}{source.get('text') or ''}"


def _readings(html: str) -> tuple[str, str]:
    """The HTML as it is displayed, and with the links' addresses in place of their words."""
    rendered = _Rendered()
    rendered.feed(html)
    rendered.close()
    return "".join(rendered.shown), "".join(rendered.whole)


def _squeezed(text: str) -> str:
    """The text without white space, which servers trim."""
    return "".join(unicodedata.normalize("NFC", text).split())


def _letters(text: str) -> str:
    """The letters and digits of a text, which no rendering loses; all of it but white space where it has none."""
    text = unicodedata.normalize("NFKC", _HOST_OF_MENTION.sub(r"\1", text)).casefold()
    return "".join(char for char in text if char.isalnum()) or _squeezed(text)


class _Rendered(HTMLParser):
    """Two readings of a status's HTML: `shown` as it is displayed, `whole` with a link's address in place of its words."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.shown: list[str] = []
        self.whole: list[str] = []
        self._in_link = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "a" and not {"mention", "hashtag"} & set((given.get("class") or "").split()):
            self.whole.append(given.get("href") or "")
            self._in_link = True

    def handle_endtag(self, tag: str) -> None:
        self._in_link = self._in_link and tag != "a"

    def handle_data(self, data: str) -> None:
        self.shown.append(data)
        if not self._in_link:
            self.whole.append(data)
