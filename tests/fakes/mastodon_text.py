"""How a Mastodon server counts a status and renders it as HTML.

Source: docs.joinmastodon.org, user/posting (what counts how much) and spec/activitypub (the HTML); the classes of links,
mentions and hashtags are those of its web client.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping

import regex

URL_LENGTH = 23
SHOWN_OF_A_URL = 30

_URL = r"https?://[^\s<>\"]*[^\s<>\".,;:!?()]"
_MENTION = r"(?<![\w/])@(?P<name>\w+)(?:@(?P<host>\w+(?:[.-]\w+)*))?"
_HASHTAG = r"(?<![\w/&])#(?P<tag>\w*[^\W\d]\w*)"
_LINKED = re.compile(rf"(?P<url>{_URL})|{_MENTION}|{_HASHTAG}")
_CLUSTER = regex.compile(r"\X")


def length(spoiler_text: str, text: str) -> int:
    """The length of a text for Mastodon in visible characters: a link counts 23, a mention without its host."""
    text = re.sub(_MENTION, r"@\g<name>", re.sub(_URL, "x" * URL_LENGTH, text))
    return len(_CLUSTER.findall(spoiler_text + text))


def rendered(text: str, people: Mapping[str, str], origin: str) -> str:
    """The HTML of a Mastodon status. `people` are profile URLs by `name` or `name@host`; only these become links."""
    paragraphs = re.split(r"\n\n+", "".join(_with_links(text, people, origin)))
    return "".join("<p>" + paragraph.replace("\n", "<br />") + "</p>" for paragraph in paragraphs) if text else ""


def _with_links(text: str, people: Mapping[str, str], origin: str) -> Iterator[str]:
    position = 0
    for found in _LINKED.finditer(text):
        yield html.escape(text[position : found.start()])
        position = found.end()
        profile = people.get(found[0][1:].lower())
        if found["url"]:
            yield _link(found["url"])
        elif found["tag"]:
            tag = html.escape(found["tag"])
            yield f'<a href="{origin}/tags/{tag.lower()}" class="mention hashtag" rel="tag">#<span>{tag}</span></a>'
        elif profile:
            name = f"@<span>{html.escape(found['name'])}</span>"
            yield f'<span class="h-card" translate="no"><a href="{profile}" class="u-url mention">{name}</a></span>'
        else:
            yield html.escape(found[0])
    yield html.escape(text[position:])


def _link(url: str) -> str:
    """The HTML of a link in a Mastodon status: the middle of its URL is visible, the rest is in hidden spans."""
    prefix = re.match(r"https?://(?:www\.)?", url)
    start = prefix.end() if prefix else 0
    shown, rest = url[start : start + SHOWN_OF_A_URL], url[start + SHOWN_OF_A_URL :]
    spans = (("invisible", url[:start]), ("ellipsis" if rest else "", shown), ("invisible", rest))
    inner = "".join(f'<span class="{kind}">{html.escape(part)}</span>' for kind, part in spans)
    return f'<a href="{html.escape(url)}" target="_blank" rel="nofollow noopener" translate="no">{inner}</a>'
