"""The package of what all pages share: navigation, template tags, static files, security headers, base classes of admin."""
