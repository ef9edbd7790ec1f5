"""Publishing containers, one for each segment, and what every answer to that means.

A container is published once, and its status tells whether it was. Threads answers that it does not know a container for a
while after it was made; then it is looked at again. Source: developers.facebook.com/docs/threads (posts, replies,
troubleshooting); that answer is what clients report.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from accounts.platforms.chains import check, segments
from accounts.platforms.errors import ContentRejected, OutcomeUnknown, Transient
from accounts.platforms.meta.graph import GraphError, id_of
from accounts.platforms.threads import containers, lookup
from accounts.platforms.threads.account import CONTAINER_NOT_THERE, PRODUCT, Account
from accounts.platforms.threads.capabilities import CAPABILITIES, MAX_LINKS, different_links
from accounts.platforms.types import OUT, Absent, AskedById, Content, Progress, Published
from config.outbound import NoAnswer, NotSent

MAX_MISSES = 4  # of a container that Threads calls ready and does not know; two minutes and a half

_ADDRESS = re.compile(r"https://[\x21-\x7e]{1,1000}")

State = Mapping[str, Any]


def begin(content: Content) -> Progress:
    """The first step's end: the moment after which the post would stand. Raises ContentRejected."""
    check(content, CAPABILITIES, "Threads")
    if content.media and "link_attachment" in content.options:
        raise ContentRejected("A Threads post with media shows no link below it; leave `link_attachment` out.")
    attached = content.options.get("link_attachment", "")
    if different_links(f"{content.text}\n{attached}") > MAX_LINKS:
        raise ContentRejected(f"Threads takes {MAX_LINKS} different links in a post, with `link_attachment` counted.")
    return Progress("container", {"since": timezone.now().isoformat(), "sent": []})


def wait(account: Account, content: Content, state: State) -> Progress:
    """Look how far Threads is with what is to be published. Raises platform errors."""
    following = containers.wait(account, state)
    if following is not None:
        return following
    with PRODUCT.faults():
        return _following(content, state, _id_of_published(account, content, state))


def publish(account: Account, content: Content, state: State) -> Progress:
    """Publish the segment's container. Raises platform errors."""
    container = state["container"]
    try:
        made = account.graph.post(f"/{account.id}/threads_publish", {"creation_id": container})
        return _following(content, state, id_of(made))
    except NotSent as error:
        raise PRODUCT.fault(error) from error
    except NoAnswer as error:
        raise OutcomeUnknown("Threads did not say whether it published the post.") from error
    except GraphError as error:
        if error.subcode == CONTAINER_NOT_THERE:
            return _missed(state)
        if error.status >= 500 or PRODUCT.kind_of(error) == "passing":
            raise OutcomeUnknown(f"Threads answered with {error.label} and may have published the post.") from error
        raise PRODUCT.refusal(error, "this post") from error


def find(account: Account, content: Content, state: State) -> Progress | Absent:
    """What follows when an earlier try of `publish` has published its container; Absent when the container itself says that
    it is not published. That the profile does not list the post proves nothing.

    Raises OutcomeUnknown and what `PRODUCT.faults` raises.
    """
    with PRODUCT.faults():
        status, _ = containers.look(account, state["container"])
        if status in containers.OUT:
            return _following(content, state, _id_of_published(account, content, state))
        if status == "IN_PROGRESS":  # it was ready before it was tried
            raise Transient("Threads is still publishing the post.")
        if status != "GONE":
            return Absent(AskedById(f"the container is {status}"))
        found = lookup.find(account, content, state)
    if found is None:
        raise OutcomeUnknown("Threads does not know any more what became of the post.", final=True)
    return _following(content, state, found)


def permalink(account: Account, state: State) -> Published:
    """Ask where the post that is out is shown. Raises platform errors, which are about its address alone."""
    media_id = state[OUT]["external_id"]
    with PRODUCT.faults():
        address = account.graph.get(f"/{media_id}", {"fields": "id,permalink"}).get("permalink")
    if isinstance(address, str) and _ADDRESS.fullmatch(address):
        return Published(media_id, address)
    return Published(media_id, "", note="Threads does not tell the post's address.")


def _missed(state: State) -> Progress:
    """Threads does not know the container, or not yet: look again, and make another one after some looks."""
    misses = state.get("misses", 0) + 1
    if misses > MAX_MISSES:
        return containers.anew(state, "Threads does not know what it has made ready to be published.")
    return containers.later({**state, "misses": misses}, [state["container"]], looks=misses)


def _id_of_published(account: Account, content: Content, state: State) -> str:
    """The id of a segment that is out; the last one's is not needed, since the first stands for all."""
    if state["sent"] and len(state["sent"]) == len(segments(content)) - 1:
        return str(state["container"])
    if (found := lookup.find(account, content, state)) is None:
        raise Transient("Threads has published the post and does not list it yet.")
    return found


def _following(content: Content, state: State, media_id: str) -> Progress:
    sent = [*state["sent"], media_id]
    if len(sent) < len(segments(content)):
        return Progress("container", {"since": state["since"], "sent": sent})
    return Progress("permalink", {OUT: {"external_id": sent[0], "permalink": ""}})
