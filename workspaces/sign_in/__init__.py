"""Sign-in with the configured OpenID Connect provider: discovery, claims, social-auth backend and sessions."""
