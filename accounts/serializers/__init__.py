"""API serializers of connected accounts, OAuth connections, platform capabilities, and validation issues."""
