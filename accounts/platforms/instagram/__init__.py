"""Instagram: posts, reels, carousels and stories of professional accounts, by the API with Instagram Login."""
