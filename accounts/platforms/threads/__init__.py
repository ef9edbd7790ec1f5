"""Package for Threads: publishes a profile's posts, carousels and chains of replies, by Meta's Threads API."""
