"""Describes a User-Agent header for people, such as "Firefox on Windows". Only for display."""

from __future__ import annotations

# (part of the header, name). The first match counts, because most browsers also name older ones in the header.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Firefox", "Firefox"),
    ("FxiOS", "Firefox"),
    ("CriOS", "Chrome"),
    ("Chrome", "Chrome"),
    ("Safari", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


def describe_user_agent(user_agent: str) -> str:
    """Return browser and system of a User-Agent header, such as "Firefox on Windows"."""
    browser = next((words for part, words in _BROWSERS if part in user_agent), "")
    system = next((words for part, words in _SYSTEMS if part in user_agent), "")
    if browser and system:
        return f"{browser} on {system}"
    return browser or system or "Unknown browser"
