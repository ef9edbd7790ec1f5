"""The bot's token is in the path of every request and must not be shown anywhere."""

from __future__ import annotations

import logging
import socket
import traceback
from collections.abc import Callable

import pytest
from pytest_django import Settings

from accounts.platforms.errors import PlatformError
from accounts.platforms.telegram.adapter import Telegram
from accounts.platforms.telegram.client import BotApi
from accounts.platforms.types import Grant
from tests.accounts.platforms.telegram.steps import picture, publish
from tests.fakes.http_server import Answer
from tests.fakes.telegram import FakeTelegram, refusal_answer

SECRET = "AAH-"  # how the second half of the stand-in's tokens begins


# Answers that repeat the path of the request.
ECHOES: dict[str, Callable[[str], Answer]] = {
    "refused": lambda path: refusal_answer(400, f"Bad Request: no such place: {path}"),
    "forbidden": lambda path: refusal_answer(403, path),
    "fault": lambda path: refusal_answer(500, path),
    "unreadable": lambda path: Answer(200, path.encode()),
    "elsewhere": lambda path: Answer(302, b"", {"Location": path}),
    "header without a name": lambda path: Answer(200, b"", {"X-First": f"1\r\n{path}"}),
}


def shown(error: BaseException, log: pytest.LogCaptureFixture) -> str:
    """All text of an error that a person may read."""
    action = error.suggested_action if isinstance(error, PlatformError) else ""
    chain = "".join(traceback.format_exception(error))
    return f"{error!r} {action} {chain} {log.text}"


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
@pytest.mark.parametrize("verb", ["connect", "identify", "publish", "upload"])
def test_no_error_shows_the_token(
    telegram: Telegram,
    server: FakeTelegram,
    grant: Grant,
    token: str,
    caplog: pytest.LogCaptureFixture,
    echo: Callable[[str], Answer],
    verb: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    for call in ("getChat", "sendMessage", "sendPhoto"):
        server.refuse_next(call, echo(f"/bot{token}/{call}"))

    with pytest.raises(PlatformError) as caught:
        {
            "connect": lambda: telegram.connect_with_credentials(grant.credentials),
            "identify": lambda: telegram.check_and_identify(grant),
            "publish": lambda: publish(telegram, grant, "Hello"),
            "upload": lambda: publish(telegram, grant, "Hello", picture()),
        }[verb]()

    assert SECRET in token
    assert SECRET not in shown(caught.value, caplog)


@pytest.mark.parametrize("base", ["http://127.0.0.1:{}", "https://10.0.0.1", "api.telegram.org", "https://a b"])
def test_no_address_that_cannot_be_reached_shows_the_token(
    telegram: Telegram, grant: Grant, settings: Settings, caplog: pytest.LogCaptureFixture, base: str
) -> None:
    caplog.set_level(logging.DEBUG)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        settings.PLATFORM_SETTINGS = {"TELEGRAM_API_BASE": base.format(unused.getsockname()[1])}

        with pytest.raises(PlatformError) as caught:
            publish(telegram, grant, "Hello")

    assert SECRET not in shown(caught.value, caplog)


def test_no_repr_shows_the_token(telegram: Telegram, grant: Grant) -> None:
    token = grant.credentials["bot_token"]

    assert token not in repr(BotApi("https://api.telegram.org", token))
    assert token not in repr(grant)
    assert token not in str(grant.tokens)
