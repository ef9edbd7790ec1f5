"""The service under test: `manage.py up` with its own data directory, and its workspaces through the API."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests
from urllib3.filepost import encode_multipart_formdata

from config.api.scopes import SCOPES
from tests.chaos.stack import DEMO, EmbeddedStack, wait_until

LINK = re.compile(r"Dashboard +(\S+)  \(signs you in, once\)")

AGE_SIGN_INS = """
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
for key in Session.objects.values_list("pk", flat=True):
    session = SessionStore(key)
    session["authenticated_at"] = (session.get("authenticated_at") or 3600) - 3600
    session.save()
"""
SEND_NOTICES = "from config.runtime.tasks import send_notices; send_notices()"


class Service:
    """A running service; `call` uses its API as the demo's owner."""

    def __init__(self, stack: EmbeddedStack) -> None:
        self.stack = stack
        self._session = requests.Session()
        self._session.trust_env = False

    @property
    def base_url(self) -> str:
        return self.stack.base_url

    def printed_sign_in_link(self) -> str:
        """Return the sign-in link that `up` prints when the service is ready; it can be used once."""
        log = self.stack.logs / "up.log"
        wait_until(lambda: LINK.search(log.read_text()) is not None, "the printed sign-in link")
        found = LINK.search(log.read_text())
        assert found
        return found[1]

    def new_sign_in_link(self) -> str:
        """Return another sign-in link, as a restart of the service would print."""
        self.stack.run("manage.py", "shell", "--no-imports", "-c", DEMO.format(base_url=self.base_url))
        return self.stack.demo["sign_in_url"]

    def call(
        self, method: str, path: str, body: Any = None, *, token: str = "", headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """Call the API as the demo's owner or with another token; return the body. Fails if the call is refused."""
        named = {"Authorization": f"Bearer {token or self.stack.demo['user_token']}", **(headers or {})}
        data, document = (body, None) if isinstance(body, bytes) else (None, body)
        answer = self._session.request(method, self.base_url + path, headers=named, data=data, json=document, timeout=60)
        assert answer.ok, f"{method} {path}: {answer.status_code} {answer.text[:500]}"
        result: dict[str, Any] = answer.json()
        return result

    def age_sign_ins(self) -> None:
        """Move everybody's last sign-in one hour into the past."""
        self.stack.run("manage.py", "shell", "--no-imports", "-c", AGE_SIGN_INS)

    def send_notices(self) -> None:
        """Find what needs notices and queue them, as the service does each minute."""
        self.stack.run("manage.py", "shell", "--no-imports", "-c", SEND_NOTICES)

    def new_workspace(self, name: str) -> Workspace:
        """Create a workspace of the demo's owner, with an API key that has all scopes."""
        owner = self.stack.demo["owner_user_id"]
        workspace_id = self.call("POST", "/workspaces", {"owner_user_id": owner, "name": name})["workspace"]["id"]
        return Workspace(self, workspace_id)


class Workspace:
    """A workspace of the demo's owner, used through the API."""

    def __init__(self, service: Service, workspace_id: str) -> None:
        self.service = service
        self.id = workspace_id
        asked = {"workspace_id": workspace_id, "name": "Press desk", "scopes": list(SCOPES)}
        made = service.call("POST", "/auth/api-keys", asked)
        self.key, self.key_id = made["token"], made["api_key"]["id"]

    def call(self, method: str, path: str, body: Any = None, **options: Any) -> dict[str, Any]:
        """Call the API with the workspace's key."""
        return self.service.call(method, path, body, **{"token": self.key, **options})

    def account(self, platform: str) -> dict[str, str]:
        """Return the workspace's sandbox account on a platform, as the target of a post."""
        accounts = self.call("GET", f"/accounts?workspace_id={self.id}")["accounts"]
        found = next(each for each in accounts if each["platform"] == platform and each["sandbox"])
        return {"platform": platform, "connected_account_id": found["id"]}

    def post(self, text: str, *targets: dict[str, Any], token: str = "", **fields: Any) -> dict[str, Any]:
        """Create a post to these targets; return it when it is finished or waits for a person."""
        body = {"workspace_id": self.id, "text": text, "targets": list(targets), "wait": True, **fields}
        group: dict[str, Any] = self.call("POST", "/posts", body, token=token or self.key)["post_group"]
        return group

    def wait_until_finished(self, post_group_id: str) -> dict[str, Any]:
        """Wait until the post is finished and return it."""

        def group() -> dict[str, Any]:
            found: dict[str, Any] = self.call("GET", f"/posts/{post_group_id}")["post_group"]
            return found

        wait_until(lambda: group()["finished_at"] is not None, "the end of the post")
        return group()

    def upload(self, content: bytes, filename: str, alt_text: str) -> str:
        """Upload a file to the media library and return its id."""
        fields = {"workspace_id": self.id, "alt_text": alt_text}
        body, kind = encode_multipart_formdata({**fields, "file": (filename, content, "application/octet-stream")})
        asset: dict[str, str] = self.call("POST", "/media", body, headers={"Content-Type": kind})["media"]
        return asset["id"]

    def new_agent(self, name: str, **settings: Any) -> tuple[str, str]:
        """Create an agent and claim its key; return the agent's id and the key."""
        rules = {"scopes": ["posts.read", "posts.publish", "posts.schedule"], "default_mode": "requires_confirmation"}
        owner = self.service.stack.demo["owner_user_id"]
        asked = {"workspace_id": self.id, "owner_user_id": owner, "name": name, **rules, **settings}
        made = self.call("POST", "/agents", asked, token=self.service.stack.demo["user_token"])
        claim = {"claim_token": made["claim_token"]}
        return made["agent"]["id"], self.call("POST", "/agents/claim", claim, token=made["claim_token"])["token"]


@contextmanager
def run_service(home: Path, settings: Mapping[str, str]) -> Iterator[Service]:
    """Run the service with these settings."""
    (home / "data").mkdir(parents=True)
    stack = EmbeddedStack(home, settings, random.Random(1))
    try:
        stack.start()
        yield Service(stack)
    finally:
        stack.stop()
