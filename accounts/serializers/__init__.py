"""API serializers of connected accounts, OAuth connections, and platform capabilities."""
