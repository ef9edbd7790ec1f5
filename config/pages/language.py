"""The language of pages and e-mails: the middleware that chooses it, and dates and money in it. The API is in English."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import dateformat, translation
from django.utils.cache import patch_vary_headers
from django.utils.formats import number_format
from django.utils.translation import gettext

CONSOLE_PATH = "/admin/"
# The first parts of the paths of pages; the pages of the API's document stay in English.
# The service worker names the language of the page that it keeps.
PAGE_PATH_PREFIXES = (CONSOLE_PATH, "/dashboard/", "/oauth/authorize", "/oauth/device", "/service-worker.js")
# How Django's date patterns continue after a day of the month: "24. November 2026", "24 de noviembre de 2026".
DATE_PATTERNS = {
    "de": (("j M", "j. M"), ("j F", "j. F")),
    "es": (("j F", r"j \d\e F"), ("F Y", r"F \d\e Y")),
}


def console_path_if_in_console(request: HttpRequest) -> str:
    """Return the path of the operators' console if the requested page belongs to it, otherwise an empty string."""
    return CONSOLE_PATH if request.path.startswith(CONSOLE_PATH) else ""


class PageLanguageMiddleware:
    """The middleware that shows pages in the signed-in person's language, or in that of the Accept-Language header.

    It reads the person only where a session is read anyway, and must run before messages are stored.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path_info.startswith(PAGE_PATH_PREFIXES):
            return self.get_response(request)
        language = _language_of_person(request) or translation.get_language_from_request(request)
        with translation.override(language):
            response = self.get_response(request)
        if response.headers.get("Content-Type", "").startswith("text/html"):
            response.headers.setdefault("Content-Language", language)
            patch_vary_headers(response, ("Accept-Language",))
        return response


def use_language_of(person: Any) -> AbstractContextManager[None]:
    """Return a context manager in which texts are in a person's own language; without one, they are in English."""
    return translation.override(person.language or settings.LANGUAGE_CODE)


def format_date(at: date | datetime, pattern: str) -> str:
    """Return a date or time by a pattern of Django's, such as "j M Y, H:i", in the language of the page."""
    for english, own in DATE_PATTERNS.get(translation.get_language() or "", ()):
        pattern = pattern.replace(english, own)
    return dateformat.format(at, pattern)


def format_us_dollars(cents: int) -> str:
    """Format US dollars in the language of a page or e-mail, such as $1,234.50 in English and 1.234,50 $ in German."""
    amount = number_format(Decimal(abs(cents)) / 100, 2, force_grouping=True)
    return ("−" if cents < 0 else "") + gettext("$%(amount)s") % {"amount": amount}


def _language_of_person(request: HttpRequest) -> str:
    if settings.SESSION_COOKIE_NAME not in request.COOKIES:
        return ""
    return getattr(request.user, "language", "")
