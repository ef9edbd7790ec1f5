"""The data of the LinkedIn stand-in: members, pages with roles, uploads, posts, comments; and reading a commentary.

Sources: learn.microsoft.com/linkedin (Posts, Images, Videos, Documents APIs; little text format: reserved characters and
elements). That a bare reserved character ends the text without an error is what clients report.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.fakes.http_server import Answer

_NEXT = re.compile(
    r"\\(?P<escaped>[\\|{}@\[\]()<>#*_~])"
    r"|\{hashtag\|\\?(?P<sign>[#\uFF03])\|(?P<tag>(?:\\.|[^\\|{}])+)\}"
    r"|@\[(?P<name>(?:\\.|[^\\\[\]])+)\]\((?P<urn>urn:li:(?:person|organization):[\w-]+)\)"
    r"|#(?P<hashtag>\w+)"
    r"|(?P<plain>[^\\|{}@\[\]()<>#*_~])",
    re.DOTALL,
)


class Refusal(Exception):
    """An error response of LinkedIn; `code` is its name, `more` has further fields."""

    def __init__(self, status: int, message: str, code: str = "", **more: Any) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"status": status, "message": message, **({"code": code} if code else {}), **more}

    def answer(self) -> Answer:
        """The refusal as HTTP."""
        return Answer.of_json(self.body, self.status)


@dataclass
class Member:
    """A LinkedIn member; `roles` at pages by their number."""

    id: str
    name: str
    roles: dict[str, tuple[str, str]] = field(default_factory=dict)  # page: (role, state)

    @property
    def urn(self) -> str:
        return f"urn:li:person:{self.id}"


@dataclass
class Upload:
    """A file uploaded to LinkedIn; `checks_left`: checks until it is processed; `parts`: its parts by their first byte."""

    urn: str
    owner: str
    collection: str
    size: int | None
    token: str = ""
    parts: dict[int, bytes] = field(default_factory=dict)
    whole: bool = False
    checks_left: int = 0
    failure: str = ""

    @property
    def content(self) -> bytes:
        return b"".join(self.parts[first] for first in sorted(self.parts))

    @property
    def status(self) -> str:
        if not self.whole:
            return "WAITING_UPLOAD"
        return "PROCESSING" if self.checks_left else "PROCESSING_FAILED" if self.failure else "AVAILABLE"


@dataclass
class Post:
    """A post that LinkedIn accepted: its text as readers see it, with its hashtags and mentions."""

    urn: str
    author: str
    text: str
    elements: list[tuple[str, str]]
    visibility: str
    content: dict[str, Any]
    uploads: list[Upload]
    made_at: datetime
    comments: list[tuple[str, str]] = field(default_factory=list)  # (actor, text)


class LinkedInStore:
    """All data of the LinkedIn stand-in, by id."""

    def __init__(self) -> None:
        self.members: dict[str, Member] = {}
        self.pages: dict[str, dict[str, str]] = {}
        self.uploads: dict[str, Upload] = {}
        self.posts: dict[str, Post] = {}
        self._numbers = itertools.count(7_398_000_000_000_000_001)

    def new_number(self) -> int:
        return next(self._numbers)

    def member(self, name: str) -> Member:
        return next(each for each in self.members.values() if each.name == name)

    def add_post(self, author: str, text: str, **properties: Any) -> Post:
        kind = "ugcPost" if any(each.collection == "videos" for each in properties["uploads"]) else "share"
        urn = f"urn:li:{kind}:{self.new_number()}"
        shown, elements = read_commentary(text)
        post = Post(urn, author, shown, elements, made_at=datetime.now(UTC), **properties)
        self.posts[urn] = post
        return post


def read_commentary(given: str) -> tuple[str, list[tuple[str, str]]]:
    """The commentary as readers see it, up to the first reserved character that is not escaped, and its elements."""
    shown, elements, position = "", [], 0
    while found := _NEXT.match(given, position):
        position = found.end()
        if found["plain"] or found["escaped"]:
            shown += found["plain"] or found["escaped"]
        elif found["urn"]:
            shown += _bare(found["name"])
            elements.append(("mention", found["urn"]))
        else:
            tag = _bare(found["tag"] or found["hashtag"])
            shown += (found["sign"] or "#") + tag
            elements.append(("hashtag", tag))
    return shown, elements


def _bare(escaped: str) -> str:
    return re.sub(r"\\(.)", r"\1", escaped)
