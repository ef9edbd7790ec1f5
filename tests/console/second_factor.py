"""An operator's sign-in with a second factor, as a browser goes through it."""

from __future__ import annotations

import base64
import re
from typing import Any

from django.test import Client
from django_otp.oath import totp

PASSWORD = "correct horse battery staple"
LOGIN, CODE, SET_UP = "/admin/login/", "/admin/second-factor/", "/admin/second-factor/set-up/"
INSIDE = "/admin/workspaces/workspace/"
RECOVERY_CODE = re.compile(r"[a-z2-7]{4}(?:-[a-z2-7]{4}){3}")


def give_password(browser: Client, password: str = PASSWORD, next_page: str = INSIDE) -> Any:
    return browser.post(LOGIN, {"username": "operator", "password": password, "next": next_page})


def shown_key(browser: Client) -> bytes:
    """The key that the set-up page shows as text."""
    found = re.search(r'class="key">([A-Z2-7 ]+)<', browser.get(SET_UP).content.decode())
    assert found
    return base64.b32decode(found[1].replace(" ", ""))


def code_of(key: bytes) -> str:
    return f"{totp(key):06d}"


def give_code(browser: Client, code: str, address: str = CODE) -> Any:
    return browser.post(address, {"code": code})


def set_up(browser: Client) -> tuple[bytes, list[str]]:
    """Go through the first sign-in; the key, and the recovery codes."""
    give_password(browser)
    key = shown_key(browser)
    page = give_code(browser, code_of(key), SET_UP)
    assert page.status_code == 200, page.content
    return key, RECOVERY_CODE.findall(page.content.decode())


def is_inside(browser: Client) -> bool:
    return browser.get(INSIDE).status_code == 200
