"""Management commands for posts."""
