"""Agents (programs that create posts), API keys, bearer authentication, and the OAuth server."""
