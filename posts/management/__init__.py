"""Django management commands for posts."""
