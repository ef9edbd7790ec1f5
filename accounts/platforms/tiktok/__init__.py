"""TikTok, by its Content Posting API v2."""
