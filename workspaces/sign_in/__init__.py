"""Who the configured OpenID provider says that a person is: what it publishes, its claims, the way through a browser."""
