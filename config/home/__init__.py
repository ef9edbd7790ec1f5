"""Pages that span several apps: the home of a workspace, one agent's page, a trial of a webhook, error pages."""
