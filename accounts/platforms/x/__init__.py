"""X: posts and threads of an account, by API v2."""
