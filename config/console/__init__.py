"""The package of the operators' tools: the admin site with its sign-in, /ops, /metrics, health checks, doctor, retention."""
