"""Chaos test: the real service under load while its parts are killed; no post may be lost or doubled.

Run as `python -m tests.chaos` (`make chaos`). A client posts over the API, faults befall the service's processes, its
database and broker, the platforms and the receivers; then what the service says is compared with what really arrived.
"""
