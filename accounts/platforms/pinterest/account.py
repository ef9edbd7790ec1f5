"""Pinterest accounts and their boards. Source: github.com/pinterest/api-description 5.23."""

from __future__ import annotations

import re
from collections.abc import Iterator

from accounts.platforms.errors import ContentRejected
from accounts.platforms.http.responses import UnreadableAnswer, https_url, objects_in, one_line, text_in
from accounts.platforms.pinterest.client import ERRORS, Api, id_of
from accounts.platforms.types import Identity

SITE = "https://www.pinterest.com"
PAGE, MAX_BOARDS = 250, 2000
MAX_LISTED_BOARDS = 10  # maximum number in an error message
_USERNAME = re.compile(r"[A-Za-z0-9_]{1,100}")
_BOARD_ID = re.compile(r"[0-9]{10,32}")  # fewer digits are a name, such as 2026


def identity(api: Api) -> Identity:
    """The Pinterest account of the access token. Raises PinterestError, NotSent, NoAnswer."""
    user = api.get("/user_account")
    username = text_in(user, "username", _USERNAME, "user name")
    return Identity(
        external_id=id_of(user),
        handle=username,
        display_name=one_line(user.get("business_name")) or username,
        avatar_url=https_url(user.get("profile_image")),
        profile_url=f"{SITE}/{username}/",
    )


def board_id(api: Api, board: str) -> str:
    """The id of a board of the Pinterest account, from the board's name or id.

    Raises ContentRejected, which names the existing boards, and platform errors.
    """
    if _BOARD_ID.fullmatch(board):
        return board
    with ERRORS.platform_errors():
        boards = list(_boards(api))
    for name, found in boards:
        if name == board.strip():
            return found
    names = ", ".join(name for name, _ in boards[:MAX_LISTED_BOARDS]) or "none"
    more = f" and {len(boards) - MAX_LISTED_BOARDS} more" if len(boards) > MAX_LISTED_BOARDS else ""
    raise ContentRejected(f"The account has no board of this name; it has {names}{more}.")


def _boards(api: Api) -> Iterator[tuple[str, str]]:
    """The names and ids of the Pinterest account's boards."""
    params = {"page_size": str(PAGE)}
    for _ in range(MAX_BOARDS // PAGE):
        page = api.get("/boards", params)
        items = page.get("items")
        if not isinstance(items, list):
            raise UnreadableAnswer("The response is not a list of boards.")
        yield from ((one_line(each.get("name")), id_of(each)) for each in objects_in(items))
        if not page.get("bookmark"):
            return
        params["bookmark"] = str(page["bookmark"])
