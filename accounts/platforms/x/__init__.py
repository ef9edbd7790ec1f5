"""The X adapter: publishes posts and threads with API v2."""
