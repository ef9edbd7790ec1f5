"""Generator of docs/platforms.md, which lists each platform's limits and what the operator registers there.

All content comes from the declarations of the platform adapters, so that the page always matches them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from accounts.dashboard.capabilities_in_words import capabilities_in_words
from accounts.platforms.base import Platform
from accounts.platforms.operator_setup import OAUTH, PlatformApplication
from accounts.platforms.registry import all_adapters

INTRODUCTION = """\
# Platforms

What each platform takes, what is not possible there, and what the operator of the service registers where. All of it comes
from the adapters: `python manage.py platforms_page > docs/platforms.md` makes this page, and a test compares the two.

What each setting means stands in [README, Settings](../README.md#settings). Some limits differ by account, since a Mastodon
server announces its own: `GET /accounts/{id}/capabilities` tells those of one account.
"""


def platforms_markdown() -> str:
    """Return the Markdown content of docs/platforms.md, which describes all platforms."""
    return "\n".join([INTRODUCTION, *_overview(), *(line for made in all_adapters() for line in _section(made))])


def _overview() -> Iterator[str]:
    yield "| platform | accounts are connected by | the operator registers |"
    yield "|---|---|---|"
    for made in all_adapters():
        registered = ", ".join(f"an application for {each.connects}" for each in made.setup.applications) or "nothing"
        yield f"| [{made.label}](#{made.label.lower()}) | {' or '.join(map(_method, made.methods))} | {registered} |"
    yield ""


def _section(made: Platform) -> Iterator[str]:
    yield f"## {made.label}\n"
    yield "**What a post may hold**\n\n| | |\n|---|---|"
    yield from (f"| {name} | {words} |" for name, words in capabilities_in_words(made.capabilities))
    yield "\n**What is not possible**\n"
    yield from (f"- {sentence}" for sentence in made.capabilities.not_possible)
    yield "\n**What the owner of an account brings**\n"
    yield from (f"- By {_method(method)}: {brings}" for method, brings in made.setup.owner_brings.items())
    yield "\n**What the operator registers**\n"
    if not made.setup.applications:
        yield "Nothing, and there is nothing to set.\n"
    for application in made.setup.applications:
        yield from _application(application)


def _application(application: PlatformApplication) -> Iterator[str]:
    yield f"An application for {application.connects}, at <{application.portal}>. It needs:\n"
    yield from (f"- {product}" for product in application.products)
    yield ""
    rows = [
        ("Redirect address", f"`<BASE_URL>{application.redirect_path}`"),
        ("Scopes", _names(application.scopes)),
        ("Settings", _names(application.settings)),
        ("Further settings", _names(application.more_settings)),
        ("Review", application.review),
        ("Without the review", application.without_review),
        ("Costs and limits", " ".join(application.notes)),
    ]
    yield "| | |\n|---|---|"
    yield from (f"| {name} | {words} |" for name, words in rows if words)
    yield ""


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _method(method: str) -> str:
    return "OAuth" if method == OAUTH else method
