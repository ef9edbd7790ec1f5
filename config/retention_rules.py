"""The rules by which expired rows are deleted, from the highest layer down (config/db/retention.py)."""

from __future__ import annotations

RULES = [
    "config.notices.retention.Notices",
    "config.notices.retention.NoticesOfPurged",
    "config.notices.retention.DigestsOfPurged",
    "config.console.operators.retention.SecondFactors",
    "posts.retention.PostsOfPurged",
    "media.retention.MediaOfPurged",
    "media.retention.MediaUsageOfPurged",
    "accounts.retention.AccountsOfPurged",
    "accounts.retention.ConnectionAttempts",
    "webhooks.retention.Events",
    "webhooks.retention.EventsOfPurged",
    "webhooks.retention.SecretsOfPurged",
    "billing.retention.ProcessorEvents",
    "billing.retention.CustomersOfPurged",
    "agents.retention.KeysOfPurged",
    "agents.retention.AgentsOfPurged",
    "workspaces.retention.PurgedWorkspaces",
    "workspaces.sign_in.retention.Sessions",
    "workspaces.sign_in.retention.SignInStates",
    "workspaces.sign_in.retention.SignInNonces",
    "workspaces.sign_in.retention.EndedIdentities",
    "workspaces.sign_in.retention.Invitations",
    "workspaces.sign_in.retention.SettledMail",
    "auditlog.retention.AuditEntries",
    "config.api.retention.IdempotencyRecords",
]
