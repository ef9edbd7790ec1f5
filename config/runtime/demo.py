"""The demo data of the first `manage.py up`: a user, a workspace with sandbox accounts, an API key; the welcome text.

`manage.py up` prints the welcome text when the service is ready: its URLs and a first post to try.
"""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.core.management.base import OutputWrapper
from django.db import transaction

from accounts.models import ConnectedAccount
from agents.services import issue_key
from agents.tokens import new_development_user_token
from config.api.caller import Caller
from config.api.scopes import SCOPES
from workspaces.models import User
from workspaces.services import create_workspace

DEMO_FILE = "demo.json"
NOW_PLACEHOLDER = "@NOW_PLACEHOLDER@"  # replaced by a call of `date` in the shell command
NO_SIGN_IN_NOTE = (
    "OIDC_ISSUER is set: people sign in at the identity provider, so this file holds no user_token and no sign_in_url."
)


@dataclass
class DemoWorkspace:
    """The content of the file demo.json: the ids, API key and links of the demo workspace that `manage.py up` creates.

    Empty fields are left out.
    With an identity provider, the service's own tokens and sign-in links do not work; `note` says so.
    """

    base_url: str
    owner_user_id: str
    workspace_id: str
    api_key: str
    admin_url: str
    sandbox_account_id: str
    sandbox_platform: str
    user_token: str | None = None
    sign_in_url: str | None = None
    note: str | None = None


def create_or_find_demo_workspace_or_none(*, base_url: str) -> DemoWorkspace | None:
    """Create a demo workspace if the database has no users, or else find the earlier one; write demo.json with its secrets.

    Returns None if there is neither.
    """
    path = Path(settings.DATA_DIR) / DEMO_FILE
    if not User.objects.exists():
        owner_id, workspace_id, api_key = _create()
    else:
        stored = _read_stored(path)
        if stored is None:
            return None
        owner_id, workspace_id, api_key = stored["owner_user_id"], stored["workspace_id"], stored["api_key"]
    owner = User.objects.get(pk=owner_id)
    account = ConnectedAccount.objects.filter(workspace_id=workspace_id, sandbox=True).order_by("pk").first()
    if account is None:
        return None
    demo = DemoWorkspace(
        base_url=base_url,
        owner_user_id=owner_id,
        workspace_id=workspace_id,
        api_key=api_key,
        admin_url=f"{base_url}/admin/",
        sandbox_account_id=account.id,
        sandbox_platform=account.platform,
    )
    if settings.OIDC_ISSUER:
        demo.note = NO_SIGN_IN_NOTE
    else:
        demo.user_token = new_development_user_token(owner_id)
        demo.sign_in_url = f"{base_url}/dashboard/sign-in/{owner_id}/{default_token_generator.make_token(owner)}"
    _write(path, demo)
    return demo


@transaction.atomic
def _create() -> tuple[str, str, str]:
    owner = User.objects.create_user(email="owner@demo.invalid", display_name="Demo owner")
    caller = Caller(kind="user", actor_id=owner.id)
    plan = create_workspace(caller=caller, owner_user_id=owner.id, name="Demo workspace")
    issued = issue_key(workspace_id=plan.workspace.id, name="Demo key", scopes=SCOPES)
    assert issued.token  # noqa: S101 - a saved key has one
    return owner.id, plan.workspace.id, issued.token


def _read_stored(path: Path) -> dict[str, Any] | None:
    """Return the content of demo.json, or None if the file or the demo's user no longer exists."""
    try:
        stored: dict[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return stored if User.objects.filter(pk=stored.get("owner_user_id"), is_active=True).exists() else None


def _write(path: Path, demo: DemoWorkspace) -> None:
    """Write demo.json so that only its owner on this machine can read it, because it contains an API key."""
    draft = path.with_suffix(".draft")
    descriptor = os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump({name: value for name, value in asdict(demo).items() if value is not None}, file, indent=2)
    draft.replace(path)


def print_welcome(stdout: OutputWrapper, demo: DemoWorkspace | None, *, base_url: str, data_dir: Path) -> None:
    """Print the welcome text of `manage.py up`: the service's URLs and, for a demo, a curl command for a first post."""
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
        lines += ["", "Publish a first post to the sandbox:", "", f"  {first_post_curl_command(demo)}"]
    stdout.write("\n".join([*lines, "", ""]))
    stdout.flush()


def first_post_curl_command(demo: DemoWorkspace) -> str:
    """Return a curl command that publishes a post to the demo's sandbox account and waits for its result."""
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
