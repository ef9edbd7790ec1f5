"""The LinkedIn adapter: posts of members and pages, by the versioned REST API."""
