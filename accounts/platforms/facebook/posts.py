"""Publishing what was prepared, and what every answer to that means. Sources: developers.facebook.com, pages-api/posts,
video-api/guides/reels-publishing and page-stories-api.

Facebook knows no idempotency key; what an unanswered call has come to is looked for (lookup.py). A video is shown only
after Facebook has processed it, so that it is asked about until it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from accounts.platforms.errors import ContentRejected, OutcomeUnknown, PlatformError
from accounts.platforms.facebook import lookup, media, reels, videos
from accounts.platforms.facebook.forms import OF_A_VIDEO, STORIES, check, form_of
from accounts.platforms.facebook.page import PRODUCT, Page, permalink
from accounts.platforms.meta.graph import GraphError, UnreadableAnswer, id_of
from accounts.platforms.types import OUT, TAKEN, Absent, AskedById, Content, Progress, Published
from config.outbound import NoAnswer, NotSent

FIRST_LOOK_SECONDS, LONGEST_PAUSE_SECONDS = 5.0, 60.0
MAX_LOOKS = 100  # about an hour and a half
UPLOADS_LIVE = timedelta(hours=20)  # Facebook forgets them after about a day
DUPLICATE, PHOTOS_POSTED = 506, 1366051

State = Mapping[str, Any]


def begin(content: Content) -> Progress:
    """The first step's end: the moment after which the post would stand. Raises ContentRejected."""
    check(content)
    return media.following(content, {"since": timezone.now().isoformat(), "photos": []})


def create(page: Page, content: Content, state: State) -> Progress | Published:
    """Publish. Raises platform errors."""
    edge, form = _asked(content, state)
    try:
        answer = media.graph_of(page, form_of(content)).post(f"/{page.id}/{edge}", form)
        return _taken(page, content, state, answer)
    except NotSent as error:
        raise PRODUCT.fault(error) from error
    except NoAnswer as error:
        raise OutcomeUnknown("Facebook did not say whether it took the post.") from error
    except GraphError as error:
        if error.status >= 500 or PRODUCT.kind_of(error) == "passing":
            message = f"Facebook answered with {error.label} and may have taken the post: {error.reason}"
            raise OutcomeUnknown(message) from error
        return _settle_refusal(page, content, state, error)


def settle(page: Page, content: Content, state: State) -> Progress | Published:
    """Look how far Facebook is with a video that it is to publish."""
    return _settled(page, content, state, videos.look_at(page, state["video"]))


def find(page: Page, content: Content, state: State) -> Progress | Published | Absent:
    """What follows when an earlier try of `create` has published; Absent when it has not. Raises as `create`."""
    if form_of(content) not in OF_A_VIDEO:
        found = lookup.find(page, content, state)
        return found if isinstance(found, Absent) else _out(content, state, found)
    video = videos.look_at(page, state["video"])
    if video.standing == "unpublished":
        return Absent(AskedById("the video is unpublished"))
    return _settled(page, content, {**state, TAKEN: True, "looks": 0}, video)


def _settled(page: Page, content: Content, state: State, video: videos.Video) -> Progress | Published:
    if video.standing == "failed":
        raise ContentRejected(f"Facebook could not process the video: {video.reason}")
    if video.standing == "out":
        shown = lookup.story_of(page, state["video"]) if form_of(content) in STORIES else None
        return _out(content, state, shown or Published(state["video"], video.permalink))
    if state["looks"] >= MAX_LOOKS:
        raise OutcomeUnknown("Facebook took the video, but has not finished processing it.", final=True)
    return _look_later(state, state["looks"] + 1)


def _asked(content: Content, state: State) -> tuple[str, dict[str, str]]:
    """The edge of the page that publishes, and the form for it."""
    form, options = form_of(content), content.options
    if form == "photo_story":
        return "photo_stories", {"photo_id": state["photos"][0]}
    text = {"message" if form in ("text", "photos") else "description": content.text} if content.text.strip() else {}
    if form not in OF_A_VIDEO:
        photos = [{"media_fbid": photo} for photo in state["photos"]]
        attached = {"attached_media": json.dumps(photos)} if photos else {}
        return "feed", text | attached | ({"link": options["link"]} if "link" in options else {})
    named = {"upload_session_id": state["session"]} if form == "video" else {"video_id": state["video"]}
    finish = {"upload_phase": "finish", **named}
    if form == "video_story":
        return media.EDGES[form], finish
    shown = {"video_state": "PUBLISHED"} if form == "reel" else {}
    return media.EDGES[form], finish | shown | text | ({"title": options["title"]} if "title" in options else {})


def _taken(page: Page, content: Content, state: State, answer: Mapping[str, Any]) -> Progress | Published:
    """What follows from Facebook's word that it took the post. Raises UnreadableAnswer."""
    form = form_of(content)
    if form in OF_A_VIDEO or form == "photo_story":
        if answer.get("success") is not True:
            raise UnreadableAnswer("The answer does not say that the post was taken.")
        if form != "photo_story":
            return _look_later({**state, TAKEN: True}, 0)
        story = lookup.story_of(page, state["photos"][0])
        return story or Published(id_of(answer, "post_id"), permalink(None, f"stories/{page.id}"))
    post_id = id_of(answer)
    return _out(content, state, Published(post_id, _permalink(page, post_id)))


def _permalink(page: Page, post_id: str) -> str:
    """Where the post is shown. That it cannot be asked for changes nothing about the post."""
    try:
        with PRODUCT.faults():
            told = page.graph.get(f"/{post_id}", {"fields": "permalink_url"}).get("permalink_url")
    except PlatformError:
        told = None
    return permalink(told, post_id)


def _settle_refusal(page: Page, content: Content, state: State, refused: GraphError) -> Progress | Published:
    """What a refusal comes to. One of a repetition may mean that an earlier try is out; one of a reel, that the page has
    published its reels of a day; one of uploads that have grown old, that they have to be made again."""
    refusal, is_reel = PRODUCT.refusal(refused, "this post"), form_of(content) == "reel"
    if is_reel:
        reels.check_refusal(refused, content.attempt)
    if not isinstance(refusal, ContentRejected):
        raise refusal from refused
    repeated = refused.code == DUPLICATE or refused.subcode == PHOTOS_POSTED
    if repeated or form_of(content) in OF_A_VIDEO:
        found = find(page, content, state)
        if not isinstance(found, Absent):
            return found
    if is_reel:
        reels.check(page, content.attempt, refusal.message)
    if repeated and content.attempt > 1:
        message = "Facebook says that the page has published this already, but does not list it."
        raise OutcomeUnknown(message, final=True) from refused
    age = timezone.now() - datetime.fromisoformat(state["since"])
    if content.media and age > UPLOADS_LIVE and not state.get("again"):
        return media.following(content, {"since": timezone.now().isoformat(), "photos": [], "again": True})
    raise refusal from refused


def _look_later(state: State, looks: int) -> Progress:
    pause = min(FIRST_LOOK_SECONDS * 2 ** min(looks, 10), LONGEST_PAUSE_SECONDS)
    return Progress("settle", {**state, "looks": looks}, ready_at=timezone.now() + timedelta(seconds=pause))


def _out(content: Content, state: State, published: Published) -> Progress | Published:
    """The end, or the first comment."""
    if "first_comment" not in content.options:
        return published
    out = {"external_id": published.external_id, "permalink": published.permalink}
    return Progress("comment", {"since": state["since"], OUT: out})
