"""Looking whether a status is there: among those that the account has made since the publication began.

The newest status of that time is remembered, so that no clock has a part in it: ids grow. A status with media is known
by the media's ids, which nothing else can have; one of text by the text that was given for it, or where the server does
not tell that, by its HTML; a further segment of a thread also by the status that it replies to.
Source: docs.joinmastodon.org, accounts/:id/statuses and statuses/:id/source.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from typing import Any

from accounts.platforms.chains import segments
from accounts.platforms.errors import OutcomeUnknown
from accounts.platforms.mastodon.client import MastodonError, Server, UnreadableAnswer, entity_id
from accounts.platforms.types import Content

PAGE = 40
MAX_PAGES = 3
MAX_HTML_LENGTH = 200_000

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


def find(server: Server, content: Content, state: Mapping[str, Any]) -> dict[str, Any] | None:
    """The status that an earlier try to send this segment has made; None when there is certainly none.

    Raises OutcomeUnknown when the server cannot tell, MastodonError, OutboundError.
    """
    if state["after"] is None:
        raise OutcomeUnknown(
            "The account's server does not let the service look whether the post is there.", final=True
        )
    sent, doubtful = state.get("sent", []), False
    parent, text = sent[-1] if sent else None, segments(content)[len(sent)]
    ours = content.options.get("spoiler_text", "") + text
    for status in reversed(list(_since(server, parent or state["after"]))):
        if status.get("reblog") or (status.get("in_reply_to_id") or None) != parent:
            continue
        media = _media_of(status)
        if state["media"] and sorted(media) == sorted(state["media"]):
            return status
        if _says_the_same(server, status, ours):
            if not media and not state["media"]:
                return status
            doubtful |= bool(state["media"])  # it may be ours on a server that gives media new ids, or lost one
        doubtful |= bool(status.get("edited_at"))  # nobody can tell any more what it said
    if doubtful:
        raise OutcomeUnknown("A post that may be this one stands at the account, changed.", final=True)
    return None


def _since(server: Server, after: str) -> Iterator[dict[str, Any]]:
    """The account's statuses after that one, newest first. Raises OutcomeUnknown when there are too many to read."""
    params = {"limit": str(PAGE), "exclude_reblogs": "true"} | ({"since_id": after} if after else {})
    for _ in range(MAX_PAGES):
        page = server.get(_statuses_of(server), params).many()
        # Not every server knows `since_id`, and some put pinned statuses first.
        newer = [status for status in page if _age(entity_id(status)) > _age(after)]
        yield from newer
        if not page or len(newer) < len(page):
            return
        params["max_id"] = entity_id(page[-1])
    raise OutcomeUnknown("The account has posted too much since to tell whether this post is there.", final=True)


def _age(identifier: str) -> tuple[int, str]:
    """What ids sort by: snowflakes grow longer in time; ULIDs and flakes are all of one length."""
    return len(identifier), identifier


def _statuses_of(server: Server) -> str:
    return f"/api/v1/accounts/{server.account}/statuses"


def _media_of(status: Mapping[str, Any]) -> list[str]:
    media = status.get("media_attachments")
    return [str(each.get("id")) for each in media if isinstance(each, dict)] if isinstance(media, list) else []


def _says_the_same(server: Server, status: Mapping[str, Any], ours: str) -> bool:
    """Whether the status was given this warning and text; a server may take a content warning alone for the text."""
    try:
        source = server.get(f"/api/v1/statuses/{entity_id(status)}/source").one()
    except UnreadableAnswer:
        pass
    except MastodonError as error:
        if error.status in (401, 429) or error.status >= 500:
            raise
    else:
        return _squeezed(f"{source.get('spoiler_text')}{source.get('text')}") == _squeezed(ours)
    rendered = _Rendered()
    rendered.feed(str(status.get("content"))[:MAX_HTML_LENGTH])
    rendered.close()
    warning = str(status.get("spoiler_text") or "")
    return _letters(ours) in (_letters(warning + "".join(rendered.shown)), _letters(warning + "".join(rendered.whole)))


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
