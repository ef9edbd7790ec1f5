"""Looking whether a post is there: among those that the page has published since the publication began.

A post with photos is known by their ids, which nothing else can have, and one of text by its words and its link.
Facebook does not say how soon a post shows in a page's list, so that what is missing there counts only after a while
(`Facebook.settles_seconds`). That the lists hold every kind of post that is looked for here is documented, so a list that
was read in full proves that a post is absent.
Sources: developers.facebook.com, graph-api/reference/page/published_posts, page-stories-api (stories).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from accounts.platforms.errors import OutcomeUnknown, PlatformError
from accounts.platforms.facebook.forms import form_of
from accounts.platforms.facebook.page import PRODUCT, Page, permalink
from accounts.platforms.meta.graph import GraphError, cursor_after, entries, id_of
from accounts.platforms.meta.matching import earliest, moment_of, same_text
from accounts.platforms.types import Absent, CompleteList, Content, Published
from config.outbound import OutboundError

AT_ONCE = 100
MAX_LISTS = 3
FIELDS = (
    "id,message,created_time,updated_time,permalink_url,"
    "attachments{media_type,unshimmed_url,target{id},subattachments{target{id}}}"
)
OF_MEDIA = frozenset({"album", "photo", "video"})
EDITED_AFTER = timedelta(seconds=30)
POSTS_ARE_LISTED = "graph-api/reference/page/published_posts: all published posts of the page"
STORIES_ARE_LISTED = "page-stories-api: all stories of the page"
COMMENTS_ARE_LISTED = "graph-api/reference/object/comments, filter=stream: all comments below the post"


def find(page: Page, content: Content, state: Mapping[str, Any]) -> Published | Absent:
    """The post of text or photos, or the story of a photo, that an earlier try has made; Absent when there is none.

    Raises OutcomeUnknown when nobody can tell, TokenExpired, Transient.
    """
    with PRODUCT.faults():
        return _found(page, content, state)


def _found(page: Page, content: Content, state: Mapping[str, Any]) -> Published | Absent:
    if form_of(content) == "photo_story":
        story = _story(page, state["photos"][0])
        return story or Absent(CompleteList(back_to="the first story", kind_listed=STORIES_ARE_LISTED))
    doubtful = False
    for post in _posts(page, state["since"]):
        attachments = _data(post.get("attachments"))
        has_media = any(each.get("media_type") in OF_MEDIA for each in attachments)
        same_words = has_media == bool(content.media) and same_text(post.get("message"), content.text)
        if _is_it(content, state, same_words, attachments):
            return Published(id_of(post), permalink(post.get("permalink_url"), id_of(post)))
        # The same words with something else, or words that were changed since: nobody can tell any more.
        doubtful |= same_words or (not has_media and not content.media and _edited(post))
    if doubtful:
        raise OutcomeUnknown("A post that may be this one stands at the page, changed.", final=True)
    return Absent(CompleteList(back_to=earliest(state["since"]).isoformat(), kind_listed=POSTS_ARE_LISTED))


def story_of(page: Page, media_id: str) -> Published | None:
    """The story that shows this photo or video, where Facebook lists it; whatever goes wrong changes nothing about it."""
    try:
        with PRODUCT.faults():
            return _story(page, media_id)
    except PlatformError:
        return None


def comment(page: Page, content: Content, out: Mapping[str, str]) -> bool:
    """Whether the page has made its first comment. Raises as `find`."""
    fields = {"fields": "id,message,from", "filter": "stream", "order": "reverse_chronological"}
    for each in _listed(page, f"/{out['external_id']}/comments", fields):
        author = each.get("from")
        by_page = not isinstance(author, dict) or author.get("id") == page.id
        if by_page and same_text(each.get("message"), content.options["first_comment"]):
            return True
    return False


def _is_it(content: Content, state: Mapping[str, Any], same_words: bool, attachments: list[dict[str, Any]]) -> bool:
    if content.media:
        return bool(state["photos"]) and set(state["photos"]) <= set(_photos(attachments))
    link = content.options.get("link")
    links = {str(each.get("unshimmed_url")).rstrip("/") for each in attachments}
    return same_words and (link is None or link.rstrip("/") in links)


def _posts(page: Page, since: str) -> Iterator[dict[str, Any]]:
    begun = earliest(since)
    asked = {"fields": FIELDS, "since": str(int(begun.timestamp()))}
    for post in _listed(page, f"/{page.id}/published_posts", asked):
        moment = moment_of(post, "created_time")
        if moment is None or moment >= begun:
            yield post


def _story(page: Page, media_id: str) -> Published | None:
    for story in _listed(page, f"/{page.id}/stories", {"fields": "post_id,media_id,url"}):
        if str(story.get("media_id")) == media_id:
            return Published(id_of(story, "post_id"), permalink(story.get("url"), f"stories/{page.id}"))
    return None


def _listed(page: Page, path: str, params: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """What an edge lists. Raises OutcomeUnknown where Facebook does not let it be read, or lists too much to read."""
    asked = {**params, "limit": str(AT_ONCE)}
    for _ in range(MAX_LISTS):
        try:
            answer = page.graph.get(path, asked)
            yield from entries(answer)
        except OutboundError as error:
            raise PRODUCT.fault(error) from error
        except GraphError as error:
            if PRODUCT.kind_of(error) in ("lost", "content", "operator"):
                message = f"Facebook does not let the service look whether it is there: {error.reason}"
                raise OutcomeUnknown(message, final=True) from error
            raise PRODUCT.fault(error) from error
        asked["after"] = cursor_after(answer)
        if not asked["after"]:
            return
    raise OutcomeUnknown("The page has published too much since to tell whether it is there.", final=True)


def _photos(attachments: list[dict[str, Any]]) -> Iterator[str]:
    """The ids of the photos that a post shows."""
    for attachment in attachments:
        for each in (attachment, *_data(attachment.get("subattachments"))):
            target = each.get("target")
            if isinstance(target, dict):
                yield str(target.get("id"))


def _edited(post: Mapping[str, Any]) -> bool:
    made, changed = moment_of(post, "created_time"), moment_of(post, "updated_time")
    return bool(made and changed and changed > made + EDITED_AFTER)


def _data(value: Any) -> list[dict[str, Any]]:
    listed = value.get("data") if isinstance(value, dict) else None
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
