"""Containers: what is to be published, made beforehand and looked at until Threads has fetched and processed it.

Nobody sees a container, and one that is not published ends by itself after a day, so making one may be repeated. Once it is
published its status says so, which tells what a lost answer meant.
Source: developers.facebook.com/docs/threads (posts, carousels, troubleshooting).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.platforms.chains import segments
from accounts.platforms.errors import ContentRejected, Transient, unmapped
from accounts.platforms.meta.graph import GraphError, UnreadableAnswer, id_of, line
from accounts.platforms.threads.account import CONTAINER_NOT_THERE, PRODUCT, Account
from accounts.platforms.types import Content, MediaFile, Progress

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 5, 60
MAX_LOOKS = 30  # half an hour
LOOKS_FOR_THE_UNKNOWN = 3  # what was just made may not be known everywhere yet
MAX_ANEW = 2
OF_THE_FIRST = ("reply_control", "topic_tag", "link_attachment")
NO_SUCH_OBJECT = 33  # a subcode of code 100
# Besides Threads' own words: GONE, where it does not know the container, and A_POST, where it knows a post by its id.
OUT = frozenset({"PUBLISHED", "A_POST"})
_TOLD = frozenset({"FINISHED", "IN_PROGRESS", "ERROR", "EXPIRED", "PUBLISHED"})

State = Mapping[str, Any]


def make(account: Account, content: Content, state: State) -> Progress:
    """Make the container of the next file of a carousel, or of the next segment.

    Raises ContentRejected, TokenExpired, AccountDisconnected, ConnectionUnavailable, Transient.
    """
    files = () if state["sent"] else content.media
    children = [*state.get("children", ())]
    if len(children) < len(files) > 1:
        file = files[len(children)]
        children.append(_made(account, {**_media(file), "is_carousel_item": "true"}, file.filename or "the file"))
        following = {**state, "children": children}
        return Progress("container", following) if len(children) < len(files) else later(following, children)
    form = _form(content, files, children, state["sent"])
    container = _made(account, form, "this post")
    following = {**state, "container": container}
    if form["media_type"] == "TEXT":  # most often ready at once
        return Progress("wait", {**following, "waiting": [container], "looks": 0})
    return later(following, [container])


def wait(account: Account, state: State) -> Progress | None:
    """Look how far Threads is with the containers that are waited for; None when the post is out already.

    Raises as `make`.
    """
    waiting = [*state["waiting"]]
    while waiting:
        with PRODUCT.faults():
            status, reason = look(account, waiting[0])
        if status in OUT and waiting[0] == state.get("container"):
            return None
        if status == "IN_PROGRESS" or (status == "GONE" and state["looks"] < LOOKS_FOR_THE_UNKNOWN):
            return later(state, waiting, state["looks"] + 1)
        if status == "ERROR" and not reason.startswith("FAILED_DOWNLOADING"):
            raise ContentRejected(f"Threads could not process the post: {_reason(reason)}")
        if status != "FINISHED" and status not in OUT:
            return anew(state, f"Threads could not make the post ready: {_reason(reason or status)}")
        waiting.pop(0)
    return Progress("publish" if "container" in state else "container", _without(state, "waiting", "looks"))


def look(account: Account, container: str) -> tuple[str, str]:
    """How far Threads is with a container, and why where it failed. Raises GraphError, NotSent, NoAnswer."""
    try:
        told = account.graph.get(f"/{container}", {"fields": "status,error_message"})
    except GraphError as error:
        if error.subcode == CONTAINER_NOT_THERE or (error.code, error.subcode) == (100, NO_SUCH_OBJECT):
            return "GONE", ""
        if error.code == 100 and "nonexisting field (status)" in error.reason:
            return "A_POST", ""
        raise
    status = line(told.get("status"))
    if status not in _TOLD:
        unmapped("threads", f"container status {status}")
        raise UnreadableAnswer("The answer tells no status.")
    return status, line(told.get("error_message"))


def later(state: State, waiting: Sequence[str], looks: int = 0) -> Progress:
    """Another look at these containers. Raises Transient when there were enough."""
    if looks > MAX_LOOKS:
        raise Transient("Threads has not finished processing the post.")
    pause = min(FIRST_PAUSE_SECONDS * 2 ** min(looks, 10), LONGEST_PAUSE_SECONDS)
    following = {**state, "waiting": [*waiting], "looks": looks}
    return Progress("wait", following, ready_at=timezone.now() + timedelta(seconds=pause))


def anew(state: State, reason: str) -> Progress:
    """All containers of the segment once more. Raises ContentRejected when that was done before, often enough."""
    times = state.get("anew", 0)
    if times >= MAX_ANEW:
        raise ContentRejected(reason, suggested_action="See that the media can be fetched, then make a new post.")
    kept = {name: state[name] for name in ("since", "sent")}
    return Progress("container", {**kept, "anew": times + 1})


def _made(account: Account, form: Mapping[str, str], what: str) -> str:
    with PRODUCT.content_faults(what):
        try:
            return id_of(account.graph.post(f"/{account.id}/threads", form))
        except GraphError as error:
            if "reply_to_id" in form and (error.code, error.subcode) == (100, NO_SUCH_OBJECT):
                raise Transient("Threads does not know the segment yet that is replied to.") from error
            raise


def _form(content: Content, files: Sequence[MediaFile], children: Sequence[str], sent: Sequence[str]) -> dict[str, str]:
    """What a segment's container is made of."""
    text = segments(content)[len(sent)]
    told = {"text": text} if text.strip() else {}
    if sent:
        return {"media_type": "TEXT", **told, "reply_to_id": sent[-1]}
    told |= {name: content.options[name] for name in OF_THE_FIRST if name in content.options}
    if len(files) > 1:
        return {"media_type": "CAROUSEL", "children": ",".join(children), **told}
    return {**_media(files[0]), **told} if files else {"media_type": "TEXT", **told}


def _media(file: MediaFile) -> dict[str, str]:
    kind = "video" if file.kind == "video" else "image"
    described = {"alt_text": file.alt_text} if file.alt_text else {}
    return {"media_type": kind.upper(), f"{kind}_url": file.url, **described}


def _reason(told: str) -> str:
    return "no reason given" if told in ("", "UNKNOWN") else told


def _without(state: State, *names: str) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name not in names}
