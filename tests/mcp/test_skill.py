"""The skill for agents, /skill.md."""

from __future__ import annotations

import re

import pytest
from django.conf import settings
from django.test import Client

from config.mcp.toolset import TOOLS

MAX_CHARACTERS = 6000  # fewer than 2,000 tokens


def test_the_skill_is_served_with_the_address_of_the_service() -> None:
    response = Client().get("/skill.md")
    text = response.content.decode()

    assert response["Content-Type"] == "text/markdown; charset=utf-8"
    assert f"{settings.BASE_URL}/mcp" in text
    assert "YOUR-SERVICE" not in text
    assert re.match(r"---\nname: [a-z-]+\ndescription: .+\n---\n", text)
    assert len(text) < MAX_CHARACTERS


@pytest.mark.parametrize("tool", TOOLS)
def test_the_skill_names_every_tool(tool: str) -> None:
    assert f"`{tool}`" in (settings.BASE_DIR / "docs/skill/SKILL.md").read_text()


def test_other_methods_are_refused() -> None:
    assert Client().post("/skill.md").json()["code"] == "METHOD_NOT_ALLOWED"
