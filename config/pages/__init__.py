"""Shared parts of all dashboard pages: navigation, template tags, static files, security headers. Imports no other app."""
