"""The Facebook adapter: posts, reels and stories of pages, by the Graph API."""
