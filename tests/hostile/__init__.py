"""Input that is meant to harm the service."""
