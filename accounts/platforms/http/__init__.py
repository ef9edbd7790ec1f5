"""Modules that all adapters share for HTTP: a JSON client, the translation of errors, and OAuth 2.0."""
