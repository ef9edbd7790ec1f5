"""Publishing a container, and what every answer to that means. Source: developers.facebook.com,
instagram-platform/content-publishing.

A container is published once and says whether it was, so that an unanswered call is settled by asking it. It does not
say which post it has become; that is found among the account's own by its caption and its moment, where one alone fits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts.platforms.errors import AccountDisconnected, OutcomeUnknown, PlatformError, RateLimited, Transient
from accounts.platforms.instagram import containers
from accounts.platforms.instagram.account import DAILY, GONE, NOT_READY, PRODUCT, Account, permalink_of
from accounts.platforms.meta import comments
from accounts.platforms.meta.daily_limits import pause_seconds
from accounts.platforms.meta.graph import GraphError, cursor_after, entries, id_of
from accounts.platforms.meta.matching import earliest, moment_of, same_text
from accounts.platforms.types import OUT, Absent, AskedById, CompleteList, Content, Progress, Published
from config.outbound import NoAnswer, NotSent

AT_ONCE = "50"
MAX_LISTS = 10
COMMENTS_ARE_LISTED = "instagram-graph-api/reference/ig-media/comments: all comments to a media object"

State = Mapping[str, Any]


def create(account: Account, content: Content, state: State) -> Progress | Published:
    """Publish the container. Raises platform errors."""
    try:
        media_id = id_of(account.graph.post(f"/{account.id}/media_publish", {"creation_id": state["container"]}))
    except NotSent as error:
        raise PRODUCT.fault(error) from error
    except NoAnswer as error:
        raise OutcomeUnknown("Instagram did not say whether it took the post.") from error
    except GraphError as error:
        if error.status >= 500:
            message = f"Instagram answered with {error.label} and may have taken the post: {error.reason}"
            raise OutcomeUnknown(message) from error
        return _settle_refusal(account, content, state, error)
    return _out(content, state, Published(media_id, _permalink(account, media_id)))


def find(account: Account, content: Content, state: State) -> Progress | Published | Absent:
    """What follows when an earlier try of `create` has published; Absent when the container itself says that it is not
    published. Raises as `create`."""
    standing = containers.look_at(account, state["container"]).state
    if standing == "PUBLISHED":
        return _out(content, state, _found(account, content, state))
    if standing == "IN_PROGRESS":  # it was ready before it was tried
        raise Transient("Instagram is still publishing the post.")
    return Absent(AskedById(f"the container is {standing}"))


def comment(account: Account, content: Content, state: State) -> Published:
    """Make the first comment below a post that is out. Raises platform errors, which are about the comment alone."""
    comments.comment(PRODUCT, account.graph, state[OUT]["external_id"], content.options["first_comment"])
    return Published(**state[OUT])


def find_comment(account: Account, content: Content, state: State) -> Published | Absent:
    """The post, when an earlier try has made its comment; Absent when no comment below the post is it. Raises
    OutcomeUnknown, TokenExpired, Transient."""
    out, asked = state[OUT], {"fields": "id,text", "limit": AT_ONCE}
    for _ in range(MAX_LISTS):
        try:
            with PRODUCT.faults():
                answer = account.graph.get(f"/{out['external_id']}/comments", asked)
                made = any(same_text(each.get("text"), content.options["first_comment"]) for each in entries(answer))
        except AccountDisconnected as error:
            message = f"Instagram does not let the service look whether the first comment is there. {error.message}"
            raise OutcomeUnknown(message, final=True) from error
        if made:
            return Published(**out)
        asked["after"] = cursor_after(answer)
        if not asked["after"]:
            return Absent(CompleteList(back_to="the first comment below the post", kind_listed=COMMENTS_ARE_LISTED))
    raise OutcomeUnknown("There are too many comments below the post to tell whether this one is there.", final=True)


def _settle_refusal(account: Account, content: Content, state: State, refused: GraphError) -> Progress | Published:
    """What a refusal comes to. Instagram refuses posts that it has published all the same, so the container is asked;
    and one that is gone, or not ready, is no fault of the post's."""
    kind, refusal = PRODUCT.kind_of(refused), PRODUCT.refusal(refused, "this post")
    if refused.subcode == DAILY:
        seconds = refused.retry_after or pause_seconds(content.attempt)
        raise RateLimited(refusal.message, retry_after=seconds) from refused
    if kind in ("stale", "lost", "quota", "operator"):
        raise refusal from refused
    standing = _standing_after(account, content, state["container"], refused)
    if standing == "PUBLISHED":
        return _out(content, state, _found(account, content, state))
    if standing == "EXPIRED":
        return containers.again(state, refused.reason)
    if standing == "IN_PROGRESS" or refused.subcode == NOT_READY:
        return containers.later({**state, "pending": [state["container"]]})
    if kind == "passing":
        message = f"Instagram answered with {refused.label} and may have taken the post: {refused.reason}"
        raise OutcomeUnknown(message) from refused
    raise refusal from refused


def _standing_after(account: Account, content: Content, container: str, refused: GraphError) -> str:
    """How far the container is. One that Instagram calls gone may be gone because an earlier try has published it."""
    gone = refused.subcode in GONE
    try:
        standing = containers.look_at(account, container).state
    except Transient:
        if gone and content.attempt == 1:
            return "EXPIRED"
        raise
    return "EXPIRED" if gone and standing != "PUBLISHED" else standing


def _permalink(account: Account, media_id: str) -> str:
    """Where the post is shown. That it cannot be asked for changes nothing about the post."""
    try:
        with PRODUCT.faults():
            return permalink_of(account.graph.get(f"/{media_id}", {"fields": "permalink"}))
    except PlatformError:
        return ""


def _found(account: Account, content: Content, state: State) -> Published:
    """The post that the container has become. It is out, whether it can be told from the others or not."""
    story = content.options.get("post_type") == "story"
    edge, caption = ("stories", "") if story else ("media", content.text)
    begun = earliest(state["since"])
    try:
        with PRODUCT.faults():
            asked = {"fields": "id,caption,permalink,timestamp", "limit": AT_ONCE}
            fitting = [
                each
                for each in entries(account.graph.get(f"/{account.id}/{edge}", asked))
                if (moment := moment_of(each, "timestamp"))
                and moment >= begun
                and same_text(each.get("caption"), caption)
            ]
            if len(fitting) == 1:
                return Published(id_of(fitting[0]), permalink_of(fitting[0]))
    except PlatformError:
        pass
    return Published("", "", note="Instagram says that the post is out, but not which of the account's posts it is.")


def _out(content: Content, state: State, published: Published) -> Progress | Published:
    """The end, or the first comment."""
    if "first_comment" not in content.options or published.note:
        return published
    out = {"external_id": published.external_id, "permalink": published.permalink}
    return Progress("comment", {"since": state["since"], OUT: out})
