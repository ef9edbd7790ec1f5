"""The YouTube adapter: videos of channels, by the Data API v3."""
