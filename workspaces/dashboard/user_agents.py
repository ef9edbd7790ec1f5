"""A browser in words, by its User-Agent header; for people who look at their sessions, not for decisions."""

from __future__ import annotations

# What the header contains, and what that means. The first that fits counts: most browsers also name the ones before them.
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


def in_words(user_agent: str) -> str:
    """Such as "Firefox on Windows"."""
    browser = next((words for part, words in _BROWSERS if part in user_agent), "")
    system = next((words for part, words in _SYSTEMS if part in user_agent), "")
    if browser and system:
        return f"{browser} on {system}"
    return browser or system or "Unknown browser"
