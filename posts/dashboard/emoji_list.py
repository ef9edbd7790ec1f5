"""The emoji that the composer offers, in groups, with their names in Unicode."""

from __future__ import annotations

import unicodedata

from django.utils.translation import gettext_lazy as _

MAX_SEARCH_CHARACTERS = 50
_GROUPS = {
    _(
        "Faces"
    ): "😀 😃 😄 😁 😆 😅 😂 🤣 😊 😇 🙂 🙃 😉 😍 🥰 😘 😋 😜 🤪 🤗 🤭 🤔 🤨 😏 😌 😴 😎 🤓 🥳 😢 😭 😱 😳 😬 🙄 😡 🤯",
    _("Hands and people"): "👍 👎 👏 🙌 🤝 🙏 💪 👋 👌 🤞 👇 👆 👉 👈 👀 🧠 🗣 🙋 🤷 🤦 👩 👨 👪 💃 🏃",
    _("Hearts and signs"): "❤ 🧡 💛 💚 💙 💜 🖤 🤍 💔 💯 ✅ ❌ ⚠ ❓ ❗ ➡ ⬇ ⭐ ✨ ⚡ 🔥 💥 💡 🔔 📌 🔗 🆕 🆓",
    _(
        "Events and things"
    ): "🎉 🎊 🎁 🎂 🎈 🏆 🥇 🎯 🎵 🎤 🎧 🎬 📷 📸 🎥 📣 📢 💬 📝 📅 📖 📚 📊 📈 📉 💰 🛒 💻 📱 ⏰ ⏳ 🔒 🚀",
    _(
        "Nature and food"
    ): "☀ 🌈 ☁ ☔ ❄ 🌊 🌍 🌙 🌱 🌳 🌸 🌹 🌻 🍀 🍂 🐶 🐱 🐻 🦊 🐝 🦋 🍎 🍓 🥕 🍞 🥐 🧀 🍕 🍔 🍰 ☕ 🍵 🍷 🍺",
}


def emoji_groups(words: str = "") -> dict[str, list[tuple[str, str]]]:
    """Return the offered emoji by group, each with its name; with `words`, only those whose name contains every word."""
    wanted = words[:MAX_SEARCH_CHARACTERS].lower().split()
    found = {
        str(group): [(_as_emoji(each), _name(each)) for each in signs.split() if all(word in _name(each) for word in wanted)]
        for group, signs in _GROUPS.items()
    }
    return {group: offered for group, offered in found.items() if offered}


def _name(sign: str) -> str:
    return unicodedata.name(sign).lower()


def _as_emoji(sign: str) -> str:
    """Return a sign as an emoji: some need the variation selector U+FE0F, without which browsers show them as text."""
    return f"{sign}\ufe0f" if ord(sign) < 0x1F000 or sign in "🗣" else sign
