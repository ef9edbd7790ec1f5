"""A hand-written table of all API operations.

Nothing here is derived from the code: test_operations.py compares this table with what is built and documented.
"""

from __future__ import annotations

from typing import Literal, NamedTuple


class Row(NamedTuple):
    """An operation: a key needs one of `scopes`; empty where any caller may ask or the service decides by the caller.

    `idempotent`: how an Idempotency-Key is handled, "lease" where the network is used; "" where no key is accepted.
    `success`: the status of a call that did what was asked. `dry_run`: whether it can be previewed. `operator`: only the
    operator's token opens it.
    """

    method: str
    path: str
    name: str
    scopes: tuple[str, ...] = ()
    idempotent: Literal["transaction", "commit", "lease", ""] = ""
    success: int = 200
    dry_run: bool = False
    operator: bool = False


KEYS = ("api_keys.write",)
PUBLISH = ("posts.publish",)
READ_POSTS = ("posts.read",)
WRITE_POSTS = ("posts.draft", "posts.schedule", "posts.publish")
RELEASE_POSTS = ("posts.publish", "posts.schedule")
READ_ACCOUNTS = ("accounts.read",)
WRITE_ACCOUNTS = ("accounts.write",)
UPLOAD = ("media.upload",)
USAGE = ("usage.read",)
LOGS = ("logs.read",)
SECRET = "/workspaces/{workspace_id}/webhook-signing-secret"
FEEDS = "/workspaces/{workspace_id}/calendar-feeds"

