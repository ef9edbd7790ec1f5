"""Accounts of social platforms that workspaces have connected, their slots, and the adapters of the platforms."""
