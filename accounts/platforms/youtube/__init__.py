"""The YouTube adapter: publishes videos of channels, by YouTube's Data API v3."""
