"""What the adapters share: a JSON client, the translation of errors, and OAuth 2.0."""
