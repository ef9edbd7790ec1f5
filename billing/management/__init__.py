"""The package of billing's management commands."""
