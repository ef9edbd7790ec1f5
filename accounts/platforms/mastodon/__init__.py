"""The Mastodon adapter: publishes statuses at any server that offers Mastodon's API."""
