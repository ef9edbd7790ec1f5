"""The publisher: claims due targets and publishes them step by step through their platform adapters."""