OPERATIONS = [
    Row("GET", "/openapi.json", "openapi.get"),
    # Workspaces and users
    Row("GET", "/workspaces", "workspaces.list"),
    Row("POST", "/workspaces", "workspaces.create", KEYS, "transaction", 201, True),
    Row("PATCH", "/workspaces/{workspace_id}", "workspaces.update_caps", KEYS, "transaction", 200, True),
    Row("DELETE", "/workspaces/{workspace_id}", "workspaces.delete", KEYS, "", 200, True),
    Row("GET", "/workspaces/{workspace_id}/export", "workspaces.export", KEYS),
    Row("GET", SECRET, "workspaces.get_signing_secret", KEYS),
    Row("POST", f"{SECRET}/rotate", "workspaces.rotate_signing_secret", KEYS, "transaction", 200, True),
    Row("GET", FEEDS, "calendar_feeds.list"),
    Row("POST", FEEDS, "calendar_feeds.create", (), "transaction", 201, True),
    Row("DELETE", f"{FEEDS}/{{feed_id}}", "calendar_feeds.delete", (), "transaction", 200, True),
    Row("DELETE", "/users/{user_id}", "users.delete", (), "", 200, True),
    Row("GET", "/users/{user_id}/export", "users.export"),
    # Agents and keys
    Row("GET", "/agents", "agents.list"),
    Row("POST", "/agents", "agents.create", KEYS, "transaction", 201, True),
    Row("GET", "/agents/{agent_id}", "agents.get"),
    Row("PATCH", "/agents/{agent_id}", "agents.update", KEYS, "transaction", 200, True),
    Row("DELETE", "/agents/{agent_id}", "agents.revoke", KEYS, "transaction", 200, True),
    Row("POST", "/agents/{agent_id}/rotate-key", "agents.rotate_key", (), "transaction", 200, True),
    Row("GET", "/agents/{agent_id}/logs", "agents.logs", LOGS),
    Row("GET", "/agents/{agent_id}/usage", "agents.usage", USAGE),
    Row("POST", "/agents/claim", "agents.claim", (), "transaction"),
    Row("POST", "/auth/api-keys", "api_keys.create", KEYS, "transaction", 201, True),
    Row("GET", "/auth/api-keys", "api_keys.list", KEYS),
    Row("DELETE", "/auth/api-keys/{api_key_id}", "api_keys.revoke", KEYS, "transaction", 200, True),
    # Accounts
    Row("POST", "/accounts/connect", "accounts.connect", WRITE_ACCOUNTS, "lease", 200, True),
    Row("GET", "/accounts/oauth/callback", "accounts.complete_connection", WRITE_ACCOUNTS, "lease", 200, True),
    Row("GET", "/accounts", "accounts.list", READ_ACCOUNTS),
    Row("DELETE", "/accounts/{account_id}", "accounts.disconnect", WRITE_ACCOUNTS, "lease", 200, True),
    Row("GET", "/accounts/{account_id}/status", "accounts.status", READ_ACCOUNTS),
    Row("GET", "/accounts/{account_id}/capabilities", "accounts.capabilities", READ_ACCOUNTS),
    Row("GET", "/accounts/{account_id}/slots", "accounts.slots", READ_ACCOUNTS),
    Row("PUT", "/accounts/{account_id}/slots", "accounts.update_slots", WRITE_ACCOUNTS, "transaction", 200, True),
    Row("GET", "/accounts/{account_id}/slots/next", "accounts.next_slots", READ_ACCOUNTS),
    Row("GET", "/capabilities", "capabilities.get"),
    # Posts
    Row("POST", "/posts/validate", "posts.validate", (*READ_POSTS, *WRITE_POSTS)),
    Row("POST", "/posts", "posts.create", WRITE_POSTS, "commit", 201, True),
    Row("POST", "/posts/batch", "posts.create_batch", WRITE_POSTS, "commit", 201, True),
    Row("POST", "/posts/queue", "posts.update_queue", WRITE_POSTS, "commit", 200, True),
    Row("POST", "/posts/retry-missed", "posts.retry_missed", PUBLISH, "commit", 200, True),
    Row("GET", "/posts", "posts.list", READ_POSTS),
    Row("GET", "/posts/search", "posts.search", READ_POSTS),
    Row("GET", "/posts/{post_group_id}", "posts.get", READ_POSTS),
    Row("PATCH", "/posts/{post_group_id}", "posts.update", WRITE_POSTS, "commit", 200, True),
    Row("DELETE", "/posts/{post_group_id}", "posts.cancel", ("posts.schedule", "posts.draft"), "commit", 200, True),
    Row("POST", "/series", "series.create", WRITE_POSTS, "transaction", 201, True),
    Row("GET", "/series", "series.list", READ_POSTS),
    Row("GET", "/series/{series_id}", "series.get", READ_POSTS),
    Row("PATCH", "/series/{series_id}", "series.update", WRITE_POSTS, "transaction", 200, True),
    Row("DELETE", "/series/{series_id}", "series.delete", WRITE_POSTS, "transaction", 200, True),
    Row("POST", "/series/{series_id}/skip", "series.skip", WRITE_POSTS, "transaction", 200, True),
    Row("POST", "/plans", "plans.create", WRITE_POSTS, "transaction", 201),
    Row("GET", "/plans/{plan_id}", "plans.get", READ_POSTS),
    Row("POST", "/plans/{plan_id}/commit", "plans.commit", WRITE_POSTS, "lease", 201, True),
    Row("POST", "/posts/{post_group_id}/retry", "posts.retry", PUBLISH, "commit", 200, True),
    Row("POST", "/posts/{post_group_id}/confirm", "posts.confirm", RELEASE_POSTS, "commit", 200, True),
    Row("POST", "/posts/{post_group_id}/reject", "posts.reject", RELEASE_POSTS, "commit", 200, True),
    Row("POST", "/posts/{post_group_id}/resolve", "posts.resolve", PUBLISH, "transaction", 200, True),
    # Media
    Row("GET", "/media", "media.list", ("media.upload", "posts.read")),
    Row("POST", "/media", "media.upload", UPLOAD, "lease", 201, True),
    Row("DELETE", "/media/{media_id}", "media.delete", UPLOAD, "transaction", 200, True),
    # Usage, billing, webhooks, logs
    Row("GET", "/usage", "usage.get", USAGE),
    Row("GET", "/billing", "billing.get", USAGE),
    Row("POST", "/billing/checkout-sessions", "billing.create_checkout_session", (), "", 200, True),
    Row("POST", "/billing/portal-sessions", "billing.create_portal_session", (), "", 200, True),
    Row("POST", "/billing/webhooks/processor", "billing.receive_event"),
    Row("GET", "/webhooks/deliveries", "webhooks.list", READ_POSTS),
    Row("POST", "/webhooks/deliveries/{delivery_id}/replay", "webhooks.replay", PUBLISH, "transaction", 200, True),
    Row("GET", "/logs", "logs.list", LOGS),
    # Operators
    Row("GET", "/ops/status", "ops.status", operator=True),
    Row("GET", "/ops/workspaces", "ops.list_workspaces", operator=True),
    Row("POST", "/ops/workspaces/{workspace_id}/pause", "ops.pause_workspace", dry_run=True, operator=True),
    Row("POST", "/ops/workspaces/{workspace_id}/resume", "ops.resume_workspace", dry_run=True, operator=True),
    Row("GET", "/ops/deliveries", "ops.list_deliveries", operator=True),
    Row("POST", "/ops/deliveries/replay", "ops.replay_deliveries", dry_run=True, operator=True),
    Row("POST", "/ops/retention/run", "ops.run_retention", dry_run=True, operator=True),
    Row("POST", "/ops/billing/reconcile", "ops.reconcile_billing", dry_run=True, operator=True),
    Row("POST", "/ops/keys/revoke", "ops.revoke_key", dry_run=True, operator=True),
]
