"""API serializers of connected accounts, OAuth connections, and capabilities."""
