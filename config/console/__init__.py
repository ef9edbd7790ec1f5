"""Tools for operators: the admin console and its sign-in, /ops, /metrics, health checks, the doctor and retention."""
