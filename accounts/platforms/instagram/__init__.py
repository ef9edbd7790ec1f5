"""The Instagram adapter: posts, reels, carousels and stories of professional accounts, by the API with Instagram Login."""
