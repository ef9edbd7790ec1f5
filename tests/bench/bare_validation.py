"""POST /posts/validate without framework and authentication: a WSGI view around the service's own function.

What it costs less than the API's operation is what routing, authentication, rate limit, strict serializers and rendering
cost. It serves whoever asks, so it is for the benchmark alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from accounts.platforms.issues import Issue  # noqa: E402
from config.api.caller import system_caller  # noqa: E402
from posts.content import PostInput  # noqa: E402
from posts.services import validate_post  # noqa: E402


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Validate the posted body, whatever the path and method (WSGI application)."""
    length = int(environ.get("CONTENT_LENGTH") or 0)
    content = json.dumps(_validated(json.loads(environ["wsgi.input"].read(length)))).encode() if length else b""
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(content)))])
    return [content]


def _validated(body: dict[str, Any]) -> dict[str, Any]:
    result = validate_post(caller=system_caller(body["workspace_id"]), post=PostInput.from_request(body))
    return {
        "valid": result.valid,
        "estimated_cost_cents": result.estimated_cost_cents,
        "issues": [_shown(issue) for issue in result.issues],
        "targets": [
            {
                "platform": target.target.account.platform,
                "connected_account_id": target.target.account.id,
                "valid": target.valid,
                "text_length": target.text_length,
                "text_limit": target.target.text_limit,
                "link_card_url": target.target.link_card_url,
                "poll": target.target.poll,
                "issues": [_shown(issue) for issue in target.issues],
            }
            for target in result.targets
        ],
    }


def _shown(issue: Issue) -> dict[str, Any]:
    return issue.as_json()
