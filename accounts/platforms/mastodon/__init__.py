"""The Mastodon adapter: statuses on any server with Mastodon's API."""
