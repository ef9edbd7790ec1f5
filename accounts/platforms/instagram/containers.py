"""Containers: what is to be published, made of addresses that Instagram fetches, and waited for until it has.

One file is one container; a carousel is a container for each file, and one that gathers them. A container is good for a
day and for one publication; what nothing publishes shows nowhere, so every step here may be repeated. Sources:
developers.facebook.com, instagram-platform/content-publishing, ig-user/media, ig-container.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.platforms.errors import ContentRejected, Transient
from accounts.platforms.instagram import quota
from accounts.platforms.instagram.account import PRODUCT, Account
from accounts.platforms.meta.graph import UnreadableAnswer, id_of, line
from accounts.platforms.types import Content, MediaFile, Progress

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 3.0, 60.0
MAX_LOOKS = 60  # about an hour
MAX_ROUNDS = 3  # how often all containers are made
STATES = frozenset({"IN_PROGRESS", "FINISHED", "ERROR", "EXPIRED", "PUBLISHED"})
MAX_STORY_SECONDS = 60

_SUBCODE = re.compile(r"\b22070?\d\d\d?\b")

State = Mapping[str, Any]


@dataclass(frozen=True)
class Standing:
    """How far Instagram is with a container: one of STATES, and its words about it."""

    state: str
    words: str


def begin(content: Content) -> Progress:
    """The first step's end: the moment after which the post would stand. Raises ContentRejected."""
    _check(content)
    return Progress("container", _fresh(1))


def again(state: State, reason: str) -> Progress:
    """All containers anew, a few times. Raises ContentRejected, since nothing of them is out."""
    if state["round"] >= MAX_ROUNDS:
        raise ContentRejected(f"Instagram could not prepare the post: {reason}")
    return Progress("container", _fresh(state["round"] + 1))


def make(account: Account, content: Content, state: State) -> Progress:
    """Make the next container; the first one only if the account may publish more today. Raises ContentRejected,
    TokenExpired, AccountDisconnected, ConnectionUnavailable, RateLimited, Transient, as every step here."""
    files, made = content.media, state["children"]
    if not made:
        quota.check(account, content.attempt)
    file = files[len(made)]
    asked = _of_file(content, file) if len(files) > 1 else {**_of_file(content, file), **_shown(content)}
    with PRODUCT.content_faults(file.filename or "the file"):
        container = id_of(account.graph.post(f"/{account.id}/media", asked))
    if len(files) == 1:
        return Progress("process", {**state, "container": container, "pending": [container]})
    made = [*made, container]
    if len(made) < len(files):
        return Progress("container", {**state, "children": made})
    return Progress("process", {**state, "children": made, "pending": made})


def gather(account: Account, content: Content, state: State) -> Progress:
    """Make the container of a carousel from those of its files."""
    asked = {"media_type": "CAROUSEL", "children": ",".join(state["children"]), **_shown(content)}
    with PRODUCT.content_faults("this carousel"):
        container = id_of(account.graph.post(f"/{account.id}/media", asked))
    return Progress("process", {**state, "container": container, "pending": [container], "looks": 0})


def process(account: Account, content: Content, state: State) -> Progress:
    """Look how far Instagram is with the containers that are not ready."""
    pending = []
    for container in state["pending"]:
        standing = look_at(account, container)
        if standing.state == "EXPIRED":
            return again(state, "the media expired.")
        if standing.state == "ERROR":
            return _failed(state, standing)
        if standing.state == "IN_PROGRESS":
            pending.append(container)
    if pending:
        return later({**state, "pending": pending})
    return Progress("create" if "container" in state else "gather", {**state, "pending": []})


def later(state: State) -> Progress:
    """Another look after a while. Raises Transient when that takes too long."""
    looks = state["looks"]
    if looks >= MAX_LOOKS:
        raise Transient("Instagram has not finished processing the media.")
    pause = min(FIRST_PAUSE_SECONDS * 2 ** min(looks, 10), LONGEST_PAUSE_SECONDS)
    return Progress("process", {**state, "looks": looks + 1}, ready_at=timezone.now() + timedelta(seconds=pause))


def look_at(account: Account, container: str) -> Standing:
    """How far Instagram is with a container. Raises TokenExpired, AccountDisconnected, Transient."""
    with PRODUCT.faults():
        answer = account.graph.get(f"/{container}", {"fields": "status_code,status"})
        state = answer.get("status_code")
        if not isinstance(state, str) or state not in STATES:
            raise UnreadableAnswer("The answer does not say how far the container is.")
    return Standing(state, line(answer.get("status")) or "no reason given")


def _fresh(number: int) -> dict[str, Any]:
    return {"since": timezone.now().isoformat(), "round": number, "children": [], "looks": 0}


def _failed(state: State, standing: Standing) -> Progress:
    """What Instagram says of a container that it could not make: a subcode of its errors stands in the words."""
    found = _SUBCODE.search(standing.words)
    if found and PRODUCT.kinds.get(int(found[0])) == "passing":
        return again(state, standing.words)
    raise ContentRejected(f"Instagram could not process the media: {standing.words}")


def _of_file(content: Content, file: MediaFile) -> dict[str, str]:
    """The file, as a part of a carousel or by itself."""
    single, story = len(content.media) == 1, content.options.get("post_type") == "story"
    of_carousel = {} if single else {"is_carousel_item": "true"}
    if file.kind == "video":
        kind = "STORIES" if story else "REELS" if single else "VIDEO"
        return {"media_type": kind, "video_url": file.url, **of_carousel}
    alt_text = {"alt_text": file.alt_text} if file.alt_text and not story else {}
    return {"image_url": file.url, **({"media_type": "STORIES"} if story else {}), **alt_text, **of_carousel}


def _shown(content: Content) -> dict[str, str]:
    """What is told of the post as a whole; a story shows none of it."""
    options = content.options
    if options.get("post_type") == "story":
        return {}
    told = {"caption": content.text} if content.text.strip() else {}
    if "collaborators" in options:
        told["collaborators"] = json.dumps(options["collaborators"])
    return told | {name: json.dumps(options[name]) for name in ("share_to_feed", "thumb_offset") if name in options}


def _check(content: Content) -> None:
    """Raise ContentRejected for what Instagram would refuse, before anything is made."""
    kinds, options = [file.kind for file in content.media], content.options
    kind = options.get("post_type", "post")
    if not kinds:
        raise ContentRejected("Instagram takes no post of text alone.", suggested_action="Attach an image or a video.")
    if kind == "reel" and kinds != ["video"]:
        raise ContentRejected("A reel is one video.", suggested_action="Attach one video, or leave `post_type` out.")
    if kind == "story" and len(kinds) != 1:
        raise ContentRejected("A story is one image or video.", suggested_action="Attach one file.")
    if kind == "story" and options.keys() - {"post_type"}:
        raise ContentRejected("A story takes no other options.", suggested_action="Leave them out.")
    if options.keys() & {"share_to_feed", "thumb_offset"} and kinds != ["video"]:
        raise ContentRejected(
            "Only a reel, which is one video, takes `share_to_feed` and `thumb_offset`.",
            suggested_action="Leave them out.",
        )
    milliseconds = content.media[0].duration_ms
    if kind == "story" and milliseconds is not None and milliseconds > MAX_STORY_SECONDS * 1000:
        raise ContentRejected(
            f"The video lasts {milliseconds / 1000:g} seconds; a story lasts {MAX_STORY_SECONDS}.",
            suggested_action=f"Cut it to {MAX_STORY_SECONDS} seconds.",
        )
