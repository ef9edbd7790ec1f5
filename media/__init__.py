"""The media library: upload, inspection, scanning, storage and thumbnails of the files of posts."""
