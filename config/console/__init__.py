"""Operators' tools: the admin site with its sign-in, the API /ops, /metrics, health checks, `doctor`, data retention."""
