"""Dashboard pages of the media library."""
