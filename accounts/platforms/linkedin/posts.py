"""The steps that create a LinkedIn post and its first comment.

LinkedIn has no idempotency key. It refuses a text that the account has posted shortly before and names a post with this text;
that is no proof that the post exists, because LinkedIn names a new one after the post was deleted.
Source: learn.microsoft.com/linkedin, Posts API, Comments API and little text format; the wording of refusals is what clients
report.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.errors import ContentRejected, OutcomeUnknown, Transient
from accounts.platforms.linkedin import media
from accounts.platforms.linkedin.accounts import SITE, is_page_urn
from accounts.platforms.linkedin.capabilities import CAPABILITIES
from accounts.platforms.linkedin.client import ERRORS, Api, LinkedInError, quoted_urn
from accounts.platforms.option_media import raise_if_options_do_not_fit_media
from accounts.platforms.types import Content, MediaFile, Progress, Published

_POST = re.compile(r"urn:li:(?:share|ugcPost):[0-9]{1,25}")
_RESERVED = re.compile(r"[\\|{}@\[\]()<>#*_~]")
_ELEMENT = re.compile(
    r"@\[(?P<name>[^\[\]\n]{1,200})\]\((?P<urn>urn:li:(?:person|organization):[A-Za-z0-9_-]{1,100})\)"
    r"|(?:(?<!\S)|(?<=[(\[{\"'“‘«¿¡]))(?P<sign>[#\uFF03])(?P<tag>\w*[^\W\d_]\w*)"
)


def check_content_and_return_first_step(author: str, content: Content, progress: Progress) -> Progress:
    """Check the options of a LinkedIn post, and return the first step that creates it. Raises ContentRejected."""
    if content.options.get("visibility") == "CONNECTIONS" and is_page_urn(author):
        raise ContentRejected(gettext_noop("A page has no connections; its posts are for everybody (visibility PUBLIC)."))
    raise_if_options_do_not_fit_media(content, CAPABILITIES.option_media)
    return media.next_upload_or_create_step(content.media, progress, {"media": []})


def create_post(api: Api, author: str, content: Content, progress: Progress) -> Progress | Published:
    """Create the LinkedIn post from its text and the uploaded media. Raises PlatformError."""
    with ERRORS.translating_publish_errors(gettext_noop("the post")):
        try:
            response = api.post_json("/rest/posts", _body(author, content, progress.state))
        except LinkedInError as error:
            is_media_lost = any(urn in error.reason for urn in progress.state["media"])
            again = (
                media.restart_uploads_step_at_most_once(content.media, progress)
                if is_media_lost and error.status < 500
                else None
            )
            if again is None:
                raise
            return again
        urn = response.headers.get("x-restli-id", "")  # the body is empty
        if not _POST.fullmatch(urn):
            raise OutcomeUnknown(gettext_noop("LinkedIn answered success without naming the post."))
    post = Published(urn, f"{SITE}/feed/update/{urn}/")
    with_comment = "first_comment" in content.options
    return replace(progress, published=post).with_next_step("comment", {}) if with_comment else post


def add_first_comment(api: Api, author: str, content: Content, progress: Progress) -> Published:
    """Add the first comment to a LinkedIn post. Raises PlatformError if that fails; the post itself stays published."""
    post = progress.published
    assert post  # noqa: S101 - the step before has published the post
    urn = post.external_id
    comment_body = {"actor": author, "object": urn, "message": {"text": content.options["first_comment"]}}
    with ERRORS.translating_publish_errors(gettext_noop("the first comment")):
        try:
            api.post_json(f"/rest/socialActions/{quoted_urn(urn)}/comments", comment_body)
        except LinkedInError as error:
            if error.status == 404:
                raise Transient(gettext_noop("LinkedIn does not find the post yet that is to be commented on.")) from error
            if error.status == 403:  # the error is about comments only, because the account has just published a post
                raise ContentRejected(f"LinkedIn does not let this login comment: {error.reason}") from error
            raise
    return post


def _body(author: str, content: Content, state: Mapping[str, Any]) -> dict[str, Any]:
    body = {
        "author": author,
        "commentary": escape_reserved_characters(content.text),
        "visibility": content.options.get("visibility", "PUBLIC"),
        "distribution": {"feedDistribution": "MAIN_FEED", "targetEntities": [], "thirdPartyDistributionChannels": []},
        "lifecycleState": "PUBLISHED",
        "isReshareDisabledByAuthor": False,
    }
    shown = _content(content, state["media"])
    return {**body, "content": shown} if shown else body


def _content(content: Content, urns: list[str]) -> dict[str, Any]:
    """Return the JSON of what a LinkedIn post shows below its text: a link card, a file or several images."""
    if "article" in content.options:
        article = content.options["article"]
        card = {"source": article["url"], "title": article["title"], "description": article.get("description")}
        return {"article": {name: value for name, value in card.items() if value}}
    if len(urns) > 1:
        pairs = zip(content.media, urns, strict=True)
        return {"multiImage": {"images": [{"id": urn, **_alt_text(file)} for file, urn in pairs]}}
    if urns:
        [file], [urn] = content.media, urns
        return {"media": {"id": urn, **_alt_text(file), **_title(file, content.options.get("title", ""))}}
    return {}


def _alt_text(file: MediaFile) -> dict[str, str]:
    return {"altText": file.alt_text} if file.alt_text and file.kind in ("image", "gif") else {}


def _title(file: MediaFile, title: str) -> dict[str, str]:
    if file.kind == "document":
        return {"title": title or file.filename or "Document"}
    return {"title": title} if title and file.kind == "video" else {}


def escape_reserved_characters(text: str) -> str:
    """Escape characters like `*` and `@` in a LinkedIn post's text, so that LinkedIn shows them unchanged.

    LinkedIn cuts a post at such a character if it is not escaped, without an error. Mentions in the text,
    `@[Name](urn:li:organization:1)`, stay mentions, and hashtags are written as templates.
    """
    pieces, position = [], 0
    for found in _ELEMENT.finditer(text):
        pieces += [_escaped(text[position : found.start()]), _element(found)]
        position = found.end()
    return "".join([*pieces, _escaped(text[position:])])


def _element(found: re.Match[str]) -> str:
    if found["urn"]:
        return f"@[{_escaped(found['name'])}]({found['urn']})"
    return f"{{hashtag|\\{found['sign']}|{_escaped(found['tag'])}}}"


def _escaped(text: str) -> str:
    return _RESERVED.sub(r"\\\g<0>", text)
