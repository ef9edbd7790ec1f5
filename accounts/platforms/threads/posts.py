"""Publishing Threads' containers, one for each segment.

A container can be published once, and its status says whether it was. For a while after it was created, Threads may answer
that the container does not exist; the service then asks again. Source: developers.facebook.com/docs/threads (posts, replies,
troubleshooting); that answer is what clients report.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from accounts.platforms.chains import check, segments
from accounts.platforms.errors import ContentRejected, OutcomeUnknown, Transient
from accounts.platforms.http.responses import https_url
from accounts.platforms.meta.graph import Account, GraphError, id_of
from accounts.platforms.threads import containers, lookup
from accounts.platforms.threads.account import ERRORS, UNKNOWN_CONTAINER
from accounts.platforms.threads.capabilities import CAPABILITIES, MAX_LINKS, different_links
from accounts.platforms.types import OUT, Absent, AskedById, Content, Progress, Published

MAX_MISSES = 4  # how often Threads may not find a container that it called ready; two and a half minutes

State = Mapping[str, Any]


def begin(account: Account, content: Content, state: State) -> Progress:
    """Begin a Threads publication: check the content and store the time. Raises ContentRejected."""
    check(content, CAPABILITIES, "Threads")
    if content.media and "link_attachment" in content.options:
        raise ContentRejected("A Threads post with media shows no link below it; leave `link_attachment` out.")
    attached = content.options.get("link_attachment", "")
    if different_links(f"{content.text}\n{attached}") > MAX_LINKS:
        raise ContentRejected(f"Threads accepts {MAX_LINKS} different links in a post, including `link_attachment`.")
    return Progress("container", {"since": timezone.now().isoformat(), "sent": []})


def wait(account: Account, content: Content, state: State) -> Progress:
    """Ask whether the Threads containers of the segment are ready. Raises platform errors."""
    return containers.wait(account, state) or _next(content, state, _id_of_published(account, content, state))


def publish(account: Account, content: Content, state: State) -> Progress:
    """Publish the segment's container at Threads. Raises platform errors."""
    with ERRORS.publish_errors("this post"):
        try:
            form = {"creation_id": state["container"]}
            return _next(content, state, id_of(account.graph.post_form(f"/{account.id}/threads_publish", form)))
        except GraphError as error:
            if error.subcode != UNKNOWN_CONTAINER:
                raise
            return _after_miss(state)


def find(account: Account, content: Content, state: State) -> Progress | Absent:
    """The step after `publish` if an earlier attempt has published the Threads container; Absent if its status denies that.

    A profile's list without the post proves nothing. Raises OutcomeUnknown, TokenExpired, AccountDisconnected, Transient.
    """
    with ERRORS.platform_errors():
        status, _ = containers.status_of(account, state["container"])
    if status in containers.PUBLISHED:
        return _next(content, state, _id_of_published(account, content, state))
    if status == "IN_PROGRESS":  # the container was ready before the attempt to publish it
        raise Transient("Threads is still publishing the post.")
    if status != "UNKNOWN":
        return Absent(AskedById(f"the container is {status}"))
    found = lookup.find(account, content, state)
    if found is None:
        raise OutcomeUnknown("Threads no longer knows whether the post was published.", final=True)
    return _next(content, state, found)


def permalink(account: Account, content: Content, state: State) -> Published:
    """Ask Threads for the published post's URL. Raises platform errors, which are about the permalink only."""
    media_id = state[OUT]["external_id"]
    with ERRORS.platform_errors():
        address = https_url(account.graph.get(f"/{media_id}", {"fields": "id,permalink"}).get("permalink"))
    return Published(media_id, address, note="" if address else "Threads does not say where the post is shown.")


def _after_miss(state: State) -> Progress:
    """Wait for a container that Threads does not find, or create another one after MAX_MISSES."""
    misses = state.get("misses", 0) + 1
    if misses > MAX_MISSES:
        return containers.create_again(state, "Threads does not know the container that it called ready.")
    return containers.check_later({**state, "misses": misses, "looks": misses}, [state["container"]])


def _id_of_published(account: Account, content: Content, state: State) -> str:
    """The id of a published Threads segment.

    For the last segment any id is enough, because only the first one's id is reported.
    """
    if state["sent"] and len(state["sent"]) == len(segments(content)) - 1:
        return str(state["container"])
    if (found := lookup.find(account, content, state)) is None:
        raise Transient("Threads has published the post and does not list it yet.")
    return found


def _next(content: Content, state: State, media_id: str) -> Progress:
    """The step for the next Threads segment, or the last step."""
    sent = [*state["sent"], media_id]
    if len(sent) < len(segments(content)):
        return Progress("container", {"since": state["since"], "sent": sent})
    return Progress("permalink", {OUT: {"external_id": sent[0], "permalink": ""}})
