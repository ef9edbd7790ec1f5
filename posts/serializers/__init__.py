"""Serializers of the posts API: `requests` for input, `responses` for output."""
