"""The X adapter: publishes posts and threads, by X's API v2."""
