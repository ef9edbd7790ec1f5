"""The package of webhooks: events, and their signed deliveries to the URLs of workspaces."""
