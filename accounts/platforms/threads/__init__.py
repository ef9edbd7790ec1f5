"""The Threads adapter: publishes posts, carousels and chains of posts of a profile, by Meta's Threads API."""
