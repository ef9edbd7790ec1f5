"""Shared parts of all dashboard pages: navigation, template tags, static files and security headers. Imports no other app."""
