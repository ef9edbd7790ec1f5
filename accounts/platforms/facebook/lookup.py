"""The search among a page's recent Facebook posts and stories for one that an interrupted attempt may have published.

A post with photos is recognized by their ids, one of text by its words and its link. Facebook does not say how soon a post
appears in a page's lists, so they are read only after a while (`Facebook.settles_seconds`). It documents that they
contain every kind of post that is searched for here, so a list that was read in full proves that a post is absent.
Sources: developers.facebook.com, graph-api/reference/page/published_posts, page-stories-api (stories).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.errors import OutcomeUnknown, PlatformError
from accounts.platforms.facebook.errors import ERRORS
from accounts.platforms.facebook.page import FacebookPageClient, permalink_or_fallback
from accounts.platforms.facebook.post_kinds import kind_of
from accounts.platforms.http.responses import object_or_empty, objects_in
from accounts.platforms.meta.comments import FirstCommentSteps
from accounts.platforms.meta.errors import Meaning
from accounts.platforms.meta.graph import earliest_possible_creation_time, id_of, is_same_text, time_field_or_none
from accounts.platforms.types import Content, MissingFromListProof, NotPublishedProof, Published

PAGE_SIZE, MAX_PAGES = "100", 3
FIELDS = (
    "id,message,created_time,updated_time,permalink_url,"
    "attachments{media_type,unshimmed_url,target{id},subattachments{target{id}}}"
)
MEDIA_TYPES = frozenset({"album", "photo", "video"})
MIN_EDIT_DELAY = timedelta(seconds=30)
POST_LIST_DOCUMENTATION = "graph-api/reference/page/published_posts: all published posts of the page"
STORY_LIST_DOCUMENTATION = "page-stories-api: all stories of the page"
MEANINGS_OF_UNREADABLE_LISTS: tuple[Meaning, ...] = (
    "permission",
    "content",
    "app",
)  # errors by which a list is refused for good

FIRST_COMMENT_STEPS = FirstCommentSteps(
    ERRORS,
    text_field="message",
    params={"fields": "id,message,from", "filter": "stream", "order": "reverse_chronological", "limit": PAGE_SIZE},
    max_pages=MAX_PAGES,
    kind_evidence="graph-api/reference/object/comments, filter=stream: all comments below the post",
    unreadable=MEANINGS_OF_UNREADABLE_LISTS,
)


def find_or_rule_out_published_post(
    page: FacebookPageClient, content: Content, state: Mapping[str, Any]
) -> Published | NotPublishedProof:
    """Search a Facebook page for the text post, photo post or photo story that an interrupted attempt may have published.

    Returns NotPublishedProof if there is none. Raises OutcomeUnknown if that cannot be decided, TokenExpired, Transient.
    """
    with ERRORS.translating_search_errors(gettext_noop("the page's posts"), MEANINGS_OF_UNREADABLE_LISTS):
        if kind_of(content) == "photo_story":
            story = _story(page, state["photos"][0])
            return story or NotPublishedProof(
                MissingFromListProof(back_to="the first story", kind_evidence=STORY_LIST_DOCUMENTATION)
            )
        return _find_post(page, content, state)


def find_story_showing_file(page: FacebookPageClient, media_id: str) -> Published | None:
    """Search a page's Facebook stories for the one with an uploaded file; None if there is none or Facebook fails."""
    with suppress(PlatformError), ERRORS.translating_repeatable_call_errors():
        return _story(page, media_id)
    return None


def _find_post(page: FacebookPageClient, content: Content, state: Mapping[str, Any]) -> Published | NotPublishedProof:
    has_doubt = False
    for post in _posts_since(page, state["since"]):
        attachments = _data(post.get("attachments"))
        has_media = any(each.get("media_type") in MEDIA_TYPES for each in attachments)
        same_words = has_media == bool(content.media) and is_same_text(post.get("message"), content.text)
        if _is_the_post(content, state, same_words, attachments):
            return Published(id_of(post), permalink_or_fallback(post.get("permalink_url"), id_of(post)))
        # A post with the same words and something else, or with words that were edited since, may be the one.
        has_doubt |= same_words or (not has_media and not content.media and _is_edited(post))
    if has_doubt:
        raise OutcomeUnknown(gettext_noop("A post of the page may be this one, edited."), final=True)
    return NotPublishedProof(
        MissingFromListProof(
            back_to=earliest_possible_creation_time(state["since"]).isoformat(), kind_evidence=POST_LIST_DOCUMENTATION
        )
    )


def _is_the_post(content: Content, state: Mapping[str, Any], same_words: bool, attachments: list[dict[str, Any]]) -> bool:
    if content.media:
        return bool(state["photos"]) and set(state["photos"]) <= set(_photo_ids(attachments))
    link = content.options.get("link")
    links = {str(each.get("unshimmed_url")).rstrip("/") for each in attachments}
    return same_words and (link is None or link.rstrip("/") in links)


def _posts_since(page: FacebookPageClient, since: str) -> Iterator[dict[str, Any]]:
    start = earliest_possible_creation_time(since)
    for post in _list(page, "published_posts", {"fields": FIELDS, "since": str(int(start.timestamp()))}):
        created_at = time_field_or_none(post, "created_time")
        if created_at is None or created_at >= start:
            yield post


def _story(page: FacebookPageClient, media_id: str) -> Published | None:
    for story in _list(page, "stories", {"fields": "post_id,media_id,url"}):
        if str(story.get("media_id")) == media_id:
            return Published(id_of(story, "post_id"), permalink_or_fallback(story.get("url"), f"stories/{page.id}"))
    return None


def _list(page: FacebookPageClient, edge: str, params: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    too_long = OutcomeUnknown(gettext_noop("The page has published too much since then to find this post."), final=True)
    params = {**params, "limit": PAGE_SIZE}
    return page.graph.iterate_objects(f"/{page.id}/{edge}", params, max_pages=MAX_PAGES, too_long=too_long)


def _photo_ids(attachments: list[dict[str, Any]]) -> Iterator[str]:
    for attachment in attachments:
        for each in (attachment, *_data(attachment.get("subattachments"))):
            if isinstance(each.get("target"), dict):
                yield str(each["target"].get("id"))


def _is_edited(post: Mapping[str, Any]) -> bool:
    created_at, updated_at = time_field_or_none(post, "created_time"), time_field_or_none(post, "updated_time")
    return bool(created_at and updated_at and updated_at > created_at + MIN_EDIT_DELAY)


def _data(value: Any) -> list[dict[str, Any]]:
    return objects_in(object_or_empty(value).get("data"))
