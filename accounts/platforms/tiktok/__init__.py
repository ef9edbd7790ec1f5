"""The TikTok adapter: publishes videos and photos of creators, by TikTok's Content Posting API v2."""
