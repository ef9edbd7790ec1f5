"""What operators use: the admin console and its sign-in, /ops, /metrics, the health checks, the doctor, retention."""
