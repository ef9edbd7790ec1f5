"""The frame of every page: navigation, template tags, static files, security headers. Knows no app."""
