"""The calls of X's API v2 about users and posts, with its scopes, limits and refusals.

Source: docs.x.com, users/me, manage posts, timelines, and restrictions of self-serve apps. As clients report: the words
of refusals; a text that the account has posted within a day is refused, unless either post shows media.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from twitter_text import parse_tweet

from tests.fakes.http_server import Answer, ReceivedRequest
from tests.fakes.x_media import XMedia
from tests.fakes.x_oauth import XOAuth
from tests.fakes.x_problems import Problem, forbidden, invalid
from tests.fakes.x_store import Person, Post, Upload, XStore

TOKEN, REVOKE = "POST /2/oauth2/token", "POST /2/oauth2/revoke"
ME, TIMELINE, CREATE = "GET /2/users/me", "GET /2/users/:id/tweets", "POST /2/tweets"
UPLOAD, STATUS, METADATA = "POST /2/media/upload", "GET /2/media/upload", "POST /2/media/metadata"
INITIALIZE = "POST /2/media/upload/initialize"
APPEND, FINALIZE = "POST /2/media/upload/:id/append", "POST /2/media/upload/:id/finalize"

PROPERTIES = frozenset({"text", "media", "reply", "reply_settings", "made_with_ai", "paid_partnership", "poll"})
REPLY_SETTINGS = frozenset({"following", "mentionedUsers", "subscribers", "verified"})
POST_FIELDS = frozenset({"attachments", "created_at", "edit_history_tweet_ids", "entities", "referenced_tweets"})
REPEATED_WITHIN = timedelta(days=1)

_ID = re.compile(r"(?<=[a-z]/)\d+(?=/|$)")  # not the version, which the path begins with
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_CASHTAG = re.compile(r"(?:^|\s)\$[A-Za-z]{1,6}\b")


class XMethods:
    """The calls of X's API v2 over one store."""

    def __init__(self, site: str) -> None:
        self.store = XStore()
        self.oauth = XOAuth(site)
        self.media = XMedia(self.store)
        self.takes_replies = True
        self.has_credits = True
        self.lists_nothing = False
        self.posts_read = 0  # each of which X bills
        self.endpoints: dict[str, tuple[tuple[str, ...], Callable[[Person, ReceivedRequest], Answer]]] = {
            ME: (("tweet.read", "users.read"), self.me),
            TIMELINE: (("tweet.read", "users.read"), self.timeline),
            CREATE: (("tweet.read", "tweet.write", "users.read"), self.create),
            UPLOAD: (("media.write",), self.media.upload),
            STATUS: (("media.write",), self.media.status),
            INITIALIZE: (("media.write",), self.media.initialize),
            APPEND: (("media.write",), self.media.append),
            FINALIZE: (("media.write",), self.media.finalize),
            METADATA: (("media.write",), self.media.describe),
        }

    def perform(self, request: ReceivedRequest) -> Answer:
        """Answer a call of X's API."""
        if call_of(request) not in self.endpoints:
            raise Problem(404, "Not Found", "There is no such call.")
        scopes, endpoint = self.endpoints[call_of(request)]
        access = self.oauth.opened_by(request)
        if access is None:
            raise Problem(401, "Unauthorized", "Unauthorized")
        if not set(scopes) <= set(access.scopes):
            raise forbidden("You are not permitted to perform this action.")
        person = self.store.people[access.person_id]
        if person.suspended:
            raise forbidden("Your account is suspended and is not permitted to access this feature.")
        if not self.has_credits:
            detail = "Your enrolled account does not have any credits to fulfill this request."
            raise Problem(402, "CreditsDepleted", detail, "credits")
        return endpoint(person, request)

    def me(self, person: Person, request: ReceivedRequest) -> Answer:
        """Return the X account that the token belongs to."""
        if unknown := set(request.query.get("user.fields", "").split(",")) - {"", "profile_image_url"}:
            raise invalid("user.fields", "is not one of the known fields", unknown.pop())
        wanted = {"id", "name", "username", *request.query.get("user.fields", "").split(",")}
        return Answer.of_json({"data": {key: value for key, value in person.entity().items() if key in wanted}})

    def timeline(self, person: Person, request: ReceivedRequest) -> Answer:
        """Return the posts of an X account, newest first."""
        query = dict(request.query)
        if unknown := set(query) - {
            "max_results", "exclude", "start_time", "since_id", "tweet.fields", "pagination_token",
        }:  # fmt: skip
            raise invalid(unknown.pop(), "is not a known parameter")
        if query.get("exclude", "retweets") != "retweets":  # `replies` would hide the segments of threads
            raise invalid("exclude", "is not an exclusion that is needed here", query["exclude"])
        limit = int(query.get("max_results", "10"))
        if not 5 <= limit <= 100:
            raise invalid("max_results", "is not between 5 and 100", str(limit))
        found = self._timeline_posts(_id_in(request), query)
        offset = int(query.get("pagination_token", "0"))
        page = found[offset : offset + limit]
        self.posts_read += len(page)
        wanted = set(query.get("tweet.fields", "").split(",")) - {""}
        if unknown := wanted - POST_FIELDS:
            raise invalid("tweet.fields", "is not one of the known fields", unknown.pop())
        meta: dict[str, Any] = {"result_count": len(page)}
        if offset + limit < len(found):
            meta["next_token"] = str(offset + limit)
        data = {"data": [post.entity(wanted) for post in page]} if page else {}
        return Answer.of_json({**data, "meta": meta})

    def _timeline_posts(self, person_id: str, query: dict[str, str]) -> list[Post]:
        posts = [] if self.lists_nothing else list(reversed(self.store.posts_of(self.store.people[person_id])))
        if since_id := query.get("since_id"):
            posts = [post for post in posts if int(post.id) > int(since_id)]
        if start := query.get("start_time"):
            if not _MOMENT.fullmatch(start) or datetime.fromisoformat(start) > datetime.now(UTC):
                raise invalid("start_time", "is not a valid moment of the past", start)
            posts = [post for post in posts if post.made_at >= datetime.fromisoformat(start)]
        return posts

    def create(self, person: Person, request: ReceivedRequest) -> Answer:
        """Create an X post."""
        given = request.json()
        if unknown := set(given) - PROPERTIES:
            raise invalid(unknown.pop(), "is not defined in the schema")
        if not str(given.get("text", "Hello")).strip():
            raise invalid("text", "must not be blank")
        text = str(given.pop("text", ""))
        media = self._attachable(person, given.pop("media", None))
        reply_to = self._replied_to(person, given.pop("reply", None))
        poll = _poll(given.pop("poll", None))
        if poll and media:
            raise invalid("poll", "is mutually exclusive from media")
        _check_properties(given)
        if not text and not media:
            raise invalid("text", "There is neither text nor media.")
        if text and parse_tweet(text).weightedLength > 280:
            raise forbidden("You are not permitted to perform this action.")
        if len(_CASHTAG.findall(text)) > 1:
            raise forbidden("Posts are limited to a maximum of 1 cashtag.")
        if not media and self._is_repeated(person, text):
            raise forbidden("You are not allowed to create a Tweet with duplicate content.")
        post = self.store.add_post(person, text.strip(), media=media, given=given, reply_to=reply_to, poll=poll)
        shown = post.entity({"edit_history_tweet_ids"})
        return Answer.of_json({"data": shown}, 201)

    def _is_repeated(self, person: Person, text: str) -> bool:
        since = datetime.now(UTC) - REPEATED_WITHIN
        return any(
            post.text == text.strip() and not post.media and post.made_at > since for post in self.store.posts_of(person)
        )

    def _attachable(self, person: Person, given: Any) -> list[Upload]:
        if given is None:
            return []
        ids = given.get("media_ids")
        if set(given) != {"media_ids"} or not isinstance(ids, list) or not 1 <= len(ids) <= 4:
            raise invalid("media", "is not a list of one to four ids")
        uploads = [self.store.uploads.get(each) for each in ids]
        found = [each for each in uploads if each and each.owner == person.id and each.attachable]
        moving = any(each.category != "tweet_image" for each in found)
        if len(found) < len(ids) or (moving and len(found) > 1):
            raise invalid("media.media_ids", "Your media IDs are invalid.", ids)
        return found

    def _replied_to(self, person: Person, given: Any) -> str | None:
        if given is None:
            return None
        parent = self.store.posts.get(str(given.get("in_reply_to_tweet_id")))
        if set(given) != {"in_reply_to_tweet_id"} or parent is None:
            raise invalid("reply.in_reply_to_tweet_id", "The Tweet that is replied to is not there.")
        if parent.author is not person or not self.takes_replies:
            raise forbidden("Reply to this conversation is not allowed because you have not been mentioned.")
        return parent.id


