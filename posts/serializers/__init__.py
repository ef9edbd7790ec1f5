"""Serializers of the posts API: `requests` for input, `responses` for output, `post_groups` for the post group itself."""
