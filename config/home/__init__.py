"""Pages that span several apps: the home of a workspace, the pages of agents, the webhook test, error pages."""
