"""The processes that serve: what turns connections into requests, and requests into answers."""
