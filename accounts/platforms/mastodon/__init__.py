"""Mastodon: statuses on any server that speaks Mastodon's API."""
