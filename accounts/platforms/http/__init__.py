"""The HTTP code that all platform adapters share: the JSON client, the translation of errors, and OAuth 2.0."""
