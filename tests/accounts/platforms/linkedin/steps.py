"""Connecting LinkedIn accounts, posts for them, and error responses of LinkedIn."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from accounts.platforms.linkedin.adapter import LinkedIn
from accounts.platforms.types import AuthorizedAccount, Content, MediaFile
from tests.accounts.platforms.contract.world import redirect_uri
from tests.fakes.http_server import Answer
from tests.fakes.linkedin import FakeLinkedIn

MEMBER, PAGE = "urn:li:person:m0-X_z", "urn:li:organization:2414183"


def connect(
    server: FakeLinkedIn, kind: str, name: str = "Alice", scopes: Iterable[str] | None = None
) -> tuple[AuthorizedAccount, ...]:
    """The accounts of a person who chooses this kind and grants everything, or these scopes."""
    authorization = LinkedIn().begin_oauth(state="state-1", redirect_uri=redirect_uri(), given={"kind": kind})
    code = server.grant(authorization.url, name, scopes)
    stored = json.loads(json.dumps(dict(authorization.stored)))
    return LinkedIn().exchange_code_for_accounts(code=code, redirect_uri=redirect_uri(), stored=stored)


def post(text: str = "Hello", *media: MediaFile, **options: Any) -> Content:
    """The content of a LinkedIn post."""
    return Content("tgt_1", text, options, media=media)


def error(status: int, message: str = "no", code: str = "", **more: Any) -> Answer:
    """An error response of LinkedIn's API."""
    return Answer.of_json({"status": status, "message": message, **({"code": code} if code else {}), **more}, status)
