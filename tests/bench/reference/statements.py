"""The SQL statements of the reference API."""

from __future__ import annotations

CLAIM = """
INSERT INTO api_idempotencyrecord (id, operation, fingerprint, status, resource_id, workspace_id, created_at, expires_at)
VALUES (%(id)s, 'posts.create', %(fingerprint)s, 0, '', '', %(now)s, %(expires_at)s) ON CONFLICT (id) DO NOTHING
"""
CLAIMED = "SELECT resource_id FROM api_idempotencyrecord WHERE id = %s AND answered_at IS NOT NULL"
ANSWERED = """
UPDATE api_idempotencyrecord
SET answered_at = %(now)s, status = 201, resource_id = %(group)s, workspace_id = %(workspace)s
WHERE id = %(id)s AND answered_at IS NULL AND lease_until IS NULL
"""
ACCOUNTS = "SELECT id, platform, status FROM accounts_connectedaccount WHERE workspace_id = %s AND id = ANY(%s)"
SENT_BEFORE = """
SELECT t.account_id, t.content_sha256, t.sandbox, t.group_id
FROM posts_posttarget t JOIN posts_postgroup g ON g.id = t.group_id
WHERE t.account_id = ANY(%s) AND t.content_sha256 = ANY(%s) AND t.created_at >= %s
  AND t.status NOT IN ('failed', 'cancelled') AND g.status NOT IN ('draft', 'pending_confirmation', 'rejected')
ORDER BY t.created_at
"""
COUNT = """
UPDATE billing_monthcounter SET held_cents = held_cents + %(cents)s
WHERE holder_id = %(workspace)s AND month = %(month)s
  AND (%(limit)s::bigint IS NULL OR held_cents <= %(limit)s::bigint - %(cents)s - settled_cents)
"""
COUNTED = "SELECT 1 FROM billing_monthcounter WHERE holder_id = %(workspace)s AND month = %(month)s"
FIRST_COUNT = """
INSERT INTO billing_monthcounter (holder_id, month, held_cents, settled_cents, url_posts)
VALUES (%(workspace)s, %(month)s, 0, 0, 0) ON CONFLICT DO NOTHING
"""
# That no target is held twice, the table's own constraint sees to.
HOLDS = """
INSERT INTO billing_ledgerentry (id, workspace_id, agent_id, target_id, platform, round, kind, cents, url_posts, month,
  day, created_at) VALUES
"""
HOLD = "(%s, %s, '', %s, %s, 1, 'hold', %s, 0, %s, %s, %s)"
GROUP = """
INSERT INTO posts_postgroup (created_at, updated_at, id, workspace_id, status, content_version, text, media, scheduled_at,
  sandbox, event_sequence, metadata, created_by_type, created_by_id, trace_id)
VALUES (%(now)s, %(now)s, %(id)s, %(workspace)s, 'scheduled', 1, %(text)s, '[]', %(scheduled_at)s, false, 1,
  %(metadata)s::jsonb, 'api_key', %(key)s, %(trace)s)
"""
TARGETS = """
INSERT INTO posts_posttarget (created_at, updated_at, due_at, fence, id, group_id, account_id, platform, position, sandbox,
  status, text, options, content_sha256, attempts, round_attempts, phase, progress, worker_losses, certainty, price_cents,
  url_posts, scheduled_at, slot) VALUES
"""
TARGET = (
    "(%s, %s, %s, 0, %s, %s, %s, %s, %s, false, 'pending', "
    "%s, %s::jsonb, %s, 0, 0, '', '{}', 0, 'not_sent', %s, 0, %s, false)"
)
EVENT = """
INSERT INTO webhooks_event (id, workspace_id, kind, post_group_id, sequence, payload, sandbox, trace_id, created_at)
VALUES (%(id)s, %(workspace)s, 'post.scheduled', %(group)s, 1, %(payload)s, false, %(trace)s, %(now)s)
"""
AUDIT = """
INSERT INTO auditlog_auditentry (id, workspace_id, actor_type, actor_id, operation, resource_type, resource_id, outcome,
  dry_run, ip, trace_id, retention_tier, metadata, created_at)
VALUES (%(id)s, %(workspace)s, 'api_key', %(key)s, 'posts.create', 'post_group', %(group)s, 'succeeded', false,
  %(ip)s, %(trace)s, %(tier)s, '{"status": "scheduled", "sandbox": false}', %(now)s)
"""
