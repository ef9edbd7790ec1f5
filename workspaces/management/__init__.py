"""Management commands of workspaces."""
