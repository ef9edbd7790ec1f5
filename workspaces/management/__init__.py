"""The package for the workspaces app's management commands, which are in its package `commands`."""
