"""Package for Bluesky: posts on the AT Protocol, at Bluesky's own servers or at any other."""
