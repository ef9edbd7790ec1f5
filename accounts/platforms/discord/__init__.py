"""Discord channels, by a webhook."""
