"""The marks of platforms on pages: the icons of Font Awesome Free (CC BY 4.0) in the platforms' colours, as inline SVG."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from django.forms.utils import flatatt
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from accounts.platforms.base import Platform
from accounts.platforms.registry import PLATFORMS, get_adapter, platform_label

ICONS = files("fontawesomefree") / "static/fontawesomefree/svgs/brands"


@cache
def platform_mark_sprite(names: tuple[str, ...]) -> SafeString:
    """Return an invisible SVG with the marks (icons) of these platforms, for pages that show each of them many times.

    `platform_mark_from_sprite` then shows a mark.
    """
    symbols = ((name, _colour(name), _glyph(name)) for name in names)
    drawn = format_html_join(
        "",
        '<symbol id="mark-{}" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="{}"></rect>{}</symbol>',
        symbols,
    )
    return format_html('<svg width="0" height="0" class="out-of-sight" aria-hidden="true">{}</svg>', drawn)


@cache
def platform_mark_from_sprite(name: str, *, beside_label: bool = False) -> SafeString:
    """Return a platform's mark as SVG that uses the page's icon sprite; screen readers read it like `platform_mark`."""
    mark = '<svg class="platform-mark" width="20" height="20"{}><use href="#mark-{}"></use></svg>'
    return format_html(mark, _spoken(name, beside_label), name)


@cache
def platform_mark(name: str, *, beside_label: bool = False) -> SafeString:
    """Return a platform's mark (icon) as SVG for a page: its logo or, without a logo, the first letter of its name.

    Screen readers read the platform's name, unless the mark is `beside_label`, which has the same words.
    """
    return format_html(
        '<svg class="platform-mark" viewBox="0 0 32 32" width="20" height="20"{}>'
        '<rect width="32" height="32" rx="8" fill="{}"></rect>{}</svg>',
        _spoken(name, beside_label),
        _colour(name),
        _glyph(name),
    )


def _spoken(name: str, beside_label: bool) -> SafeString:
    return flatatt({"aria-hidden": "true"} if beside_label else {"role": "img", "aria-label": platform_label(name)})


def _colour(name: str) -> str:
    return get_adapter(name).colour if name in PLATFORMS else Platform.colour


def _glyph(name: str) -> SafeString:
    """Return the SVG of the white icon in a platform's mark, or of the first letter of its name if it has no icon."""
    icon = get_adapter(name).icon if name in PLATFORMS else ""
    if not icon:
        letter = platform_label(name)[:1]
        return format_html(
            '<text x="16" y="22.5" fill="#fff" font-size="18" font-weight="700" text-anchor="middle">{}</text>', letter
        )
    drawing = (ICONS / f"{icon}.svg").read_text()
    [view_box] = re.findall(r' viewBox="([^"]+)"', drawing)
    return format_html(
        '<svg x="6.5" y="6.5" width="19" height="19" viewBox="{}"><path fill="#fff" d="{}"></path></svg>',
        view_box,
        " ".join(re.findall(r' d="([^"]+)"', drawing)),
    )
