"""The check of the blocks of a message to the stand-in of Slack.

Written from docs.slack.dev, Block Kit: header, section, actions and context blocks, button elements and text objects.
"""

from __future__ import annotations

from typing import Any

MAX_BLOCKS, MAX_ELEMENTS, MAX_URL = 50, 25, 3000
TEXT_LIMITS = {"header": 150, "section": 3000, "context": 3000, "button": 75}


def are_valid_blocks(blocks: Any) -> bool:
    """Whether Slack accepts these blocks; it accepts more kinds than this."""
    if not isinstance(blocks, list) or not 1 <= len(blocks) <= MAX_BLOCKS:
        return False
    actions = [
        element.get("action_id") for block in blocks for element in block.get("elements", []) if "action_id" in element
    ]
    return len(set(actions)) == len(actions) and all(_is_valid_block(block) for block in blocks)


def _is_valid_block(block: dict[str, Any]) -> bool:
    kind, elements = block.get("type"), block.get("elements", [])
    if kind in ("header", "section"):
        return _is_valid_text(block.get("text"), TEXT_LIMITS[kind])
    if kind == "context":
        return bool(elements) and all(_is_valid_text(element, TEXT_LIMITS[kind]) for element in elements)
    return kind == "actions" and 1 <= len(elements) <= MAX_ELEMENTS and all(map(_is_valid_button, elements))


def _is_valid_button(element: dict[str, Any]) -> bool:
    return (
        element.get("type") == "button"
        and _is_valid_text(element.get("text"), TEXT_LIMITS["button"])
        and element.get("style", "primary") in ("primary", "danger")
        and element.get("url", "").startswith(("http://", "https://"))
        and len(element["url"]) <= MAX_URL
    )


def _is_valid_text(value: Any, limit: int) -> bool:
    return isinstance(value, dict) and value.get("type") == "plain_text" and 1 <= len(value.get("text", "")) <= limit
