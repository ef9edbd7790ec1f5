"""X: publishes posts and threads with API v2."""
