"""The demo of a first start: an owner, a workspace with its sandbox accounts, and a key with every scope."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.db import transaction

from accounts.models import ConnectedAccount
from agents.services import issue_key
from agents.tokens import new_user_token
from config.api.caller import Caller
from config.api.scopes import SCOPES
from workspaces.models import User
from workspaces.services import create_user, create_workspace

FILE = "demo.json"
NO_SIGN_IN = (
    "OIDC_ISSUER is set: people sign in at the identity provider, so this file holds no user_token and no sign_in_url."
)


@dataclass
class Demo:
    """What demo.json holds, and a sandbox account to try. What is None is left out of the file.

    With an identity provider, neither tokens of the service's own nor its sign-in links work; `note` says so.
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


def write_demo(*, base_url: str) -> Demo | None:
    """Make the demo in a database without users, or refresh the one that demo.json still speaks of; None otherwise."""
    path = Path(settings.DATA_DIR) / FILE
    if not User.objects.exists():
        owner_id, workspace_id, api_key = _make()
    else:
        kept = _kept(path)
        if kept is None:
            return None
        owner_id, workspace_id, api_key = kept["owner_user_id"], kept["workspace_id"], kept["api_key"]
    owner = User.objects.get(pk=owner_id)
    account = ConnectedAccount.objects.filter(workspace_id=workspace_id, sandbox=True).order_by("pk").first()
    if account is None:
        return None
    demo = Demo(
        base_url=base_url,
        owner_user_id=owner_id,
        workspace_id=workspace_id,
        api_key=api_key,
        admin_url=f"{base_url}/admin/",
        sandbox_account_id=account.id,
        sandbox_platform=account.platform,
    )
    if settings.OIDC_ISSUER:
        demo.note = NO_SIGN_IN
    else:
        demo.user_token = new_user_token(owner_id)
        demo.sign_in_url = f"{base_url}/dashboard/sign-in/{owner_id}/{default_token_generator.make_token(owner)}"
    _write(path, demo)
    return demo


@transaction.atomic
def _make() -> tuple[str, str, str]:
    owner = create_user(email="owner@demo.invalid", display_name="Demo owner")
    caller = Caller(kind="user", actor_id=owner.id)
    plan = create_workspace(caller=caller, owner_user_id=owner.id, name="Demo workspace")
    issued = issue_key(workspace_id=plan.workspace.id, name="Demo key", scopes=SCOPES)
    assert issued.token  # noqa: S101 - a saved key has one
    return owner.id, plan.workspace.id, issued.token


def _kept(path: Path) -> dict[str, Any] | None:
    """demo.json, when its owner is still there."""
    try:
        kept: dict[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return kept if User.objects.filter(pk=kept.get("owner_user_id"), is_active=True).exists() else None


def _write(path: Path, demo: Demo) -> None:
    """Readable by its owner only: it holds a key."""
    draft = path.with_suffix(".draft")
    descriptor = os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump({name: value for name, value in asdict(demo).items() if value is not None}, file, indent=2)
    draft.replace(path)
