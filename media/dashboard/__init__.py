"""The media library's pages."""
