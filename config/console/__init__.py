"""Operators' tools: the admin console with its sign-in, /ops, /metrics, health checks, `manage.py doctor`, retention."""
