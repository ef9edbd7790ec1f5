"""The value of settings.RETENTION: the dotted paths of all rules that delete old data, in the order in which they run.

Rules of higher layers of apps come first, because their rows refer to rows of lower layers.
"""

from __future__ import annotations

RETENTION_RULES = [
    "config.notices.retention.ExpiredNotices",
    "config.notices.retention.PurgedWorkspaceNotices",
    "config.notices.retention.PurgedWorkspaceDigests",
    "config.console.operators.second_factor_removal.AbandonedSecondFactorsRule",
    "posts.retention.ExpiredPlans",
    "posts.retention.ExpiredComposerDrafts",
    "posts.retention.PurgedWorkspacePosts",
    "media.retention.PurgedWorkspaceMedia",
    "media.retention.PurgedWorkspaceMediaUsage",
    "accounts.retention.PurgedWorkspaceAccounts",
    "accounts.retention.ExpiredConnectionAttempts",
    "webhooks.retention.ExpiredEvents",
    "webhooks.retention.PurgedWorkspaceEvents",
    "webhooks.retention.PurgedWorkspaceSecrets",
    "billing.retention.FinishedProcessorEvents",
    "billing.retention.DeletedWorkspaceCustomerIds",
    "agents.retention.PurgedWorkspaceKeys",
    "agents.retention.PurgedWorkspaceAgents",
    "workspaces.retention.DeletedWorkspaces",
    "workspaces.retention.ExpiredSessions",
    "workspaces.retention.UnfinishedSignInStates",
    "workspaces.retention.UnfinishedSignInNonces",
    "workspaces.retention.ExpiredEndedIdentities",
    "workspaces.retention.ExpiredInvitations",
    "workspaces.retention.FinishedMail",
    "auditlog.retention.ExpiredAuditEntries",
    "config.api.retention.ExpiredIdempotencyRecords",
]
