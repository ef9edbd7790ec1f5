"""Stand-ins of outside services: each speaks real HTTP on loopback and behaves as the service's documents say."""

from __future__ import annotations
