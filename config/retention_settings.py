"""The value of settings.RETENTION: the dotted paths of all rules that delete old data, in the order in which they run.

Rules of higher layers of apps come first, because their rows refer to rows of lower layers.
"""

from __future__ import annotations

RETENTION_RULES = [
    "config.notices.retention.ExpiredNoticesRule",
    "config.notices.retention.FinishedChannelMessagesRule",
    "config.notices.retention.DeletedWorkspaceChannelsRule",
    "config.notices.retention.PurgedWorkspaceNoticesRule",
    "config.notices.retention.PurgedWorkspaceDigestsRule",
    "config.console.operators.second_factor_removal.UnconfirmedOrFormerSecondFactorsRule",
    "posts.retention.ExpiredPlansRule",
    "posts.retention.ExpiredComposerDraftsRule",
    "posts.retention.PurgedWorkspacePostsRule",
    "posts.retention.PurgedWorkspaceSeriesRule",
    "media.retention.PurgedWorkspaceMediaRule",
    "media.retention.PurgedWorkspaceMediaUsageRule",
    "accounts.retention.PurgedWorkspaceAccountsRule",
    "accounts.retention.ExpiredConnectionAttemptsRule",
    "webhooks.retention.ExpiredEventsRule",
    "webhooks.retention.PurgedWorkspaceEventsRule",
    "webhooks.retention.PurgedWorkspaceSigningSecretsRule",
    "billing.retention.FinishedProcessorEventsRule",
    "billing.retention.PurgedWorkspaceCustomersAndSubscriptionsRule",
    "agents.retention.PurgedWorkspaceApiKeysRule",
    "agents.retention.ExpiredOAuthTokensRule",
    "agents.retention.ExpiredDeviceAuthorizationsRule",
    "agents.retention.PurgedWorkspaceAgentsRule",
    "agents.retention.UnusedOAuthClientsRule",
    "workspaces.retention.PurgedWorkspacesRule",
    "workspaces.retention.ExpiredSessionsRule",
    "workspaces.retention.UnfinishedSignInStatesRule",
    "workspaces.retention.UnfinishedSignInNoncesRule",
    "workspaces.retention.ExpiredSignInLinksRule",
    "workspaces.retention.ExpiredEndedIdentitiesRule",
    "workspaces.retention.ExpiredInvitationsRule",
    "workspaces.retention.FinishedMailRule",
    "auditlog.retention.ExpiredAuditEntriesRule",
    "config.api.retention.ExpiredIdempotencyRecordsRule",
]
