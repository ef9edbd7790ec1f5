"""Serializers of the posts API: `requests` has those for requests, `responses` those for responses."""
