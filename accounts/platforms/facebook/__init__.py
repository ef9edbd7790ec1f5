"""Posts, reels and stories of Facebook pages, published by the Graph API."""
