"""The data of the Mastodon stand-in: accounts, tokens, uploads and statuses, with their entities in the API.

Source: docs.joinmastodon.org, entities/Account, MediaAttachment, Status.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.fakes.mastodon_polls import Poll
from tests.fakes.mastodon_text import rendered

FIRST_ID = 115_000_000_000_000_000


@dataclass
class Person:
    """A Mastodon account with its tokens, their scopes and the default visibility of its statuses.

    `host` is the other server at which it lives; empty for an account of the stand-in.
    """

    id: str
    username: str
    host: str = ""
    tokens: dict[str, frozenset[str]] = field(default_factory=dict)
    disabled: bool = False
    visibility: str | None = "public"


@dataclass
class Upload:
    """A media attachment of the Mastodon stand-in. `checks_left`: how many status checks still find it unprocessed."""

    id: str
    owner: str
    kind: str
    mime_type: str
    content: bytes
    description: str | None
    checks_left: int = 0
    failed: bool = False
    status_id: str | None = None


@dataclass
class Status:
    """A status that the Mastodon stand-in has accepted."""

    id: str
    owner: str
    text: str
    spoiler_text: str = ""
    visibility: str = "public"
    sensitive: bool = False
    language: str | None = "en"
    media: list[str] = field(default_factory=list)
    poll: Poll | None = None
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    edited_at: datetime | None = None
    in_reply_to_id: str | None = None
    reblog_of: str | None = None
    idempotency_key: str | None = None


class MastodonStore:
    """The rows of the Mastodon stand-in by their ids, in order of creation."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.people: dict[str, Person] = {}
        self.remote: list[Person] = []  # accounts of other servers
        self.uploads: dict[str, Upload] = {}
        self.statuses: dict[str, Status] = {}
        self._ids = itertools.count(FIRST_ID)

    def new_id(self) -> str:
        """A new id of the Mastodon stand-in: text that grows over time, as snowflakes do."""
        return str(next(self._ids))

    def add_person(self, username: str) -> Person:
        person = Person(self.new_id(), username)
        self.people[person.id] = person
        return person

    def person(self, username: str) -> Person:
        return next(person for person in self.people.values() if person.username == username)

    def owner_of(self, token: str) -> Person | None:
        return next((person for person in self.people.values() if token in person.tokens), None)

    def add_status(self, owner: Person, text: str, **fields: Any) -> Status:
        status = Status(self.new_id(), owner.id, text, **fields)
        self.statuses[status.id] = status
        for identifier in status.media:
            self.uploads[identifier].status_id = status.id
        return status

    def statuses_of(self, owner: str) -> list[Status]:
        return [status for status in self.statuses.values() if status.owner == owner]

    # entities

    def account_entity(self, person: Person) -> dict[str, Any]:
        return {
            "id": person.id,
            "username": person.username,
            "acct": f"{person.username}@{person.host}" if person.host else person.username,
            "display_name": person.username.capitalize(),
            "locked": False,
            "bot": False,
            "created_at": "2024-01-01T00:00:00.000Z",
            "note": "<p></p>",
            "url": f"{self.origin}/@{person.username}",
            "avatar": f"{self.origin}/avatars/original/missing.png",
            "avatar_static": f"{self.origin}/avatars/static/missing.png",
            "followers_count": 0,
            "following_count": 0,
            "statuses_count": len(self.statuses_of(person.id)),
            "emojis": [],
            "fields": [],
        }

    def upload_entity(self, upload: Upload) -> dict[str, Any]:
        ready = upload.checks_left == 0
        return {
            "id": upload.id,
            "type": upload.kind,
            "url": f"{self.origin}/media_attachments/files/{upload.id}" if ready else None,
            "preview_url": f"{self.origin}/media_attachments/small/{upload.id}",
            "remote_url": None,
            "meta": {},
            "description": upload.description,
            "blurhash": None,
        }

    def status_entity(self, status: Status) -> dict[str, Any]:
        owner = self.people[status.owner]
        url = f"{self.origin}/@{owner.username}/{status.id}"
        return {
            "id": status.id,
            "created_at": _moment(status.created_at),
            "edited_at": _moment(status.edited_at),
            "in_reply_to_id": status.in_reply_to_id,
            "in_reply_to_account_id": None,
            "sensitive": status.sensitive,
            "spoiler_text": status.spoiler_text,
            "visibility": status.visibility,
            "language": status.language,
            "uri": f"{self.origin}/users/{owner.username}/statuses/{status.id}",
            "url": url,
            "replies_count": 0,
            "reblogs_count": 0,
            "favourites_count": 0,
            "content": rendered(status.text, self.profiles(), self.origin),
            "reblog": self.status_entity(self.statuses[status.reblog_of]) if status.reblog_of else None,
            "application": {"name": "Service", "website": None},
            "account": self.account_entity(owner),
            "media_attachments": [self.upload_entity(self.uploads[identifier]) for identifier in status.media],
            "mentions": [],
            "tags": [],
            "emojis": [],
            "card": None,
            "poll": status.poll.entity(status.id) if status.poll else None,
        }

    def profiles(self) -> Mapping[str, str]:
        """The accounts that can be mentioned: those of the Mastodon stand-in, and bob@remote.example."""
        here = {person.username: f"{self.origin}/@{person.username}" for person in self.people.values()}
        return {**here, "bob@remote.example": "https://remote.example/@bob"}


def _moment(moment: datetime | None) -> str | None:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z") if moment else None
