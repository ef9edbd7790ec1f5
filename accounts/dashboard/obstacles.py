"""Sentences for people about why accounts of a platform cannot be connected to this service."""

from __future__ import annotations

from django.conf import settings
from django.utils.text import get_text_list
from django.utils.translation import gettext as _

from accounts.platforms.base import Platform


def connection_obstacle_sentence_or_none(platform: Platform, method: str) -> str | None:
    """Return the sentence that names the settings which a connection method lacks; None if the method is available."""
    if platform.unavailable_reason(method) is None:
        return None
    applications = platform.setup.required_applications_for_method(method)
    missing = [[name for name in each.settings if not settings.PLATFORM_SETTINGS.get(name)] for each in applications]
    alternatives = [get_text_list(names, _("and")) for names in missing]
    return _("The operator of this service has not set %(settings)s.") % {"settings": get_text_list(alternatives, _("or"))}
