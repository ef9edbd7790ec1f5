"""The package of what all dashboard pages share: navigation, template tags, static files and security headers."""
