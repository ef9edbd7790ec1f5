"""Sign-in at the configured OpenID Connect provider: the provider's configuration, user claims, and sign-in sessions."""
