"""The dashboard pages of the media library."""
