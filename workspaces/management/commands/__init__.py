"""The management commands for users and workspaces, one module for each."""
