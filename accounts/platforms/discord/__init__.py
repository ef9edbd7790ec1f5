"""The Discord adapter: posts to channels by a webhook."""
