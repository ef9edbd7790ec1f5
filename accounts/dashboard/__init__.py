"""Dashboard pages of connected accounts."""
