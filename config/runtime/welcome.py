"""The text that `manage.py up` prints when the service is ready: its URLs and a first post to try."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from django.core.management.base import OutputWrapper

from config.runtime.demo import Demo

NOW_PLACEHOLDER = "@NOW_PLACEHOLDER@"  # replaced by a call of `date` in the shell command


def print_welcome(stdout: OutputWrapper, demo: Demo | None, *, base_url: str, data_dir: Path) -> None:
    """Print the service's URLs and, for a demo, its sign-in link and a curl command for a first post."""
    places = {"API": base_url, "Contract": f"{base_url}/openapi.json", "Docs": f"{base_url}/docs"}
    places["Dashboard"] = f"{base_url}/dashboard/"
    if demo is not None:
        if demo.sign_in_url:
            places["Dashboard"] = f"{demo.sign_in_url}  (signs you in, once)"
        places |= {"Admin": demo.admin_url, "Keys": str(data_dir / "demo.json")}
    lines = ["", "The service is running. Press Ctrl-C to stop it.", ""]
    lines += [f"  {name:<10} {place}" for name, place in places.items()]
    if demo is not None:
        if demo.note:
            lines += ["", demo.note]
        lines += ["", "Publish a first post to the sandbox:", "", f"  {first_post_command(demo)}"]
    stdout.write("\n".join([*lines, "", ""]))
    stdout.flush()


def first_post_command(demo: Demo) -> str:
    """Return a curl command that publishes a post to the demo's sandbox account and waits for the result."""
    body: dict[str, Any] = {
        "text": "Hello from the sandbox",
        "targets": [{"platform": demo.sandbox_platform, "connected_account_id": demo.sandbox_account_id}],
        "scheduled_at": NOW_PLACEHOLDER,
        "wait": True,
    }
    words = [
        *("curl", "-sS", f"{demo.base_url}/posts"),
        *("-H", f"Authorization: Bearer {demo.api_key}"),
        *("-H", "Content-Type: application/json"),
        *("-d", json.dumps(body)),
    ]
    return shlex.join(words).replace(NOW_PLACEHOLDER, "'$(date -u +%Y-%m-%dT%H:%M:%SZ)'")
