"""The URL routes of the Model Context Protocol endpoint, and of the skill that teaches agents to use it."""

from __future__ import annotations

from django.urls import path

from config.mcp.skill import skill
from config.mcp.views import mcp

urlpatterns = [
    path("mcp", mcp, name="mcp"),
    path("skill.md", skill, name="skill"),
]
