"""The package of the management commands for users and workspaces."""
