"""The publisher: claims due targets and takes them through their platform's steps."""
