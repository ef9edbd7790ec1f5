"""The view of /skill.md, a text that teaches agents how to use the service."""

from __future__ import annotations

from functools import lru_cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from config.api.views import require_safe_with_json_error

SKILL = "docs/skill/SKILL.md"


@require_safe_with_json_error
def skill(request: HttpRequest) -> HttpResponse:
    """View: the skill, a Markdown text that teaches agents to use this service, with its address; needs no token."""
    text = _skill_text(settings.BASE_URL)
    return HttpResponse(text, content_type="text/markdown; charset=utf-8", headers={"Cache-Control": "max-age=60"})


skill.for_programs = True  # type: ignore[attr-defined]  # without sessions and CSRF checks (config/pages/api_or_page.py)


@lru_cache(maxsize=1)
def _skill_text(base_url: str) -> str:
    return (settings.BASE_DIR / SKILL).read_text(encoding="utf-8").replace("https://YOUR-SERVICE", base_url)
