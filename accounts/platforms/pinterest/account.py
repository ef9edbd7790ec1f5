"""An account at Pinterest: whose it is, and which boards it has. Source: github.com/pinterest/api-description 5.23."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from accounts.platforms.errors import ContentRejected
from accounts.platforms.http.responses import UnreadableAnswer, https_url, safe_line, text_in
from accounts.platforms.pinterest.client import ERRORS, Api, id_of
from accounts.platforms.types import Identity

SITE = "https://www.pinterest.com"
PAGE, MAX_BOARDS = 250, 2000
TOLD_BOARDS = 10
_USERNAME = re.compile(r"[A-Za-z0-9_]{1,100}")
_BOARD_ID = re.compile(r"[0-9]{10,32}")  # fewer digits are a name, such as 2026


def identity(api: Api) -> Identity:
    """Whose access token it is. Raises PinterestError, NotSent, NoAnswer."""
    user = api.get("/user_account")
    username = text_in(user, "username", _USERNAME, "user name")
    return Identity(
        external_id=id_of(user),
        handle=username,
        display_name=safe_line(user.get("business_name")) or username,
        avatar_url=https_url(user.get("profile_image")),
        profile_url=f"{SITE}/{username}/",
    )


def board_id(api: Api, board: str) -> str:
    """The id of the account's board that is meant, by its name or as its id. Raises ContentRejected, which names boards that
    there are, and platform errors."""
    if _BOARD_ID.fullmatch(board):
        return board
    with ERRORS.platform_errors():
        boards = list(_boards(api))
    for name, found in boards:
        if name == board.strip():
            return found
    names = ", ".join(name for name, _ in boards[:TOLD_BOARDS])
    more = f" and {len(boards) - TOLD_BOARDS} more" if len(boards) > TOLD_BOARDS else ""
    there = f"it has {names}{more}" if boards else "it has none"
    raise ContentRejected(f"The account has no board of this name; {there}.")


def _boards(api: Api) -> Iterator[tuple[str, str]]:
    """The names and ids of the account's boards."""
    params = {"page_size": str(PAGE)}
    for _ in range(MAX_BOARDS // PAGE):
        page = api.get("/boards", params)
        items: Any = page.get("items")
        if not isinstance(items, list):
            raise UnreadableAnswer("The answer is no list of boards.")
        yield from ((safe_line(each.get("name")), id_of(each)) for each in items if isinstance(each, dict))
        if not page.get("bookmark"):
            return
        params["bookmark"] = str(page["bookmark"])
