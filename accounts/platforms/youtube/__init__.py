"""YouTube, by its Data API v3."""
