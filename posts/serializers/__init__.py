"""Serializers of the posts API: `requests` has those for input, `responses` those for output."""
