"""Texts on the dashboard's media pages: labels of file kinds, durations, sizes, and use of the quota."""

from __future__ import annotations

from django.conf import settings
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

KIND_LABELS = {"image": gettext_lazy("Image"), "gif": "GIF", "video": gettext_lazy("Video"), "document": "PDF"}
KIND_PLURALS = {
    "image": gettext_lazy("Images"),
    "gif": gettext_lazy("GIFs"),
    "video": gettext_lazy("Videos"),
    "document": gettext_lazy("PDFs"),
}


def format_duration(milliseconds: int | None) -> str:
    """Format a media asset's duration in milliseconds for the dashboard, as 1:02:03 or 0:07.5; "" for None."""
    if milliseconds is None:
        return ""
    minutes, rest = divmod(milliseconds, 60_000)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{rest // 1000:02d}" + (f".{rest % 1000 // 100}" if rest % 1000 >= 100 else "")
    return f"{hours}:{minutes:02d}:{seconds}" if hours else f"{minutes}:{seconds}"


def format_size(size: int) -> str:
    """Format a media asset's size in bytes for the dashboard, with decimal units as in 4.7 GB."""
    for unit, step in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= step:
            rounded = round(size / step, 1)
            return f"{number_format(rounded, 0 if rounded.is_integer() else 1)} {unit}"
    return ngettext("%(size)d byte", "%(size)d bytes", size) % {"size": size}


def format_quota_usage(used: int) -> str:
    """Format a media library's use of its quota for the dashboard, such as "1.2 GB of 5 GB used"."""
    allowed = settings.MEDIA_QUOTA_BYTES
    if allowed:
        return _("%(size)s of %(quota)s used") % {"size": format_size(used), "quota": format_size(allowed)}
    return _("%(size)s used") % {"size": format_size(used)}
