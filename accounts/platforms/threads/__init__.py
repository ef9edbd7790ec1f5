"""The Threads adapter: posts, carousels and chains of a profile, by Meta's Threads API."""
