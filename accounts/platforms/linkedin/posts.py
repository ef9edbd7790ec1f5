"""Making a post and its first comment, and what every answer to that means.

LinkedIn knows no idempotency key. It refuses words that the account has posted shortly before, and names a post that it
takes them from; that name is no proof of a post, since it is made up anew when the post was deleted.
Source: learn.microsoft.com/linkedin, Posts API and Comments API; the words of refusals are those that clients report.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from accounts.platforms.errors import ContentRejected, OutcomeUnknown, Transient
from accounts.platforms.linkedin import media
from accounts.platforms.linkedin.accounts import SITE, is_page
from accounts.platforms.linkedin.client import Api, LinkedInError, platform_error, quoted, refusal
from accounts.platforms.linkedin.little_text import little_text
from accounts.platforms.types import OUT, Content, MediaFile, Progress, Published
from config.outbound import NoAnswer, NotSent, Response

_POST = re.compile(r"urn:li:(?:share|ugcPost):[0-9]{1,25}")


def begin(author: str, content: Content) -> Progress:
    """The first step's end. Raises ContentRejected for options that do not go together, which a schema cannot tell."""
    if content.options.get("visibility") == "CONNECTIONS" and is_page(author):
        raise ContentRejected("A page has no connections; its posts are for everybody (visibility PUBLIC).")
    if content.media and "article" in content.options:
        raise ContentRejected("A LinkedIn post carries media or a link card (article), not both.")
    return media.following(content.media, {"media": []})


def create(api: Api, author: str, content: Content, state: Mapping[str, Any]) -> Progress | Published:
    """Make the post. Raises platform errors."""
    try:
        response = api.post("/rest/posts", _body(author, content, state))
    except NotSent as error:
        raise platform_error(error) from error
    except NoAnswer as error:
        raise OutcomeUnknown("LinkedIn did not say whether it took the post.") from error
    except LinkedInError as error:
        if error.status >= 500:
            raise OutcomeUnknown(f"LinkedIn answered {error.status} and may have taken the post.") from error
        lost = any(urn in error.reason for urn in state["media"])
        again = media.anew(content.media, state) if lost else None
        if again is None:
            raise refusal(error, "this post") from error
        return again
    urn = _made(response)
    out = {"external_id": urn, "permalink": f"{SITE}/feed/update/{urn}/"}
    return Progress("comment", {OUT: out}) if "first_comment" in content.options else Published(**out)


def comment(api: Api, author: str, content: Content, state: Mapping[str, Any]) -> Published:
    """Leave the first comment below the post that is out. Raises platform errors, which are about the comment alone."""
    urn = state[OUT]["external_id"]
    told = {"actor": author, "object": urn, "message": {"text": content.options["first_comment"]}}
    try:
        api.post(f"/rest/socialActions/{quoted(urn)}/comments", told)
    except NotSent as error:
        raise platform_error(error) from error
    except NoAnswer as error:
        raise OutcomeUnknown("LinkedIn did not say whether it took the first comment.") from error
    except LinkedInError as error:
        if error.status >= 500:
            raise OutcomeUnknown(f"LinkedIn answered {error.status} and may have taken the first comment.") from error
        if error.status == 404:
            raise Transient("LinkedIn does not know the post yet that is to be commented on.") from error
        if error.status == 403:  # of comments alone: the account has just made a post
            raise ContentRejected(f"LinkedIn does not let this login comment: {error.reason}") from error
        raise refusal(error, "the first comment") from error
    return Published(**state[OUT])


def _body(author: str, content: Content, state: Mapping[str, Any]) -> dict[str, Any]:
    body = {
        "author": author,
        "commentary": little_text(content.text),
        "visibility": content.options.get("visibility", "PUBLIC"),
        "distribution": {"feedDistribution": "MAIN_FEED", "targetEntities": [], "thirdPartyDistributionChannels": []},
        "lifecycleState": "PUBLISHED",
        "isReshareDisabledByAuthor": False,
    }
    shown = _content(content, state["media"])
    return {**body, "content": shown} if shown else body


def _content(content: Content, urns: list[str]) -> dict[str, Any]:
    """What stands below the text: a card, one file or several images."""
    if "article" in content.options:
        article = content.options["article"]
        return {"article": {"source": article["url"], "title": article["title"], **_described(article)}}
    if len(urns) > 1:
        pairs = zip(content.media, urns, strict=True)
        return {"multiImage": {"images": [{"id": urn, **_alt_text(file)} for file, urn in pairs]}}
    if urns:
        [file], [urn] = content.media, urns
        return {"media": {"id": urn, **_alt_text(file), **_title(file, content.options.get("title", ""))}}
    return {}


def _described(article: Mapping[str, Any]) -> dict[str, str]:
    return {"description": article["description"]} if article.get("description") else {}


def _alt_text(file: MediaFile) -> dict[str, str]:
    return {"altText": file.alt_text} if file.alt_text and file.kind in ("image", "gif") else {}


def _title(file: MediaFile, title: str) -> dict[str, str]:
    if file.kind == "document":
        return {"title": title or file.filename or "Document"}
    return {"title": title} if title and file.kind == "video" else {}


def _made(response: Response) -> str:
    """The URN of the post, which the answer names in a header only. Raises OutcomeUnknown."""
    urn = response.headers.get("x-restli-id", "")
    if not _POST.fullmatch(urn):
        raise OutcomeUnknown("LinkedIn answered success without naming the post.")
    return urn
