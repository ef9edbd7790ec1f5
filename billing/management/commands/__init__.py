"""The package of billing's management commands, with one module for each."""
