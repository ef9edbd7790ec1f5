"""What `up` prints once the service answers: where to go, and a first post to try."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from django.core.management.base import OutputWrapper

from config.runtime.demo import Demo

NOW = "@NOW@"  # stands for the shell's own clock at the moment of pasting


def print_welcome(stdout: OutputWrapper, demo: Demo | None, *, base_url: str, data_dir: Path) -> None:
    """Write the addresses and, where there is a demo, its sign-in link and a curl line for a first post."""
    places = {"API": base_url, "Contract": f"{base_url}/openapi.json", "Docs": f"{base_url}/docs"}
    places["Dashboard"] = f"{base_url}/dashboard/"
    if demo is not None:
        if demo.sign_in_url:
            places["Dashboard"] = f"{demo.sign_in_url}  (signs you in, once)"
        places |= {"Admin": demo.admin_url, "Keys": str(data_dir / "demo.json")}
    lines = ["", "The service is up. Ctrl-C stops it.", ""]
    lines += [f"  {name:<10} {place}" for name, place in places.items()]
    if demo is not None:
        if demo.note:
            lines += ["", demo.note]
        lines += ["", "Publish a first post to the sandbox:", "", f"  {first_post(demo)}"]
    stdout.write("\n".join([*lines, "", ""]))
    stdout.flush()


def first_post(demo: Demo) -> str:
    """One shell line: a post to the demo's sandbox account, scheduled for now, whose answer comes when it is published."""
    body: dict[str, Any] = {
        "text": "Hello from the sandbox",
        "targets": [{"platform": demo.sandbox_platform, "connected_account_id": demo.sandbox_account_id}],
        "scheduled_at": NOW,
        "wait": True,
    }
    words = [
        *("curl", "-sS", f"{demo.base_url}/posts"),
        *("-H", f"Authorization: Bearer {demo.api_key}"),
        *("-H", "Content-Type: application/json"),
        *("-d", json.dumps(body)),
    ]
    return shlex.join(words).replace(NOW, "'$(date -u +%Y-%m-%dT%H:%M:%SZ)'")
