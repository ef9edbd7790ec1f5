"""Sign-in with the configured OpenID Connect provider: discovery, claims, browser flow and sessions."""
