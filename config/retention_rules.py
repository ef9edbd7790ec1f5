"""The list of all retention rules, from the highest app layer to the lowest (settings.RETENTION)."""

from __future__ import annotations

RETENTION_RULES = [
    "config.notices.retention.Notices",
    "config.notices.retention.NoticesOfPurged",
    "config.notices.retention.DigestsOfPurged",
    "config.console.operators.second_factor_removal.SecondFactors",
    "posts.retention.PurgedWorkspacePosts",
    "media.retention.PurgedWorkspaceMedia",
    "media.retention.PurgedWorkspaceMediaUsage",
    "accounts.retention.AccountsOfPurged",
    "accounts.retention.ConnectionAttempts",
    "webhooks.retention.ExpiredEvents",
    "webhooks.retention.PurgedWorkspaceEvents",
    "webhooks.retention.PurgedWorkspaceSecrets",
    "billing.retention.FinishedProcessorEvents",
    "billing.retention.CustomersOfDeletedWorkspaces",
    "agents.retention.KeysOfDeletedWorkspaces",
    "agents.retention.AgentsOfDeletedWorkspaces",
    "workspaces.retention.DeletedWorkspaces",
    "workspaces.sign_in.retention.ExpiredSessions",
    "workspaces.sign_in.retention.UnfinishedSignInStates",
    "workspaces.sign_in.retention.UnfinishedSignInNonces",
    "workspaces.sign_in.retention.ExpiredEndedIdentities",
    "workspaces.sign_in.retention.ExpiredInvitations",
    "workspaces.sign_in.retention.FinishedMail",
    "auditlog.retention.ExpiredAuditEntries",
    "config.api.retention.IdempotencyRecords",
]