def call_of(request: ReceivedRequest) -> str:
    """The method and path of a request to X, such as `POST /2/media/upload/:id/append`."""
    return f"{request.method} {_ID.sub(':id', request.path)}"


def _id_in(request: ReceivedRequest) -> str:
    found = _ID.search(request.path)
    return found[0] if found else ""


def _poll(given: Any) -> dict[str, Any] | None:
    """The poll of an X post, checked by the schema of the call."""
    if given is None:
        return None
    if set(given) != {"options", "duration_minutes"}:
        raise invalid("poll", "is not a poll with options and duration_minutes")
    options, minutes = given["options"], given["duration_minutes"]
    if not isinstance(options, list) or not 2 <= len(options) <= 4:
        raise invalid("poll.options", "is not a list of two to four options")
    if not all(isinstance(option, str) and 1 <= len(option) <= 25 for option in options):
        raise invalid("poll.options", "holds an option that has not 1 to 25 characters", options)
    if not isinstance(minutes, int) or not 5 <= minutes <= 10_080:
        raise invalid("poll.duration_minutes", "is not between 5 and 10080", str(minutes))
    return dict(given)


def _check_properties(given: dict[str, Any]) -> None:
    if given.get("reply_settings", "verified") not in REPLY_SETTINGS:
        raise invalid("reply_settings", "is not one of the known settings", given["reply_settings"])
    for name in ("made_with_ai", "paid_partnership"):
        if not isinstance(given.get(name, False), bool):
            raise invalid(name, "is not a boolean")
