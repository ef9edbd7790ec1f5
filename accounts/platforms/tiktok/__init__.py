"""The TikTok adapter: videos and photos of creators, by the Content Posting API v2."""
